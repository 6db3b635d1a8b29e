"""List elements of a Plan are addressed by name or by place, also where several are equal."""

from __future__ import annotations

import pytest

from kvplan import InputError, Plan, Request, size
from kvplan.core.explanation import explain


@pytest.fixture(scope="module")
def plan() -> Plan:
    sized = size(Request(model="gpt-oss-120b", context_tokens=130_000, gpus=128))
    twice = sized.model.model_copy(update={"groups": (sized.model.groups[0], sized.model.groups[0])})
    return sized.model_copy(update={"model": twice})


@pytest.mark.parametrize(
    ("field", "path"),
    [
        ("model.groups[0].layers", "model.groups[0].layers"),
        ("model.groups[1].layers", "model.groups[1].layers"),
        ("network.stages[0].count", "network.stages[drives].count"),
        ("network.stages[drives].count", "network.stages[drives].count"),
    ],
)
def test_an_element_is_found_by_name_and_by_place(plan: Plan, field: str, path: str) -> None:
    assert [found.path for found in explain(plan, field)] == [path]


@pytest.mark.parametrize(
    "field", ["model.groups[2]", "model.groups[x]", "model.groups[²]", "model[0]", "reason.x", "[]"]
)
def test_what_is_not_there_is_refused(plan: Plan, field: str) -> None:
    with pytest.raises(InputError):
        explain(plan, field)
