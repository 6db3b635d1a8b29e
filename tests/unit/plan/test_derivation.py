"""Explanations read off the annotations of a record."""

from __future__ import annotations

from typing import Annotated

import pytest

from kvplan.core.derivation import derivation_of, pattern_of, static_derivations
from kvplan.schema.base import Explained, Record
from kvplan.schema.plan import Derivation, Plan


class Part(Record):
    """A part with one explained and one plain number."""

    weight: Annotated[float, Explained("kg", "scales", ("whole.count",), "a source", "measured")]
    plain: int


class Whole(Record):
    """Parts in every position that a Plan uses."""

    count: Annotated[int, Explained("count", "counted")]
    part: Part
    parts: tuple[Part, ...]
    maybe: Part | None
    name: str
    table: dict[str, int]


def entry(formula: str) -> Derivation:
    return Derivation(formula=formula, unit="1")


def test_fields_are_found_wherever_they_stand() -> None:
    assert static_derivations(Whole).keys() == {"count", "part.weight", "parts[].weight", "maybe.weight"}


def test_a_prefix_goes_in_front() -> None:
    assert static_derivations(Part, "somewhere.").keys() == {"somewhere.weight"}


def test_everything_in_the_annotation_is_kept() -> None:
    assert static_derivations(Part)["weight"] == Derivation(
        formula="scales", unit="kg", inputs=("whole.count",), source="a source", confidence="measured"
    )


def test_the_plan_explains_its_lists_and_nested_records() -> None:
    table = static_derivations(Plan)
    for path in (
        "profile.usable_bytes",
        "candidates[].limits[].need",
        "network.stages[].utilisation",
        "network.degraded.leaf.stages[].load_bytes_per_s",
        "profile.fault_tolerance.alternatives[].nodes",
    ):
        assert path in table


def test_every_static_explanation_has_formula_and_unit() -> None:
    assert [path for path, item in static_derivations(Plan).items() if not (item.formula and item.unit)] == []


@pytest.mark.parametrize(
    ("path", "pattern"),
    [("a.b", "a.b"), ("a[0].b", "a[].b"), ("a[0].b[x y].c", "a[].b[].c"), ("a[1]", "a[]")],
)
def test_patterns(path: str, pattern: str) -> None:
    assert pattern_of(path) == pattern


@pytest.mark.parametrize(
    ("path", "formula"),
    [
        ("tiers[0].limits[gpus].need", "own"),  # the very path
        ("tiers[1].limits[gpus].need", "named"),  # the limit by name, in any tier
        ("tiers[1].limits[read].need", "any"),  # any limit
        ("tiers[1].limits[read].have", "table"),  # the table it stands in
        ("tiers[1].nodes", "table"),
        ("other.nodes", None),
    ],
)
def test_the_most_specific_explanation_wins(path: str, formula: str | None) -> None:
    table = {
        "tiers[0].limits[gpus].need": entry("own"),
        "tiers[].limits[gpus].need": entry("named"),
        "tiers[].limits[].need": entry("any"),
        "tiers": entry("table"),
    }
    found = derivation_of(path, table)
    assert (found.formula if found else None) == formula
