"""Limits as a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.render.figures import margin_text
from kvplan.render.view import Grid
from kvplan.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvplan.schema.ece import Limit


def limit_grid(limits: Iterable[Limit]) -> Grid:
    """Lay limits out with need, have, margin and a word that reads without colour."""
    return Grid(("Limit", "Need", "Have", "Margin", ""), tuple(_row(limit) for limit in limits), "lrrrl")


def need_and_have(limit: Limit) -> tuple[str, str]:
    """Write what a limit needs, or takes, and what there is, or may be at most."""
    need, have = format_quantity(limit.need, limit.unit), format_quantity(limit.have, limit.unit)
    return need, f"at most {have}" if limit.bound == "most" else have


def _row(limit: Limit) -> tuple[str, ...]:
    """Build the row of one limit."""
    state = "holds" if limit.holds else ("warns" if limit.severity == "warning" else "broken")
    need, have = need_and_have(limit)
    return limit.title, need, have, margin_text(limit.margin), state


def ample_limits(limits: Iterable[Limit]) -> tuple[tuple[Limit, ...], str]:
    """Part limits into those worth a row and a sentence that names the rest with their margins.

    A row is worth what does not hold or is short of twice the need; what is met exactly, as a block size that is
    allowed, is not.
    """
    judged = tuple(limits)
    rows = tuple(limit for limit in judged if not limit.holds or 0 < (limit.margin or 0) < 1)
    rest = ", ".join(_short(limit) for limit in judged if limit not in rows)
    return rows, f"also hold: {rest}" if rest else ""


def _short(limit: Limit) -> str:
    """Name a limit that holds, with its margin where there is one."""
    return limit.title if limit.margin is None else f"{limit.title} {margin_text(limit.margin)}"
