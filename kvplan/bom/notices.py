"""What a reader of a quote must know about its prices: missing, old, expired, in another currency, for nothing."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from kvplan.bom.pricing import counted_lines
from kvplan.errors import did_you_mean
from kvplan.schema.design import Finding
from kvplan.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kvplan.bom.offers import Offer, Offers
    from kvplan.bom.pricing import Priced
    from kvplan.schema.bom import BomLine
    from kvplan.schema.price_book import PriceBook, QuoteTerms

_NAMED = 4
"""So many parts are named before the rest is only counted."""


def price_findings(priced: Sequence[Priced], offers: Offers, terms: QuoteTerms) -> Iterator[Finding]:
    """Find what is to be said about the prices of a quote.

    Parameters
    ----------
    priced
        The lines with the offers that price them.
    offers
        The price books.
    terms
        Day, validity and currency of the quote.

    Yields
    ------
    Finding
        Missing prices first, then what is wrong with those that there are, then what was given for nothing.
    """
    yield from _missing(priced, offers)
    for book in offers.books:
        used = {item.offer.name: item.offer for item in priced if item.offer is not None and item.offer.book is book}
        yield from _doubts(book, tuple(used.values()), terms)
        yield from _conflicts(book, [item for item in priced if item.offer is not None and item.offer.book is book])
        yield from _unused(book, [item.line for item in priced])


def listed(names: Iterable[str]) -> str:
    """Name a few parts and count the rest.

    >>> listed("abcdef"), listed("ab")
    ('a, b, c, d and 2 more', 'a, b')
    """
    found = tuple(names)
    rest = len(found) - _NAMED
    shown = ", ".join(found[: _NAMED if rest > 0 else None])
    return f"{shown} and {rest} more" if rest > 0 else shown


def _missing(priced: Sequence[Priced], offers: Offers) -> Iterator[Finding]:
    """Say how many lines have no price."""
    lines = tuple(counted_lines([item.line for item in priced]))
    missing = [line for line in lines if line.extended is None]
    if not missing:
        return
    keys = dict.fromkeys(line.key for line in missing)
    text = f"{len(missing)} of {counted(len(lines), 'line')} have no price: {listed(keys)}; the total is incomplete"
    if not offers.books:
        text = f"no price book was given, so that none of {counted(len(lines), 'line')} has a price"
    remedy = "fill the column list_price of the CSV export and read it back with --prices"
    yield Finding(
        id="price-missing", severity="warning" if offers.books else "info", where="", text=text, remedy=remedy
    )


def _doubts(book: PriceBook, used: Sequence[Offer], terms: QuoteTerms) -> Iterator[Finding]:
    """Say what is wrong with the prices that are used of a book."""
    oldest = terms.date - timedelta(days=terms.max_price_age_days)
    last = terms.date + timedelta(days=terms.valid_days)
    kinds: Mapping[str, tuple[Callable[[Offer], bool], str, str]] = {
        "price-currency": (
            lambda offer: offer.currency != terms.currency and offer.currency not in terms.rates,
            f"in another currency than {terms.currency} and no rate was given, so that they count as missing",
            f"give what one unit is worth: --rate {_foreign(used, terms)}=...",
        ),
        "price-future": (
            lambda offer: offer.day is not None and offer.day > terms.date,
            f"dated after the quote's day {terms.date}",
            "check the date of the price book, or --date",
        ),
        "price-expired": (
            lambda offer: offer.valid_until is not None and offer.valid_until < terms.date,
            f"no longer valid on {terms.date}",
            "ask for new prices",
        ),
        "price-expires": (
            lambda offer: offer.valid_until is not None and terms.date <= offer.valid_until < last,
            f"not valid as long as the quote, to {last}",
            "ask for longer validity, or shorten the quote's with --valid-days",
        ),
        "price-old": (
            lambda offer: offer.day is not None and offer.day < oldest,
            f"older than {terms.max_price_age_days} days",
            "ask for new prices, or allow older ones with --max-price-age",
        ),
        "price-undated": (lambda offer: offer.day is None, "without a date", "fill the column price_date"),
    }
    for name, (applies, what, remedy) in kinds.items():
        found = [offer for offer in used if applies(offer)]
        if found:
            text = f"{counted(len(found), 'price')} {'is' if len(found) == 1 else 'are'} {what}: "
            names = listed(offer.name for offer in found)
            yield Finding(id=name, severity="warning", where=book.name, text=text + names, remedy=remedy)


def _foreign(used: Sequence[Offer], terms: QuoteTerms) -> str:
    """Name a currency that has no rate."""
    others = (offer.currency for offer in used if offer.currency != terms.currency)
    return next((currency for currency in others if currency not in terms.rates), "USD")


def _conflicts(book: PriceBook, priced: Sequence[Priced]) -> Iterator[Finding]:
    """Name the parts whose number in the book is another one than in the catalogue."""
    found = {
        item.line.key: f"{item.line.key} is {item.offer.item.part_number}, here {item.line.part_number}"
        for item in priced
        if item.offer is not None and _differ(item.offer.item.part_number, item.line.part_number)
    }
    if found:
        text = f"{counted(len(found), 'part number')} of the book differ from the catalogue: {listed(found.values())}"
        remedy = "make sure that the price is for the part that is meant"
        yield Finding(id="price-part-number", severity="warning", where=book.name, text=text, remedy=remedy)


def _differ(given: str, ours: str) -> bool:
    """Tell whether two part numbers are both there and differ."""
    return bool(given.strip()) and given.strip().upper() != ours.strip().upper()


def _unused(book: PriceBook, lines: Sequence[BomLine]) -> Iterator[Finding]:
    """Name the prices of a book that are for nothing in the quote."""
    takers = {line.key.upper() for line in lines if line.priced}
    parts = {line.part_number.upper() for line in lines if line.priced and line.part_number}
    headings = {line.key.upper() for line in lines} - takers
    names = {name for line in lines if line.priced for name in (line.key, line.part_number) if name}
    found = []
    for item in book.items:
        key, part = item.key.strip(), item.part_number.strip()
        if item.list_price is None or key.upper() in takers or (part and part.upper() in parts):
            continue
        if key.upper() in headings:
            found.append(f"{key} (takes no price: what is in it is priced)")
        else:
            hint = did_you_mean(key or part, names, limit=1)
            found.append(f"{key or part}{f' ({hint})' if hint else ''}")
    if found:
        text = f"{counted(len(found), 'price')} {'is' if len(found) == 1 else 'are'} for nothing in this quote: "
        yield Finding(id="price-unused", severity="info", where=book.name, text=text + listed(found))
