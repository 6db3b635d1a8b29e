"""A number as a tree: value, formula, inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kvplan import InputError, Plan, Request, size
from kvplan.core.explanation import Explanation, explain, number_paths
from kvplan.core.paths import value_at
from kvplan.schema.plan import Derivation

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def plan() -> Plan:
    """Give the reference Plan."""
    return size(Request(model="openai/gpt-oss-120b", context_tokens=130_000, gpus=128))


def nodes(tree: Explanation) -> Iterator[Explanation]:
    """Yield a tree's nodes, the root first."""
    yield tree
    for part in tree.inputs:
        yield from nodes(part)


def only(plan: Plan, field: str) -> Explanation:
    (found,) = explain(plan, field)
    return found


def test_a_number_with_its_inputs(plan: Plan) -> None:
    tree = only(plan, "demand.read_bytes_per_s")
    assert (tree.value, tree.unit) == (plan.demand.read_bytes_per_s, "B/s")
    assert [part.path for part in tree.inputs] == ["request.gpus", "constants.guidance.read_bytes_per_s_per_gpu"]
    gpus, rate = tree.inputs
    assert (gpus.value, gpus.unit) == (128, "count")
    assert (rate.value, rate.unit, rate.confidence) == (1_171_875_000, "B/s", "vendor")
    assert "MD260021" in rate.source


def test_inputs_have_inputs(plan: Plan) -> None:
    paths = [node.path for node in nodes(only(plan, "buys.hits_per_s_per_gpu"))]
    assert paths[0] == "buys.hits_per_s_per_gpu"
    for below in ("buys.hits_per_s", "profile.read_bytes_per_s", "kv.context_loaded_bytes", "request.gpus"):
        assert below in paths


def test_a_section_is_every_number_below_it(plan: Plan) -> None:
    found = explain(plan, "demand")
    assert [tree.path for tree in found] == [
        "demand.read_bytes_per_s",
        "demand.write_bytes_per_s",
        "demand.capacity_bytes",
    ]
    assert {tree.path for tree in explain(plan, "profile.rebuild")} == {
        "profile.rebuild.drive_s",
        "profile.rebuild.node_s",
    }


def test_the_whole_plan(plan: Plan) -> None:
    assert [tree.path for tree in explain(plan, "")] == list(number_paths(plan.model_dump(mode="json")))


@pytest.mark.parametrize("field", ["network.stages[drives].utilisation", "network.stages[0].utilisation"])
def test_elements_by_name_or_index(plan: Plan, field: str) -> None:
    tree = only(plan, field)
    assert tree.path == "network.stages[drives].utilisation"
    assert tree.value == plan.network.stages[0].utilisation


def test_a_named_limit_has_its_own_explanation(plan: Plan) -> None:
    tree = only(plan, "candidates[1].limits[gpus].need")
    assert tree.path == "candidates[standard-8].limits[gpus].need"
    assert [part.path for part in tree.inputs] == ["request.gpus"]


def test_candidates_of_one_name_are_numbered() -> None:
    forced = size(Request(model="openai/gpt-oss-120b", context_tokens=130_000, gpus=128, nodes=12))
    found = {tree.path for tree in explain(forced, "candidates")}
    expected = {f"candidates[{name}].nodes" for name in ("standard-8", "standard-8#2", "large-16")}
    assert expected <= found
    assert only(forced, "candidates[standard-8#2].nodes").value == 12
    assert only(forced, "candidates[2].nodes").value == 12


def test_a_model_group_is_explained_by_its_table(plan: Plan) -> None:
    tree = only(plan, "model.groups[1].window_tokens")
    assert (tree.value, tree.formula) == (128, plan.derivation["model.groups"].formula)


def test_a_constant_by_name(plan: Plan) -> None:
    tree = only(plan, "constants.hbm.overhead_bytes")
    assert (tree.value, tree.unit, tree.confidence) == (6.15e9, "B", "assumed")
    assert tree.inputs == ()


@pytest.mark.parametrize(
    ("field", "close"),
    [
        ("profile.usable_byte", "profile.usable_bytes"),
        ("usable_bytes", "profile.usable_bytes"),
        ("network.stages[drvies].utilisation", "network.stages[drives].utilisation"),
        ("candidates[9].nodes", "candidates[standard-8].nodes"),
        ("zzz", "profile"),
        ("[0]", "profile"),
        ("profile[0]", "profile"),
        ("constants.hbm.nothing", ""),
    ],
)
def test_unknown_fields_name_close_ones(plan: Plan, field: str, close: str) -> None:
    with pytest.raises(InputError) as refused:
        explain(plan, field)
    (problem,) = refused.value.problems
    assert repr(field) in problem.what
    assert close in problem.hint


def test_texts_and_booleans_are_explained_where_there_is_no_number(plan: Plan) -> None:
    assert explain(plan, "request.model")[0].value == plan.request.model
    needed = only(plan, "hbm.needs_shared_tier")
    assert needed.value is True
    assert {part.path for part in needed.inputs} == {"hbm.contexts_that_fit", "request.concurrency"}
    assert only(plan, "profile.name").formula
    texts = [tree.value for tree in explain(plan, "warnings")]
    assert plan.warnings[0].text in texts


def test_an_empty_field_is_refused(plan: Plan) -> None:
    with pytest.raises(InputError) as refused:
        explain(plan, "request.forced")
    assert "is empty" in refused.value.problems[0].what


def test_no_number_is_its_own_ancestor(plan: Plan) -> None:
    circular = {
        "demand.read_bytes_per_s": Derivation(formula="b", unit="B/s", inputs=("demand.write_bytes_per_s",)),
        "demand.write_bytes_per_s": Derivation(formula="a", unit="B/s", inputs=("demand.read_bytes_per_s",)),
    }
    altered = plan.model_copy(update={"derivation": {**plan.derivation, **circular}})
    paths = [node.path for node in nodes(only(altered, "demand.read_bytes_per_s"))]
    assert paths == ["demand.read_bytes_per_s", "demand.write_bytes_per_s"]


def test_a_number_without_an_explanation_still_has_its_value(plan: Plan) -> None:
    bare = plan.model_copy(update={"derivation": {}})
    tree = only(bare, "profile.nodes")
    assert (tree.value, tree.formula, tree.inputs) == (8, "", ())


def test_value_at() -> None:
    data = {"a": [{"name": "x", "b": 1}, {"name": "y", "b": 2}], "c": {"d": 3}}
    assert [value_at(data, path) for path in ("a[y].b", "a[1].b", "c.d")] == [2, 2, 3]
    for path in ("a[z].b", "a[2].b", "a.b", "c[0]", "e", "c.d.e"):
        with pytest.raises(KeyError):
            value_at(data, path)


def test_number_paths_leave_out_what_explains_itself(plan: Plan) -> None:
    paths = list(number_paths(plan.model_dump(mode="json")))
    assert len(paths) == len(set(paths))
    assert not [path for path in paths if path.startswith(("constants", "derivation", "catalogue"))]
    assert list(number_paths({"a": [1, [2.5]], "b": True, "c": None, "d": "1"})) == ["a[0]", "a[1][0]"]
