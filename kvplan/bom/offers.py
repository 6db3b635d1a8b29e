"""Price books laid over one another: which of them says what of a line, and what of them nobody asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

    from kvplan.schema.bom import BomLine
    from kvplan.schema.price_book import PriceBook, PriceItem


@dataclass(frozen=True, slots=True)
class Offer:
    """What a book says of a part; dates, currency and source are the book's where the part has none of its own."""

    book: PriceBook
    item: PriceItem

    @property
    def name(self) -> str:
        """What the part is called in the book."""
        return self.item.key or self.item.part_number

    @property
    def currency(self) -> str:
        """The currency of the price."""
        return self.item.currency or self.book.currency

    @property
    def day(self) -> date | None:
        """The day of the price, if it is known."""
        return self.item.date or self.book.date

    @property
    def valid_until(self) -> date | None:
        """The last day on which the price holds, if it has one."""
        return self.item.valid_until or self.book.valid_until

    @property
    def source(self) -> str:
        """Where the price comes from; the name of the book where it does not say."""
        return self.item.source or self.book.source or self.book.name


class Offers:
    """The offers of several books; a later book wins, and within one the key of a line before its part number.

    Parameters
    ----------
    books
        The books, the earliest first.
    """

    def __init__(self, books: Sequence[PriceBook]) -> None:
        self.books = tuple(books)
        self._by_key: list[dict[str, list[Offer]]] = []
        self._by_part: list[dict[str, list[Offer]]] = []
        for book in reversed(self.books):
            keys: dict[str, list[Offer]] = {}
            parts: dict[str, list[Offer]] = {}
            for item in book.items:
                offer = Offer(book, item)
                keys.setdefault(comparable(item.key), []).append(offer)
                parts.setdefault(comparable(item.part_number), []).append(offer)
            self._by_key.append(keys)
            self._by_part.append(parts)

    def prices_of(self, line: BomLine) -> tuple[Offer, ...]:
        """Return the offers that have a price for a line, what wins first; some may be for another term than its."""
        return tuple(offer for offer in self._of(line) if offer.item.list_price is not None)

    def part_number_of(self, line: BomLine) -> str:
        """Return the part number that the books give a line, which they must name by its key for that."""
        named = (offer for offer in self._of(line) if comparable(offer.item.key) == comparable(line.key))
        return next((offer.item.part_number.strip() for offer in named if offer.item.part_number.strip()), "")

    def lead_time_of(self, line: BomLine) -> int | None:
        """Return the lead time [days] that the books give a line."""
        given = (offer.item.lead_time_days for offer in self._of(line))
        return next((days for days in given if days is not None), None)

    def _of(self, line: BomLine) -> Iterator[Offer]:
        """Yield everything that the books say of a line, what wins first."""
        key, part = comparable(line.key), comparable(line.part_number)
        for keys, parts in zip(self._by_key, self._by_part, strict=True):
            yield from keys.get(key, ())
            if part:
                yield from parts.get(part, ())


def comparable(name: str) -> str:
    """Write a key or part number so that blanks around it and its letter case do not matter.

    >>> comparable(" mcp4y10-n001 ") == comparable("MCP4Y10-N001")
    True
    """
    return name.strip().upper()
