"""The candidates side by side, why the others fell, and every limit of the chosen one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.sizing.candidates import MAIN_LIMITS
from kvplan.render.figures import margin_text
from kvplan.render.limits_view import limit_grid
from kvplan.render.report.blocks import Block, Fold, Part, Prose, Table
from kvplan.render.report.words import titled
from kvplan.render.view import Grid
from kvplan.units import format_bytes, format_percent, format_rate

if TYPE_CHECKING:
    from kvplan.render.report.source import Source
    from kvplan.schema.ece import FaultTolerance
    from kvplan.schema.plan import Candidate

_HEADERS = ("Profile", "Nodes", "Code", "Usable", "Usable share", "Reads", *map(titled, MAIN_LIMITS))


def candidates(source: Source) -> Part:
    """Show every candidate with the margins of its main limits."""
    judged = source.plan.candidates
    chosen = source.chosen
    grid = Grid(
        _HEADERS,
        tuple(_row(candidate) for candidate in judged),
        "lrlrrr" + "r" * len(MAIN_LIMITS),
        marked=judged.index(chosen),
    )
    rejected = tuple(
        f"{item.name} rejected: {item.reason}." for item in judged if not item.accepted and not item.chosen
    )
    return Part(
        "candidates",
        "Candidates",
        (
            Table("Candidates; margins are have over need, less 1", grid, mark="chosen"),
            *((Prose(rejected, listed=True),) if rejected else ()),
            *_alternatives(source.plan.profile.fault_tolerance),
            Fold(Table(f"Every limit of {chosen.name} ({len(chosen.limits)})", limit_grid(chosen.limits))),
        ),
    )


def _row(candidate: Candidate) -> tuple[str, ...]:
    """Build the row of one candidate."""
    limits = {limit.name: limit for limit in candidate.limits}
    return (
        candidate.name,
        f"{candidate.nodes:,}",
        candidate.erasure_code,
        format_bytes(candidate.usable_bytes, digits=3),
        format_percent(candidate.usable_fraction),
        format_rate(candidate.read_bytes_per_s),
        *(_margin(limits[name].margin, holds=limits[name].holds) if name in limits else "-" for name in MAIN_LIMITS),
    )


def _margin(margin: float | None, *, holds: bool) -> str:
    """Write a margin with a word where it is broken."""
    return margin_text(margin) + ("" if holds else " (short)")


def _alternatives(tolerance: FaultTolerance) -> tuple[Block, ...]:
    """Name codes and node counts that survive more."""
    if not tolerance.alternatives:
        return ()
    lines = tuple(f"{alternative.text}." for alternative in tolerance.alternatives)
    return (Fold(Prose(lines, listed=True, caption="What would survive more")),)
