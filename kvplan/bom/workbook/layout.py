"""Where each line of the bill of materials stands on its sheet, so that every other sheet can refer to it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from kvplan.bom import headings
from kvplan.bom.workbook.cells import Column, Formula, TableRef

if TYPE_CHECKING:
    from datetime import date
    from decimal import Decimal

    from kvplan.schema.bom import Bom, BomLine
    from kvplan.schema.kit import GroupId

SHEET = "BOM"
HEADER_ROW = 3
Key = Literal[
    "line", "vendor", "part", "description", "per", "quantity", "unit", "list", "own", "discount", "net", "extended",
    "counted", "term", "lead", "valid", "note", "group", "key", "parent", "basis", "price_book", "price_date",
    "source", "confidence",
]  # fmt: skip
PRINTED = 16
"""So many columns are printed; those to the right of them say where a line comes from."""


def columns(currency: str) -> dict[Key, Column]:
    """Return the columns of the bill of materials, in order."""
    further = ("text", "muted")
    return {
        "line": Column("Line", ("text",), 7),
        "vendor": Column("Vendor", width=12),
        "part": Column(headings.PART_NUMBER, width=21),
        "description": Column("Description", width=54),
        "per": Column("Per parent", ("count",), 8),
        "quantity": Column("Quantity", ("count",), 9),
        "unit": Column("Unit", ("text",), 8),
        "list": Column(headings.list_heading(currency), ("price",), 14),
        "own": Column(headings.OWN_DISCOUNT, ("percent",), 10),
        "discount": Column(headings.DISCOUNT, ("percent",), 10),
        "net": Column(f"Net [{currency}]", ("money",), 14),
        "extended": Column(f"Extended [{currency}]", ("money",), 16),
        "counted": Column("In total", ("text", "muted"), 9),
        "term": Column(headings.TERM, ("count",), 9),
        "lead": Column(headings.LEAD_TIME, ("count",), 8),
        "valid": Column(headings.VALID_UNTIL, ("date",), 11),
        "note": Column("Note", further, 70),
        "group": Column("Group", further, 24),
        "key": Column(headings.KEY, further, 26),
        "parent": Column("Parent", further, 8),
        "basis": Column("Quantity in the plan", further, 34),
        "price_book": Column(headings.PRICE_BOOK, further, 24),
        "price_date": Column(headings.PRICE_DATE, ("date", "muted"), 11),
        "source": Column("Source", further, 44),
        "confidence": Column("Confidence", further, 11),
    }


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive lines of one group, and the row of their heading."""

    group: GroupId
    heading: int
    lines: tuple[BomLine, ...]


class Layout:
    """Rows of all lines, counted from 0, and references to their cells.

    A part may stand in several lines, as a drive does that is kept as a spare too; the first one leads in its price.
    """

    def __init__(self, bom: Bom) -> None:
        self._table = TableRef(columns(bom.currency))
        self.leaders: dict[str, BomLine] = {}
        for line in bom.lines:
            if line.priced:
                self.leaders.setdefault(line.key, line)
        self.runs: list[Run] = []
        self.rows: dict[str, int] = {}
        row = HEADER_ROW + 1
        for group, run in groupby(bom.lines, key=lambda line: line.group):
            lines = tuple(run)
            self.runs.append(Run(group, row, lines))
            self.rows |= {line.line: row + 1 + index for index, line in enumerate(lines)}
            row += 1 + len(lines)
        self.body = range(HEADER_ROW + 1, row)

    def here(self, line: str, key: Key) -> str:
        """Refer to a cell of a line, on the sheet itself."""
        return self._table.cell(key, self.rows[line])

    def cell(self, line: BomLine, key: Key) -> str:
        """Refer to a cell of a line from another sheet."""
        return f"{SHEET}!{self.here(line.line, key)}"

    def rows_of(self, run: Run, key: Key) -> str:
        """Refer to a column of one run of lines."""
        return self._table.rows(key, range(run.heading + 1, run.heading + 1 + len(run.lines)))

    def column(self, key: Key) -> str:
        """Refer to a whole column of lines."""
        return self._table.fixed(key, self.body)

    def copy(self, line: BomLine, key: Key, value: Decimal | date | str | None, blank: str = "") -> Formula:
        """Repeat a cell of a line on another sheet, or say that it is blank."""
        cell = self.cell(line, key)
        return Formula(f'=IF({cell}="","{blank}",{cell})', blank if value in {None, ""} else value)
