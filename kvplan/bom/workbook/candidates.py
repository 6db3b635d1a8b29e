"""The candidates: every tier that was judged, with the margin of each limit and why it was chosen or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.bom.workbook.sheet import Column, Styled
from kvplan.core.sizing.candidates import MAIN_LIMITS
from kvplan.units import GB, TB, format_quantity

if TYPE_CHECKING:
    from kvplan.bom.workbook.quote import Quote
    from kvplan.bom.workbook.sheet import Cell
    from kvplan.schema.ece import Limit
    from kvplan.schema.plan import Candidate

_TITLES = {"gpus": "GPUs", "model_parameters": "Model", "read_bandwidth": "Reads", "capacity": "Space"}
_JUDGED = (
    Column("Tier", 16),
    Column("Nodes", 24, ("count",)),
    Column("Code", 16, ("text",)),
    Column("Usable [TB]", 16, ("one",)),
    Column("Usable of raw [%]", 11, ("percent1",)),
    Column("Reads [GB/s]", 11, ("one",)),
    *(Column(f"{_TITLES.get(name, name)} [margin]", 13, ("margin",)) for name in MAIN_LIMITS),
    Column("Verdict", 62),
)
_LIMITS = (
    Column("Tier", 16),
    Column("Limit", 24),
    Column("Need", 16, ("text",)),
    Column("Have", 16, ("text",)),
    Column("Margin [%]", 11, ("margin",)),
    Column("Judged", 11, ("text",)),
)


def candidates_sheet(quote: Quote) -> None:
    """Write the sheet."""
    sheet = quote.sheet("Candidates", [column.width for column in _JUDGED])
    sheet.title("Candidates", quote.plan.reason)
    sheet.freeze(1)
    sheet.caption("Tiers that were judged; a margin is have over need, less one")
    sheet.table(_JUDGED, (_row(candidate) for candidate in quote.plan.candidates))
    sheet.caption("Every limit of the chosen tier, and what the others do not hold")
    sheet.repeat(sheet.wide_head(_LIMITS, "Rule and source"))
    for candidate in sorted(quote.plan.candidates, key=lambda candidate: not candidate.chosen):
        for limit in candidate.limits:
            if candidate.chosen or not limit.holds:
                sheet.wide_line(_limit(candidate, limit), len(_LIMITS))
    sheet.finish(quote.bom.plan_sha256)


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
        format_quantity(limit.need, limit.unit),
        format_quantity(limit.have, limit.unit),
        Styled(limit.margin, ("margin",)),
        Styled(judged, () if limit.holds else ("missing",)),
        Styled(rule, ("muted", "small")),
    )
