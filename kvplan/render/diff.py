"""Differences between two Plans as lines, data and rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kvplan.core.diff import Difference
from kvplan.render.figures import value_text
from kvplan.render.view import Grid, Section, View

if TYPE_CHECKING:
    from collections.abc import Sequence

HEADERS = ("change", "field", "before", "after", "relative")
_ELEMENT = re.compile(r"(?P<element>.*\])\.(?:name|id|erasure_code)")
_DETAIL = re.compile(r"network\.(?:degraded\.\w+\.)?stages\[.*|candidates\[.*\]\.limits\[.*|.*\.text")
_SIGNS = {"added": "+", "removed": "-", "changed": "~"}


def diff_view(differences: Sequence[Difference], before: str, after: str) -> View:
    """Arrange differences as one section: what decides, not what follows from it; data and rows hold every field."""
    if not differences:
        return (Section(f"{before} and {after}", ("no difference",)),)
    rows = tuple(diff_row(difference) for difference in _whole_elements(differences))
    grid = Grid(("", "Field", "Before", "After", "Change"), rows, "lllll") if rows else None
    counts = {kind: sum(item.kind == kind for item in differences) for kind in _SIGNS}
    summary = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    every = f"{summary}; every field, those of stages and limits too: --format json or csv"
    return (Section(f"{before} -> {after}", grid=grid, below=(every,)),)


def diff_row(difference: Difference) -> tuple[str, ...]:
    """Return one difference as texts: sign, field, before, after, relative change."""
    relative = difference.relative
    return (
        _SIGNS[difference.kind],
        difference.path,
        value_text(difference.before),
        value_text(difference.after),
        "" if relative is None else f"{100 * relative:+.1f} %",
    )


def diff_cells(difference: Difference) -> tuple[str, ...]:
    """Return one difference for a spreadsheet: the change as a word, for a sign would start a formula."""
    return (difference.kind, *diff_row(difference)[1:])


def diff_data(differences: Sequence[Difference]) -> list[dict[str, Any]]:
    """Return differences as plain data."""
    return [
        {
            "field": item.path,
            "change": item.kind,
            "before": item.before,
            "after": item.after,
            "relative": item.relative,
        }
        for item in differences
    ]


def _whole_elements(differences: Sequence[Difference]) -> list[Difference]:
    """Leave details out, and put a list element that came or went on one line instead of one a field."""
    named = ((_ELEMENT.fullmatch(item.path), item) for item in differences if item.kind != "changed")
    elements = [Difference(match["element"], item.kind, None, None) for match, item in named if match]
    lines: dict[str, Difference] = {}
    for item in differences:
        around = next((element for element in elements if item.path.startswith(f"{element.path}.")), item)
        if not _DETAIL.fullmatch(around.path):
            lines[around.path] = around
    return list(lines.values())
