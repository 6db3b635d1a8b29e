"""Where each line of the bill of materials stands on its sheet, so that every other sheet can refer to it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from xlsxwriter.utility import xl_col_to_name

from kvplan.bom.workbook.sheet import Column, Formula

if TYPE_CHECKING:
    from decimal import Decimal

    from kvplan.schema.bom import Bom, BomLine
    from kvplan.schema.kit import GroupId

SHEET = "BOM"
HEADER_ROW = 3
Key = Literal[
    "line", "vendor", "part", "description", "per", "quantity", "unit", "list", "discount", "net", "extended",
    "counted", "term", "lead", "valid", "note", "group", "key", "parent", "basis", "price_source", "price_date",
    "source", "confidence",
]  # fmt: skip
PRINTED = 15
"""So many columns are printed; those to the right of them say where a line comes from."""


def columns(currency: str) -> dict[Key, Column]:
    """Return the columns of the bill of materials, in order."""
    return {
        "line": Column("Line", 7, ("text",)),
        "vendor": Column("Vendor", 12),
        "part": Column("Part number", 21),
        "description": Column("Description", 48),
        "per": Column("Per parent", 8, ("count",)),
        "quantity": Column("Quantity", 9, ("count",)),
        "unit": Column("Unit", 8, ("text",)),
        "list": Column(f"List [{currency}]", 14, ("amount",)),
        "discount": Column("Discount [%]", 9, ("percent",)),
        "net": Column(f"Net [{currency}]", 14, ("money",)),
        "extended": Column(f"Extended [{currency}]", 16, ("money",)),
        "counted": Column("In total", 9, ("text", "muted")),
        "term": Column("Term [months]", 8, ("count",)),
        "lead": Column("Lead time [days]", 8, ("count",)),
        "valid": Column("Price valid until", 11, ("date",)),
        "note": Column("Note", 70, ("text", "muted")),
        "group": Column("Group", 24, ("text", "muted")),
        "key": Column("Key", 26, ("text", "muted")),
        "parent": Column("Parent", 8, ("text", "muted")),
        "basis": Column("Quantity from", 34, ("text", "muted")),
        "price_source": Column("Price book", 20, ("text", "muted")),
        "price_date": Column("Price date", 11, ("date", "muted")),
        "source": Column("Source", 44, ("text", "muted")),
        "confidence": Column("Confidence", 11, ("text", "muted")),
    }


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive lines of one group under its heading."""

    group: GroupId
    heading: int
    lines: tuple[BomLine, ...]


class Layout:
    """Rows of all lines, counted from 0, and references to their cells.

    A part may stand in several lines, as a drive does that is kept as a spare too; the first one leads in its price.
    """

    def __init__(self, bom: Bom) -> None:
        self._letters = {key: xl_col_to_name(index) for index, key in enumerate(columns(bom.currency))}
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
        self.end = row

    def here(self, line: str, key: Key) -> str:
        """Refer to a cell of a line, on the sheet itself."""
        return f"{self._letters[key]}{self.rows[line] + 1}"

    def cell(self, line: BomLine, key: Key) -> str:
        """Refer to a cell of a line from another sheet."""
        return f"{SHEET}!${self._letters[key]}${self.rows[line.line] + 1}"

    def rows_of(self, run: Run, key: Key) -> str:
        """Refer to a column of one run of lines."""
        letter = self._letters[key]
        return f"{letter}{run.heading + 2}:{letter}{run.heading + 1 + len(run.lines)}"

    def column(self, key: Key) -> str:
        """Refer to a whole column of lines from another sheet."""
        letter = self._letters[key]
        return f"{SHEET}!${letter}${HEADER_ROW + 2}:${letter}${self.end}"

    def copy(self, line: BomLine, key: Key, value: Decimal | str | None) -> Formula:
        """Repeat a cell of a line on another sheet; what is blank stays blank."""
        cell = self.cell(line, key)
        return Formula(f'=IF({cell}="","",{cell})', "" if value is None else value)
