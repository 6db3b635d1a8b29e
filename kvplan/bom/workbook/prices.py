"""Where prices come from: the price books that were read, and the book, date and validity of each price."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.bom.workbook.sheet import Column

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.bom.workbook.quote import Quote
    from kvplan.bom.workbook.sheet import Cell

_DISCOUNTS = {"quote": "of the quote", "group": "of its group", "book": "from the price book"}


def prices_sheet(quote: Quote) -> None:
    """Write the sheet."""
    currency = quote.bom.currency
    columns = (
        Column("Line", 10, ("text",)),
        Column("Part number", 24),
        Column("Description", 50),
        Column(f"List [{currency}]", 16, ("money",)),
        Column("Price book", 34),
        Column("Date", 12, ("date",)),
        Column("Valid until", 12, ("date",)),
        Column("Discount", 20, ("text",)),
    )
    sheet = quote.sheet("Price sources", [column.width for column in columns])
    sheet.title("Price sources", "No price is invented: each comes from a price book that was handed in, or is blank.")
    sheet.freeze(1)
    sheet.caption("Price books, the last one that names a part wins")
    sheet.table(_books_head(), _books(quote))
    sheet.caption("Price of each line")
    sheet.repeat(sheet.row)
    sheet.table(columns, _rows(quote), filtered=True)
    sheet.finish(quote.bom.plan_sha256)


def _books_head() -> tuple[Column, ...]:
    """Return the columns of the books, over those of the lines."""
    return (
        Column("Currency", 10, ("text",)),
        Column("Price book", 24),
        Column("Source", 50),
        Column("Rate to the quote's", 16, ("any",)),
        Column("Prices, of which used", 34, ("text",)),
        Column("Date", 12, ("date",)),
        Column("Valid until", 12, ("date",)),
    )


def _books(quote: Quote) -> Iterator[tuple[Cell, ...]]:
    """List the books."""
    for book in quote.bom.books:
        used = f"{book.items:,}, of which {book.used:,} used"
        yield book.currency, book.name, book.source, book.rate, used, book.date, book.valid_until


def _rows(quote: Quote) -> Iterator[tuple[Cell, ...]]:
    """List the lines that have a price of their own, priced or not."""
    for line in quote.bom.lines:
        if line.priced:
            source = line.price_source or "none: to be asked for"
            price = quote.layout.copy(line, "list", line.list_price)
            discount = _DISCOUNTS[line.discount_from]
            origin = (source, line.price_date, line.valid_until, discount)
            yield line.line, line.part_number, line.description, price, *origin
