"""Where prices come from: the price books that were read, and the book, date and validity of each price."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.bom import headings
from kvplan.bom.workbook.cells import Column, Formula, widths_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.bom.workbook.cells import Cell, Plain
    from kvplan.bom.workbook.context import Context
    from kvplan.schema.bom import UsedBook

_NONE = "none: to be asked for"
_OWN, _GROUP = "the part's own", "by group"
_BOOKS = (
    Column("Currency", ("text",)),
    Column("Price book"),
    Column("Source"),
    Column("Rate to the quote's", ("any",)),
    Column("Terms"),
    Column("Prices, of which used", ("text",)),
    Column("Dates", ("date", "wrap")),
    Column("Valid until", ("date",)),
)


def prices_sheet(context: Context) -> None:
    """Write the sheet."""
    columns = (
        Column("Line", ("text",), 10),
        Column(headings.PART_NUMBER, width=28),
        Column("Description", width=54),
        Column(headings.list_heading(context.bom.currency), ("price",), 16),
        Column("Price book", width=32),
        Column("Discount", ("text",), 20),
        Column("Date", ("date",), 12),
        Column("Valid until", ("date",), 12),
        Column("Where the book has its price from", ("wrap", "muted"), 34),
    )
    sheet = context.sheet("Price sources", widths_of(columns))
    sheet.title("Price sources", "No price is invented: each comes from a price book that was handed in, or is blank.")
    sheet.freeze(1)
    sheet.caption("Price books, the last one that names a part wins")
    sheet.table(_BOOKS, _books(context))
    sheet.caption("Price of each line")
    sheet.repeat(sheet.row)
    sheet.table(columns, _rows(context), filtered=True)
    sheet.finish(context.bom.plan_sha256)


def _books(context: Context) -> Iterator[tuple[Cell, ...]]:
    """List the books."""
    for book in context.bom.books:
        used = f"{book.items:,}, {book.used:,} used"
        source = ", ".join(filter(None, (book.vendor, book.source)))
        yield book.currency, book.name, source, book.rate, book.terms, used, _dates(book), book.valid_until


def _dates(book: UsedBook) -> Plain:
    """Give the day of a book's prices, or the first and the last."""
    return book.days[0] if len(book.days) == 1 else " to ".join(map(str, book.days)) or None


def _rows(context: Context) -> Iterator[tuple[Cell, ...]]:
    """List the lines that take a price; book and dates are blank as soon as another price is typed."""
    layout = context.layout
    for line in context.bom.lines:
        if line.priced:
            own = layout.cell(line, "own")
            yield (
                line.line,
                line.part_number,
                line.description,
                layout.copy(line, "list", line.list_price),
                layout.copy(line, "price_book", line.price_book, _NONE),
                Formula(f'=IF({own}="","{_GROUP}","{_OWN}")', _OWN if line.discount_from == "book" else _GROUP),
                layout.copy(line, "price_date", line.price_date),
                layout.copy(line, "valid", line.valid_until),
                line.price_source,
            )
