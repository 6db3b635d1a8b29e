"""How the numbers came about: formula and source of each, and the constants behind them."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from kvplan.core.certainty import Certainty
from kvplan.core.derivation import derivation_of
from kvplan.core.explanation import numbers
from kvplan.core.paths import section_of
from kvplan.render.figures import significant
from kvplan.render.report.blocks import Fold, Part, Prose, Table
from kvplan.render.view import Grid
from kvplan.units import counted, format_bytes, format_duration, format_percent, format_rate

if TYPE_CHECKING:
    from kvplan.render.report.source import Source

_TITLES = {
    "request": "Request",
    "model": "Model",
    "kv": "KV cache",
    "hbm": "GPU memory",
    "demand": "Demand",
    "profile": "Tier",
    "buys": "What it buys",
    "network": "Network budget",
}
_MARKS = (
    "Each number is marked by how it is known: measured by whoever published it, taken from a vendor's data sheet or "
    "guidance, derived by the formula given here, or assumed and thus an open point."
)
_FURTHER = "Inputs of inputs, and the numbers of every candidate and stage: `kvplan explain plan.json`."


def formulas(source: Source) -> Part:
    """Fold formulas by section of the Plan, then the constants."""
    data = source.plan.model_dump(mode="json")
    # Lists repeat one formula an element; `kvplan explain` has them all.
    found = [(path, value) for path, value in numbers(data) if section_of(path) in _TITLES and "[" not in path]
    folds = [
        _fold(source, section, list(group)) for section, group in groupby(found, key=lambda item: section_of(item[0]))
    ]
    return Part(
        "formulas", "Formulas and sources", (Prose((_MARKS, _FURTHER)), *folds, _constants(source)), short="Formulas"
    )


def _fold(source: Source, section: str, found: list[tuple[str, int | float]]) -> Fold:
    """Fold the numbers of one section."""
    rows = tuple(_row(source, path, value) for path, value in found)
    known = tuple(source.known(path) for path, _ in found)
    grid = Grid(("Number", "Value", "Unit", "Formula and source"), rows, "lrll")
    return Fold(Table(f"{_TITLES[section]}: {counted(len(rows), 'number')}", grid, known=known))


def _row(source: Source, path: str, value: float) -> tuple[str, ...]:
    """Build the row of one number."""
    entry = derivation_of(path, source.plan.derivation)
    if entry is None:
        return path, significant(value, 6), "", ""
    formula = f"{entry.formula}; {entry.source}" if entry.source else entry.formula
    return path, _written(value, entry.unit), entry.unit, formula


def _constants(source: Source) -> Fold:
    """Fold the constants, each with its source."""
    constants = source.plan.constants
    rows = tuple(
        (name, _written(row.value, row.unit), row.unit, f"{row.source}; {row.note}" if row.note else row.source)
        for name, row in constants.items()
    )
    known = tuple(Certainty(row.confidence) for row in constants.values())
    return Fold(
        Table(f"Constants: {len(rows)}", Grid(("Constant", "Value", "Unit", "Source"), rows, "lrll"), known=known)
    )


def _written(value: float, unit: str) -> str:
    """Write a value in a unit as people read it."""
    if unit == "B":
        return format_bytes(value)
    if unit == "B/s":
        return format_rate(value)
    if unit == "ratio":
        return format_percent(value, 2)
    if unit == "s":
        return format_duration(value)
    return f"{value:,.0f}" if value % 1 == 0 else significant(value, 4)
