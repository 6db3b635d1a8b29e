"""What changed between two Plans."""

from __future__ import annotations

from typing import Any

import pytest
from support import plan_for

from kvplan import Plan
from kvplan.core.diff import Difference, differences


def changes_of(before: Plan, after: Plan) -> dict[str, Difference]:
    return {item.path: item for item in differences(before, after)}


def test_a_plan_does_not_differ_from_itself() -> None:
    assert differences(plan_for(), plan_for()) == ()
    assert differences(plan_for(), Plan.model_validate_json(plan_for().model_dump_json())) == ()


def test_twice_the_gpus() -> None:
    found = changes_of(plan_for(), plan_for(gpus=256))
    gpus = found["request.gpus"]
    assert (gpus.kind, gpus.before, gpus.after, gpus.relative) == ("changed", 128, 256, 1.0)
    assert found["demand.read_bytes_per_s"].relative == pytest.approx(1)
    assert found["buys.hits_per_s_per_gpu"].relative == pytest.approx(-0.5)
    assert "profile.nodes" not in found


def test_elements_are_matched_by_name() -> None:
    # A forced count adds a candidate in the middle; those behind it have not changed.
    found = changes_of(plan_for(), plan_for(nodes=12))
    added = [path for path, item in found.items() if item.kind == "added" and path.startswith("candidates")]
    assert added
    assert not [path for path in found if path.startswith("candidates[large-16]")]


def test_added_and_removed() -> None:
    forward = changes_of(plan_for(), plan_for(survive="2-nodes"))
    backward = changes_of(plan_for(survive="2-nodes"), plan_for())
    path = "candidates[standard-8 (4+2P)].nodes"
    assert (forward[path].kind, forward[path].before, forward[path].after) == ("added", None, 8)
    assert (backward[path].kind, backward[path].before, backward[path].after) == ("removed", 8, None)
    assert forward[path].relative is None
    assert forward.keys() == backward.keys()


def test_warnings_are_matched_by_id() -> None:
    found = changes_of(plan_for(), plan_for(software="current"))
    assert found["warnings[windows-in-full].severity"].kind == "removed"
    assert found["request.hybrid_manager"].relative is None


def test_an_open_point_less() -> None:
    found = changes_of(plan_for(), plan_for(concurrency=7))
    path = "open_points[constants.hbm.concurrency_per_engine]"
    assert found[f"{path}.text"].kind == "removed"
    assert all(item.path.startswith(path) for item in found.values())


def test_repeated_names_are_numbered() -> None:
    reference = plan_for()
    notes = [warning for warning in reference.warnings if warning.id == "fabric-note"]
    assert len(notes) > 1
    fewer = reference.model_copy(update={"warnings": tuple(w for w in reference.warnings if w is not notes[-1])})
    (removed,) = {path.rpartition(".")[0] for path in changes_of(reference, fewer)}
    assert removed == f"warnings[fabric-note#{len(notes)}]"


def test_derivations_are_not_compared() -> None:
    reference = plan_for()
    assert differences(reference, reference.model_copy(update={"derivation": {}})) == ()


def test_another_catalogue_is_a_difference() -> None:
    reference = plan_for()
    lock = reference.catalogue.model_copy(update={"sha256": "0" * 64})
    (found,) = differences(reference, reference.model_copy(update={"catalogue": lock}))
    assert (found.path, found.kind) == ("catalogue.sha256", "changed")


@pytest.mark.parametrize(
    ("before", "after", "relative"),
    [
        (2, 3, 0.5),
        (2.0, 1.0, -0.5),
        (0, 3, None),
        (True, False, None),
        ("a", "b", None),
        (None, 2, None),
        (2, "3", None),
    ],
)
def test_relative_change(before: Any, after: Any, relative: float | None) -> None:
    assert Difference("x", "changed", before, after).relative == relative
