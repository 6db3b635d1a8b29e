"""Differences between two Plans as lines, data and rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvplan.render.view import Grid, Section, View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.core.diff import Difference

HEADERS = ("change", "field", "before", "after", "relative")
_SIGNS = {"added": "+", "removed": "-", "changed": "~"}


def diff_view(differences: Sequence[Difference], before: str, after: str) -> View:
    """Arrange differences as one section."""
    if not differences:
        return (Section(f"{before} and {after}", ("no difference",)),)
    rows = tuple(diff_row(difference) for difference in differences)
    grid = Grid(("", "Field", "Before", "After", "Change"), rows, "lllll")
    counts = {kind: sum(item.kind == kind for item in differences) for kind in _SIGNS}
    summary = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    return (Section(f"{before} -> {after}", grid=grid, below=(summary,)),)


def diff_row(difference: Difference) -> tuple[str, ...]:
    """Return one difference as texts: sign, field, before, after, relative change."""
    relative = difference.relative
    return (
        _SIGNS[difference.kind],
        difference.path,
        _shown(difference.before),
        _shown(difference.after),
        "" if relative is None else f"{100 * relative:+.1f} %",
    )


def diff_data(differences: Sequence[Difference], before: str, after: str) -> dict[str, Any]:
    """Return differences as plain data."""
    return {
        "format_version": "1.0",
        "before": before,
        "after": after,
        "differences": [
            {
                "field": item.path,
                "change": item.kind,
                "before": item.before,
                "after": item.after,
                "relative": item.relative,
            }
            for item in differences
        ],
    }


def _shown(value: Any) -> str:
    """Write one side of a difference."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.6g}" if isinstance(value, float) else str(value)
