"""One worksheet, filled from the top: title, tables, notes, print set-up and protection alike on all of them."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from kvplan.bom.workbook.cells import Formula, Styled
from kvplan.bom.workbook.fitting import lines_needed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from xlsxwriter import Workbook
    from xlsxwriter.format import Format
    from xlsxwriter.worksheet import Worksheet

    from kvplan.bom.workbook.cells import Cell, Column, Plain
    from kvplan.bom.workbook.styles import Styles

A4 = 9
_POINTS_PER_LINE = 13.5
_INSET, _DEEP = 1.5, 3.5
"""What an indent takes of a column's width."""
_NUMERIC = frozenset({"count", "one", "any", "percent", "percent1", "margin", "money", "price"})
_DAY_0 = date(1899, 12, 30)
"""The day from which spreadsheet programs count."""
_ALLOWED = ("autofilter", "sort", "format_columns", "format_rows")


SHARE: dict[str, Any] = {
    "validate": "decimal", "criteria": "between", "minimum": 0, "maximum": 1,
    "error_title": "Share", "error_message": "A share is between 0 % and 100 %.",
}  # fmt: skip
"""What may be typed into a cell that holds a discount or a rate."""


class Sheet:
    """A worksheet and the next free row on it."""

    def __init__(
        self, book: Workbook, styles: Styles, name: str, widths: Sequence[float], printed: int | None = None
    ) -> None:
        self.paper: Worksheet = book.add_worksheet(name)
        self.styles = styles
        self.name = name
        self.widths = tuple(widths)
        self.printed = printed or len(self.widths)
        self.row = 0
        self.breaks: list[int] = []
        self._heights: dict[int, float] = {}
        for column, width in enumerate(self.widths):
            self.paper.set_column(column, column, width)

    @property
    def last(self) -> int:
        """The last column that is printed."""
        return self.printed - 1

    def put(self, row: int, column: int, value: Plain, *style: str) -> None:
        """Write one cell; text stays text whatever it begins with."""
        look = self.styles(*style)
        if isinstance(value, Formula):
            self._put_formula(row, column, value, look)
        elif value is None or value == "":
            self.paper.write_blank(row, column, None, look)
        elif isinstance(value, str):
            self.paper.write_string(row, column, value, look)
        elif isinstance(value, date):
            self.paper.write_datetime(row, column, value, look)
        else:
            self.paper.write_number(row, column, value, look)

    def _put_formula(self, row: int, column: int, formula: Formula, look: Format) -> None:
        """Write a formula with the value that viewers which do not calculate will show."""
        value = formula.value
        if isinstance(value, Decimal):
            value = float(value)
        elif isinstance(value, date):
            value = (value - _DAY_0).days
        self.paper.write_formula(row, column, formula.text, look, value)

    def title(self, text: str, subtitle: str) -> None:
        """Write what the sheet is, at its top."""
        self.high(self.row, 28)
        self.put(self.row, 0, text, "title")
        self.row += 1
        self.note(subtitle, "subtitle")
        self.row += 1

    def caption(self, text: str) -> None:
        """Write the title of a table, with some air above it."""
        self.high(self.row, 24)
        self.put(self.row, 0, text, "caption")
        self.row += 1

    def high(self, row: int, height: float) -> None:
        """Make a row as high as one of its cells needs; the highest decides."""
        if height > self._heights.get(row, 0):
            self._heights[row] = height
            self.paper.set_row(row, height)

    def fit(self, row: int, column: int, value: Plain) -> None:
        """Make a row high enough for a text in one of its columns."""
        self.high(row, _height(_lines_of(self.widths[column], value, ("wrap",))))

    def span(self, row: int, first: int, last: int, value: Plain, *style: str) -> None:
        """Write one cell over several columns."""
        if first < last:
            self.paper.merge_range(row, first, row, last, "", self.styles(*style))
        self.put(row, first, value, *style)

    def note(self, text: str, *style: str) -> None:
        """Write a paragraph over the whole width."""
        width = sum(self.widths[: self.printed])
        self.high(self.row, _height(lines_needed(text, width, *style)))
        self.span(self.row, 0, self.last, text, *(style or ("text",)), "wrap")
        self.row += 1

    def head(self, columns: Sequence[Column], first: int = 0) -> int:
        """Write the header of a table and return its row."""
        lines = max(
            lines_needed(column.title, width, "head")
            for column, width in zip(columns, self.widths[first:], strict=False)
        )
        self.high(self.row, _height(lines) + 5)
        for offset, column in enumerate(columns):
            side = ("head-right",) if _is_numeric(column.style) else ("head", *_inset(column.style, offset))
            self.put(self.row, first + offset, column.title, *side)
        self.row += 1
        return self.row - 1

    def line(self, columns: Sequence[Column], values: Sequence[Cell], *style: str, first: int = 0) -> None:
        """Write one row of a table, as high as its texts need."""
        lines = 1
        for offset, (column, value) in enumerate(zip(columns, values, strict=True)):
            given, own = (value.value, value.style) if isinstance(value, Styled) else (value, ())
            looks = (*column.style, *_inset((*column.style, *own), offset), *style, *own)
            lines = max(lines, _lines_of(self.widths[first + offset], given, looks))
            self.put(self.row, first + offset, given, "cell", *looks)
        self.high(self.row, _height(lines))
        self.row += 1

    def table(self, columns: Sequence[Column], rows: Iterable[Sequence[Cell]], *, filtered: bool = False) -> range:
        """Write a table and return the rows of its body; without rows it says so."""
        header = self.head(columns)
        first = self.row
        for values in rows:
            self.line(columns, values)
        body = range(first, self.row)
        if not body:
            self.put(self.row, 0, "none", "muted")
            self.row += 1
        if filtered:
            self.paper.autofilter(header, 0, max(self.row - 1, header), len(columns) - 1)
        return body

    def wide_line(self, values: Sequence[Cell], wide: int, *style: str) -> None:
        """Write a row whose column `wide` runs to the right edge, as high as its texts need."""
        widths = (*self.widths[:wide], sum(self.widths[wide : self.printed]))
        lines = 1
        for column, value in enumerate(values):
            given, own = (value.value, value.style) if isinstance(value, Styled) else (value, ())
            looks = ("wrap", *_inset(own, column), *style, *own)
            lines = max(lines, _lines_of(widths[column], given, looks))
            self.span(self.row, column, self.last if column == wide else column, given, "cell", *looks)
        self.high(self.row, _height(lines))
        self.row += 1

    def wide_head(self, columns: Sequence[Column], wide: str) -> int:
        """Write a header whose last column runs to the right edge, as `wide_line` does, and return its row."""
        row = self.head(columns)
        self.span(row, len(columns), self.last, wide, "head", "inset")
        return row

    def freeze(self, row: int, column: int = 0) -> None:
        """Keep what is above and left of a cell in sight, and repeat the row above it on every page."""
        self.paper.freeze_panes(row, column)
        self.repeat(row - 1)

    def repeat(self, row: int) -> None:
        """Print a row on top of every page that follows it, such as the header of the longest table."""
        self.paper.repeat_rows(row)

    def finish(self, plan_sha256: str) -> None:
        """Set up printing and protect everything that is no input."""
        paper = self.paper
        paper.hide_gridlines(2)
        paper.set_landscape()
        paper.set_paper(A4)
        paper.set_margins(left=0.4, right=0.4, top=0.5, bottom=0.6)
        paper.fit_to_pages(1, 0)
        paper.set_h_pagebreaks(self.breaks)
        paper.print_area(0, 0, max(self.row - 1, 0), self.last)
        paper.set_footer(f"&L&8kvplan · plan {plan_sha256[:12]}&C&8&A&R&8page &P/&N", {"margin": 0.3})
        paper.protect("", dict.fromkeys(_ALLOWED, True))


def _lines_of(width: float, value: Plain, style: tuple[str, ...]) -> int:
    """Estimate how many lines a cell takes; only text is broken."""
    text = value.value if isinstance(value, Formula) else value
    if not isinstance(text, str) or "wrap" not in style:
        return 1
    return lines_needed(text, width - (_DEEP if "deep" in style else _INSET), *style)


def _height(lines: int) -> float:
    """Give the height of a row [pt]."""
    return lines * _POINTS_PER_LINE + 1.5


def _inset(style: tuple[str, ...], column: int) -> tuple[str, ...]:
    """Keep text apart from a number to the left of it; numbers stand at the right edge of their column."""
    return () if column == 0 or _is_numeric(style) else ("inset",)


def _is_numeric(style: tuple[str, ...]) -> bool:
    """Tell whether a column's cells stand to the right."""
    return bool(_NUMERIC & set(style))
