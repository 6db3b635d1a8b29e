"""Open points: what was assumed, what has no part number, what the rules found and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.bom.notices import PRICE_MISSING
from kvplan.bom.open_points import WITHOUT_PART_NUMBERS
from kvplan.bom.workbook.cells import Column, Styled, widths_of
from kvplan.bom.workbook.totals import missing_severity, missing_text
from kvplan.schema.base import gravest_first
from kvplan.schema.hardware import UNSURE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kvplan.bom.workbook.cells import Cell
    from kvplan.bom.workbook.context import Context
    from kvplan.schema.bom import BomLine, LinePartNumberKnown

_COLUMNS = (
    Column("Kind", ("text",), 18),
    Column("Where", width=40),
    Column("What is open", width=66),
    Column("What to do, or source", ("wrap", "muted"), 46),
    Column("Answer", width=26),
)
_KNOWN: Mapping[LinePartNumberKnown, str] = {
    "listing": "is from a public listing",
    "pattern": "follows the pattern of its family",
}
"""What is said of a part number that its maker has not confirmed."""
_BLANK = Styled(None, ("input",))


def points_sheet(context: Context) -> None:
    """Write the sheet."""
    sheet = context.sheet("Open points", widths_of(_COLUMNS))
    sheet.title("Open points", "To be confirmed before money is spent. The last column is yours to fill in.")
    body = sheet.table(_COLUMNS, ((*row, _BLANK) for row in _rows(context)), filtered=True)
    sheet.freeze(body.start)
    sheet.finish(context.bom.plan_sha256)


def _rows(context: Context) -> Iterator[tuple[Cell, ...]]:
    """List findings with remedies, assumed values of the plan, and lines that cannot be ordered as they stand."""
    bom = context.bom
    for finding in gravest_first((*context.design.findings, *bom.findings)):
        where = finding.where or finding.id
        if finding.id == PRICE_MISSING:
            yield missing_severity(bom, finding.severity), where, missing_text(bom), finding.remedy
        elif finding.severity != "info" or finding.remedy:
            yield finding.severity, where, finding.text, finding.remedy
    for point in context.plan.open_points:
        yield "assumed value", point.id, point.text, point.source
    yield from _parts(context)


def _parts(context: Context) -> Iterator[tuple[Cell, ...]]:
    """List parts whose number nobody confirmed and those that are assumed, each once with all its lines."""
    parts: dict[str, list[BomLine]] = {}
    for line in context.bom.lines:
        parts.setdefault(line.key, []).append(line)
    for lines in parts.values():
        first = lines[0]
        if first.priced and not first.part_number and first.group not in WITHOUT_PART_NUMBERS:
            yield "no part number", _where(lines), first.description, first.note or "ask the vendor for it"
        elif first.priced and first.part_number_known in UNSURE:
            text = f"{first.description}: {first.part_number} {_KNOWN[first.part_number_known]}"
            yield "part number", _where(lines), text, "; ".join(filter(None, ("let the vendor confirm it", first.note)))
        elif first.confidence == "assumed":
            yield "assumed part", _where(lines), first.description, "; ".join(filter(None, (first.note, first.source)))


def _where(lines: Sequence[BomLine]) -> str:
    """Name the lines of a part."""
    return f"line{'s' if len(lines) > 1 else ''} {', '.join(line.line for line in lines)}"
