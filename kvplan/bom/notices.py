"""What a reader of a quote must know about its prices: missing, old, expired, in another currency, for nothing."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from kvplan.bom.offers import comparable
from kvplan.bom.pricing import counted_lines
from kvplan.errors import did_you_mean
from kvplan.schema.design import Finding
from kvplan.units import counted, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kvplan.bom.offers import Offer, Offers
    from kvplan.bom.pricing import Priced
    from kvplan.schema.bom import BomLine
    from kvplan.schema.price_book import PriceBook, PriceItem, QuoteTerms

PRICE_MISSING: Final = "price-missing"
"""The finding that some lines have no price."""
NAMED = 4
"""So many parts are named before the rest is only counted."""


class _Doubt(NamedTuple):
    """What may be wrong with a price that is used: the finding, whom it concerns, and what is said of it."""

    id: str
    concerns: Callable[[Offer, QuoteTerms], bool]
    what: str
    remedy: str


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
        of_book = [item for item in priced if item.offer is not None and item.offer.book is book]
        yield from _other_terms(book, priced)
        yield from _without_term(book, of_book)
        yield from _doubts(book, of_book, terms)
        yield from _conflicts(book, of_book)
        yield from _unused(book, [item.line for item in priced])
    yield from _unused_rates(priced, terms)


def _missing(priced: Sequence[Priced], offers: Offers) -> Iterator[Finding]:
    """Say how many lines have no price."""
    lines = tuple(counted_lines([item.line for item in priced]))
    missing = [line for line in lines if line.extended is None]
    if not missing:
        return
    of_all, has = counted(len(lines), "line"), "has" if len(missing) == 1 else "have"
    if offers.books:
        keys = listed(tuple(dict.fromkeys(line.key for line in missing)), NAMED)
        text = f"{len(missing):,} of {of_all} {has} no price: {keys}; the total is incomplete"
    else:
        text = f"no price book was given, so that none of {of_all} has a price"
    remedy = "fill the column list_price of the CSV export and read it back with --prices"
    severity = "warning" if offers.books else "info"
    yield Finding(id=PRICE_MISSING, severity=severity, where="", text=text, remedy=remedy)


def _other_terms(book: PriceBook, priced: Sequence[Priced]) -> Iterator[Finding]:
    """Name the prices that are for another term than their line, and so are not used."""
    found = {
        line.key: f"{line.key} for {_months(refused.item.term_months)}, here {_months(line.term_months)}"
        for line, refused in ((item.line, item.refused) for item in priced)
        if refused is not None and refused.book is book
    }
    if found:
        text = f"{_prices_are(len(found))} for another term and so not used: {listed(tuple(found.values()), NAMED)}"
        remedy = "a price is for the whole term: ask for one, or choose the term with --support-years"
        yield Finding(id="price-term", severity="warning", where=book.name, text=text, remedy=remedy)


def _without_term(book: PriceBook, priced: Sequence[Priced]) -> Iterator[Finding]:
    """Name the prices that do not say their term, of lines whose term this quote changes."""
    found = {
        item.line.key: f"{item.line.key}, {_months(item.line.term_months)} instead of {item.usual_months}"
        for item in priced
        if item.offer is not None and item.offer.item.term_months is None and item.line.term_months != item.usual_months
    }
    if found:
        text = f"{_prices_are(len(found))} without a term, which this quote changes: "
        remedy = "make sure that the price is for the whole term, and fill the column term_months"
        names = listed(tuple(found.values()), NAMED)
        yield Finding(id="price-term", severity="warning", where=book.name, text=text + names, remedy=remedy)


def _months(months: int | None) -> str:
    """Write a term."""
    return f"{months} months" if months else "no term"


def _has_no_rate(offer: Offer, terms: QuoteTerms) -> bool:
    """Tell whether a price is in a currency of unknown worth."""
    return offer.currency != terms.currency and offer.currency not in terms.rates


def _is_of_the_future(offer: Offer, terms: QuoteTerms) -> bool:
    """Tell whether a price is dated after the quote."""
    return offer.day is not None and offer.day > terms.date


def _is_expired(offer: Offer, terms: QuoteTerms) -> bool:
    """Tell whether a price holds no longer."""
    return offer.valid_until is not None and offer.valid_until < terms.date


def _expires(offer: Offer, terms: QuoteTerms) -> bool:
    """Tell whether a price holds on the day of the quote, but not as long as the quote."""
    last = terms.date + timedelta(days=terms.valid_days)
    return offer.valid_until is not None and terms.date <= offer.valid_until < last


def _is_old(offer: Offer, terms: QuoteTerms) -> bool:
    """Tell whether a price is older than prices may be."""
    return offer.day is not None and offer.day < terms.date - timedelta(days=terms.max_price_age_days)


def _is_undated(offer: Offer, _terms: QuoteTerms) -> bool:
    """Tell whether a price has no day."""
    return offer.day is None


_DOUBTS = (
    _Doubt(
        "price-currency",
        _has_no_rate,
        "in another currency than {currency} and no rate was given, so that {they} as missing",
        "give what one unit is worth: --rate {foreign}=...",
    ),
    _Doubt(
        "price-future",
        _is_of_the_future,
        "dated after the quote's day {day}",
        "check the date of the price book, or --date",
    ),
    _Doubt("price-expired", _is_expired, "no longer valid on {day}", "ask for new prices"),
    _Doubt(
        "price-expires",
        _expires,
        "not valid as long as the quote, to {last}",
        "ask for longer validity, or shorten the quote's with --valid-days",
    ),
    _Doubt("price-old", _is_old, "older than {age}", "ask for new prices, or allow older ones with --max-price-age"),
    _Doubt("price-undated", _is_undated, "without a date", "fill the column price_date"),
)


def _doubts(book: PriceBook, priced: Sequence[Priced], terms: QuoteTerms) -> Iterator[Finding]:
    """Say what is wrong with the prices that are used of a book."""
    used = tuple({item.offer.name: item.offer for item in priced if item.offer is not None}.values())
    for doubt in _DOUBTS:
        found = [offer for offer in used if doubt.concerns(offer, terms)]
        if found:
            values = {
                "currency": terms.currency,
                "they": "it counts" if len(found) == 1 else "they count",
                "foreign": found[0].currency,
                "day": terms.date,
                "last": terms.date + timedelta(days=terms.valid_days),
                "age": counted(terms.max_price_age_days, "day"),
            }
            names = listed([offer.name for offer in found], NAMED)
            text = f"{_prices_are(len(found))} {doubt.what.format_map(values)}: {names}"
            remedy = doubt.remedy.format_map(values)
            yield Finding(id=doubt.id, severity="warning", where=book.name, text=text, remedy=remedy)


def _prices_are(count: int) -> str:
    """Begin a sentence about so many prices."""
    return f"{counted(count, 'price')} {'is' if count == 1 else 'are'}"


def _conflicts(book: PriceBook, priced: Sequence[Priced]) -> Iterator[Finding]:
    """Name the parts whose number in the book is another one than in the catalogue."""
    found = {
        item.line.key: f"{item.line.key} is {item.offer.item.part_number}, here {item.line.part_number}"
        for item in priced
        if item.offer is not None and _differ(item.offer.item.part_number, item.line.part_number)
    }
    if found:
        verb = "differs" if len(found) == 1 else "differ"
        names = listed(tuple(found.values()), NAMED)
        text = f"{counted(len(found), 'part number')} of the book {verb} from the catalogue: {names}"
        remedy = "make sure that the price is for the part that is meant"
        yield Finding(id="price-part-number", severity="warning", where=book.name, text=text, remedy=remedy)


def _differ(given: str, ours: str) -> bool:
    """Tell whether two part numbers are both there and differ."""
    return bool(given.strip()) and comparable(given) != comparable(ours)


def _unused(book: PriceBook, lines: Sequence[BomLine]) -> Iterator[Finding]:
    """Name the prices of a book that are for nothing in the quote."""
    takers = {comparable(name) for line in lines if line.priced for name in (line.key, line.part_number) if name}
    found = [
        item
        for item in book.items
        if item.list_price is not None and not {comparable(item.key), comparable(item.part_number)} & takers
    ]
    if found:
        why = [_why_unused(item, lines) for item in found[:NAMED]]
        rest = [""] * (len(found) - len(why))
        text = f"{_prices_are(len(found))} for nothing in this quote: {listed(why + rest, NAMED)}"
        yield Finding(id="price-unused", severity="info", where=book.name, text=text)


def _why_unused(item: PriceItem, lines: Sequence[BomLine]) -> str:
    """Name a price that is for nothing, with what was perhaps meant."""
    name = item.key.strip() or item.part_number.strip()
    untaken = next((line for line in lines if comparable(line.key) == comparable(item.key)), None)
    if untaken is not None:
        heading = any(line.parent == untaken.line for line in lines)
        return (
            f"{name} (this line takes no price: {'what is in it is priced' if heading else 'it comes with its device'})"
        )
    hint = did_you_mean(name, {name for line in lines if line.priced for name in (line.key, line.part_number) if name})
    return f"{name} ({hint})" if hint else name


def _unused_rates(priced: Sequence[Priced], terms: QuoteTerms) -> Iterator[Finding]:
    """Name the rates that convert no price."""
    converted = {item.offer.currency for item in priced if item.offer is not None} - {terms.currency}
    found = [currency for currency in terms.rates if currency not in converted]
    if found:
        text = (
            f"{counted(len(found), 'rate')} {'converts' if len(found) == 1 else 'convert'} no price: {', '.join(found)}"
        )
        yield Finding(id="rate-unused", severity="info", where="--rate", text=text)
