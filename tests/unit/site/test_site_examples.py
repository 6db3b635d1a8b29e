"""The example Sites are what `kvplan init site` begins, with every value filled in."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from conftest import REGENERATE
from example_sites import EXAMPLES, REQUESTS, example_plan, example_text, plan_text

from kvplan.api import deployment
from kvplan.inputs.files import read_yaml
from kvplan.inputs.validation import validate
from kvplan.schema.site.site import Site
from kvplan.site.initial.schema import site_schema_text

if TYPE_CHECKING:
    from collections.abc import Callable

WRITERS: dict[str, Callable[[str], str]] = {
    "plan.json": plan_text,
    "site.yaml": example_text,
    "site.schema.json": lambda _: site_schema_text(),
}


@pytest.mark.parametrize("name", REQUESTS)
@pytest.mark.parametrize("file", WRITERS)
def test_example_is_as_it_is_written(name: str, file: str) -> None:
    path, text = EXAMPLES / name / file, WRITERS[file](name)
    if os.environ.get(REGENERATE) == "1":
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text, "if meant, `make golden` and review"


@pytest.mark.parametrize(
    ("name", "counts"), [("reference", (8, 4, 1, 3, 1)), ("compact", (4, 2, 1, 3, 1))], ids=["reference", "compact"]
)
def test_example_has_every_machine(name: str, counts: tuple[int, ...]) -> None:
    site = validate(Site, read_yaml(EXAMPLES / name / "site.yaml"))
    built = deployment(example_plan(name), site)
    roles = (len(built.storage), len(built.clients), len(built.control), len(built.fabric_switches))
    assert (*roles, len(built.switches) - len(built.fabric_switches)) == counts
    assert len(site.servers) == len(built.servers)


def test_examples_speak_both_dialects() -> None:
    versions = {
        name: {switch.cumulus for switch in validate(Site, read_yaml(EXAMPLES / name / "site.yaml")).switches}
        for name in REQUESTS
    }
    assert versions == {"reference": {"5.15.0"}, "compact": {"5.11.1"}}
