"""Prices and discounts on lines: decimals throughout, rounded at the line, and nothing where nobody gave a price."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from kvplan.schema.bom import BomGroup
from kvplan.schema.kit import GROUP_TITLES
from kvplan.schema.money import rounded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kvplan.bom.draft import Numbered
    from kvplan.bom.offers import Offer, Offers
    from kvplan.schema.bom import BomLine, DiscountFrom
    from kvplan.schema.kit import GroupId
    from kvplan.schema.price_book import QuoteTerms


@dataclass(frozen=True, slots=True)
class Priced:
    """A line with what the books say of it; `offer` is absent where no book prices it.

    Of an offer in a currency without a rate, the line has no price. `refused` would be the offer, but for its term.
    `usual_months` is the term that the kit gives the line; that of the quote may be another.
    """

    line: BomLine
    offer: Offer | None = None
    refused: Offer | None = None
    usual_months: int | None = None


def priced_line(item: Numbered, offers: Offers, terms: QuoteTerms) -> Priced:
    """Price a line.

    list in the quote's currency = list x rate, rounded; net = list x (1 - discount), rounded half up to the
    currency's minor unit; extended = net x quantity. A book's discount comes before the group's, that before the
    quote's. A price for another term than the line's is none.

    Parameters
    ----------
    item
        The line, without a price.
    offers
        The price books.
    terms
        Currency, discounts and rates of the quote.

    Returns
    -------
    Priced
        The line with its price, if there is one, and the offer that it comes from.
    """
    line = _told(item.line, offers)
    if not line.priced:
        return Priced(line)
    found = offers.prices_of(line)
    offer = _fitting(found, line.term_months)
    refused = found[0] if found and offer is None else None
    discount, discount_from = _discount(line, offer, terms)
    line = line.model_copy(update={"discount": discount, "discount_from": discount_from})
    line = line if offer is None else _with_price(line, offer, terms)
    return Priced(line, offer, refused, item.draft.term_months)


def groups_of(lines: Sequence[BomLine], terms: QuoteTerms) -> tuple[BomGroup, ...]:
    """Add up the groups that have lines, in the order in which they are printed."""
    return tuple(_group(group, lines, terms) for group in GROUP_TITLES if any(line.group == group for line in lines))


def counted_lines(lines: Sequence[BomLine]) -> Iterator[BomLine]:
    """Yield the lines that make the total: those that take a price and are no options."""
    return (line for line in lines if line.priced and not line.optional)


def total_of(lines: Sequence[BomLine]) -> Decimal:
    """Sum the lines of the total that have a price."""
    return sum((line.extended for line in counted_lines(lines) if line.extended is not None), Decimal(0))


def _group(group: GroupId, lines: Sequence[BomLine], terms: QuoteTerms) -> BomGroup:
    """Add up one group."""
    own = [line for line in counted_lines(lines) if line.group == group]
    return BomGroup(
        id=group,
        title=GROUP_TITLES[group],
        discount=terms.group_discounts.get(group, terms.discount),
        discount_given=group in terms.group_discounts,
        lines=len(own),
        missing=sum(line.extended is None for line in own),
        total=total_of(own),
    )


def _told(line: BomLine, offers: Offers) -> BomLine:
    """Put what the books know of a part beside its price on its line; a number that is only a guess gives way."""
    changes: dict[str, object] = {"lead_time_days": offers.lead_time_of(line)}
    given = offers.part_number_of(line)
    if given and line.part_number_known != "confirmed" and given != line.part_number:
        changes |= {"part_number": given, "part_number_known": "book"}
    return line.model_copy(update=changes)


def _fitting(offers: Sequence[Offer], months: int | None) -> Offer | None:
    """Choose the first offer that is not for another term; of its book, one for this very term comes first."""
    fits = [offer for offer in offers if offer.item.term_months in {None, months}]
    if not fits:
        return None
    exact = (offer for offer in fits if offer.book is fits[0].book and offer.item.term_months)
    return next(exact, fits[0])


def _discount(line: BomLine, offer: Offer | None, terms: QuoteTerms) -> tuple[Decimal, DiscountFrom]:
    """Return the discount of a line and where it comes from."""
    if offer is not None and offer.item.discount is not None:
        return offer.item.discount, "book"
    if line.discount_group in terms.group_discounts:
        return terms.group_discounts[line.discount_group], "group"
    return terms.discount, "quote"


def _with_price(line: BomLine, offer: Offer, terms: QuoteTerms) -> BomLine:
    """Put the price of an offer on a line; without a rate for its currency there is none."""
    given = offer.item.list_price
    rate = Decimal(1) if offer.currency == terms.currency else terms.rates.get(offer.currency)
    if given is None or rate is None:
        return line
    converted = f"{offer.currency} {given:,f} at {rate:f}" if offer.currency != terms.currency else ""
    list_price = rounded(given * rate, terms.currency) if converted else given
    net = rounded(list_price * (1 - line.discount), terms.currency)
    return line.model_copy(
        update={
            "list_price": list_price,
            "net_price": net,
            "extended": net * line.quantity,
            "price_book": offer.book.name,
            "price_source": offer.source,
            "price_date": offer.day,
            "valid_until": offer.valid_until,
            "note": "; ".join(filter(None, (line.note, converted))),
        }
    )
