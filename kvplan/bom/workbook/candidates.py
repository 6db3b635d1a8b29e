"""The candidates: every tier that was judged, with the margin of each limit and why it was chosen or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.bom.workbook.cells import Column, Styled, widths_of
from kvplan.core.sizing.candidates import MAIN_LIMITS
from kvplan.render.limits_view import need_and_have
from kvplan.units import GB, TB

if TYPE_CHECKING:
    from kvplan.bom.workbook.cells import Cell
    from kvplan.bom.workbook.context import Context
    from kvplan.schema.ece import Limit
    from kvplan.schema.plan import Candidate

_TITLES = {"gpus": "GPUs", "model_parameters": "Model", "read_bandwidth": "Reads", "capacity": "Space"}
_JUDGED = (
    Column("Tier", width=16),
    Column("Nodes", ("count",), 24),
    Column("Code", ("text",), 16),
    Column("Usable [TB]", ("one",), 16),
    Column("Usable of raw [%]", ("percent1",), 11),
    Column("Reads [GB/s]", ("one",), 11),
    *(Column(f"{_TITLES.get(name, name)} [margin]", ("margin",), 13) for name in MAIN_LIMITS),
    Column("Verdict", width=62),
)
_LIMITS = (
    Column("Tier"),
    Column("Limit"),
    Column("Need", ("text",)),
    Column("Have", ("text",)),
    Column("Margin [%]", ("margin",)),
    Column("Judged", ("text",)),
)


def candidates_sheet(context: Context) -> None:
    """Write the sheet."""
    sheet = context.sheet("Candidates", widths_of(_JUDGED))
    sheet.title("Candidates", context.plan.reason)
    sheet.freeze(1)
    sheet.caption("Tiers that were judged; a margin is have over need, less one")
    sheet.table(_JUDGED, (_row(candidate) for candidate in context.plan.candidates))
    sheet.caption("Every limit of the chosen tier, and what the others do not hold")
    sheet.repeat(sheet.wide_head(_LIMITS, "Rule and source"))
    for candidate in sorted(context.plan.candidates, key=lambda candidate: not candidate.chosen):
        for limit in candidate.limits:
            if candidate.chosen or not limit.holds:
                sheet.wide_line(_limit(candidate, limit), len(_LIMITS))
    sheet.finish(context.bom.plan_sha256)


def _row(candidate: Candidate) -> tuple[Cell, ...]:
    """Give the row of one candidate, the chosen one marked by a word and a colour."""
    limits = {limit.name: limit for limit in candidate.limits}
    verdict = "chosen" if candidate.chosen else ("fits" if candidate.accepted else "rejected")
    values: tuple[Cell, ...] = (
        candidate.name,
        candidate.nodes,
        candidate.erasure_code,
        candidate.usable_bytes / TB,
        candidate.usable_fraction,
        candidate.read_bytes_per_s / GB,
        *(_margin(limits.get(name)) for name in MAIN_LIMITS),
        f"{verdict}: {candidate.reason}",
    )
    if not candidate.chosen:
        return values
    return tuple(value if isinstance(value, Styled) else Styled(value, ("chosen",)) for value in values)


def _margin(limit: Limit | None) -> Cell:
    """Give the margin of a limit, coloured where it is broken."""
    if limit is None:
        return None
    return limit.margin if limit.holds else Styled(limit.margin, ("missing",))


def _limit(candidate: Candidate, limit: Limit) -> tuple[Cell, ...]:
    """Give the row of one limit."""
    judged = "holds" if limit.holds else ("warns" if limit.severity == "warning" else "broken")
    rule = "; ".join(filter(None, (limit.text, limit.source)))
    return (
        candidate.name,
        limit.title,
        *need_and_have(limit),
        Styled(limit.margin, ("margin",)),
        Styled(judged, () if limit.holds else ("missing",)),
        Styled(rule, ("muted", "small")),
    )
