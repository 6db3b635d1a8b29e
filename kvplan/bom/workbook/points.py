"""Open points: what was assumed, what has no part number, what the rules found and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.bom.workbook.sheet import Column, Styled
from kvplan.bom.workbook.styles import GRAVITY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.bom.workbook.quote import Quote
    from kvplan.bom.workbook.sheet import Cell
    from kvplan.schema.bom import BomLine

_COLUMNS = (
    Column("Kind", 18, ("text",)),
    Column("Where", 40),
    Column("What is open", 66),
    Column("What to do, or source", 46, ("wrap", "muted")),
    Column("Answer", 26, ("wrap",)),
)
_BLANK = Styled(None, ("input",))


def points_sheet(quote: Quote) -> None:
    """Write the sheet."""
    sheet = quote.sheet("Open points", [column.width for column in _COLUMNS])
    sheet.title("Open points", "To be confirmed before money is spent. The last column is yours to fill in.")
    body = sheet.table(_COLUMNS, ((*row, _BLANK) for row in _rows(quote)), filtered=True)
    sheet.freeze(body.start)
    sheet.finish(quote.bom.plan_sha256)


def _rows(quote: Quote) -> Iterator[tuple[Cell, ...]]:
    """List findings with remedies, assumed values of the plan, and lines that cannot be ordered as they stand."""
    found = (*quote.design.findings, *quote.bom.findings)
    for finding in sorted(found, key=lambda finding: GRAVITY[finding.severity]):
        if finding.severity != "info" or finding.remedy:
            yield finding.severity, finding.where or finding.id, finding.text, finding.remedy
    for point in quote.plan.open_points:
        yield "assumed value", point.id, point.text, point.source
    yield from _parts(quote)


def _parts(quote: Quote) -> Iterator[tuple[Cell, ...]]:
    """List parts without a part number and those that are assumed, each once with all its lines."""
    parts: dict[str, list[BomLine]] = {}
    for line in quote.bom.lines:
        parts.setdefault(line.key, []).append(line)
    for lines in parts.values():
        first = lines[0]
        where = f"line{'s' if len(lines) > 1 else ''} {', '.join(line.line for line in lines)}"
        if first.priced and not first.part_number:
            yield "no part number", where, first.description, first.note or "ask the vendor for it"
        elif first.confidence == "assumed":
            yield "assumed part", where, first.description, "; ".join(filter(None, (first.note, first.source)))
