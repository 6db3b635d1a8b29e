"""The bill of materials: every line of a Plan and its design, priced where the user's books have a price."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from kvplan.bom.cabling import cabling_lines
from kvplan.bom.devices import device_lines, rack_lines
from kvplan.bom.draft import numbered
from kvplan.bom.kit import capacity_text, kit_of_group
from kvplan.bom.notices import price_findings
from kvplan.bom.offers import Offers
from kvplan.bom.open_points import scope_findings
from kvplan.bom.pricing import counted_lines, groups_of, priced_line, total_of
from kvplan.bom.scope import conditions_of, counts_of, hosts_of
from kvplan.bom.spares import rates_of, spare_lines
from kvplan.schema.bom import Bom, UsedBook
from kvplan.schema.kit import GROUP_TITLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kvplan.bom.draft import Draft, Numbered
    from kvplan.bom.pricing import Priced
    from kvplan.bom.scope import Tables
    from kvplan.schema.design import Design
    from kvplan.schema.kit import Adds, GroupId
    from kvplan.schema.plan import Plan
    from kvplan.schema.price_book import PriceBook, QuoteTerms

_MONTHS_A_YEAR = 12


def bill(plan: Plan, design: Design, *, tables: Tables, books: Sequence[PriceBook] = (), terms: QuoteTerms) -> Bom:
    """Make the bill of materials.

    Parameters
    ----------
    plan
        What is built: parts, capacities, counts.
    design
        How it is built: devices, racks, cables.
    tables
        Kit and spares, and titles of what the Plan does not name.
    books
        The user's price books, the earliest first; a later one wins.
    terms
        Day, currency, discounts and rates of the quote.

    Returns
    -------
    Bom
        Lines by group, priced where a book has a price; the total says how many have none.
    """
    drafts = _Drafts(plan, design, tables)
    offers = Offers(books)
    priced = [priced_line(item, offers, terms) for item in _lines(drafts, tables, terms)]
    bought = tuple(item.line for item in priced)
    missing = sum(line.extended is None for line in counted_lines(bought))
    return Bom(
        plan_sha256=design.plan_sha256,
        date=terms.date,
        valid_until=terms.date + timedelta(days=terms.valid_days),
        currency=terms.currency,
        discount=terms.discount,
        counts=drafts.counts,
        lines=bought,
        groups=groups_of(bought, terms),
        spare_rates=rates_of(tables.spares),
        total=total_of(bought),
        missing=missing,
        complete=missing == 0,
        books=tuple(_used(book, priced, terms) for book in books),
        findings=(*price_findings(priced, offers, terms), *scope_findings(plan, design, bought)),
    )


def _lines(drafts: _Drafts, tables: Tables, terms: QuoteTerms) -> list[Numbered]:
    """Make and number the lines of all groups, those with a term on the term of the quote."""
    lines: list[Numbered] = []
    majors = 1
    months = _MONTHS_A_YEAR * terms.support_years if terms.support_years else None
    own_discount = "spares" in terms.group_discounts
    for group in GROUP_TITLES:
        spares = group == "spares"
        made = spare_lines(lines, tables.spares, own_discount=own_discount) if spares else drafts.of(group)
        for item in numbered(made, first=majors, months=months):
            lines.append(item)
            majors += not item.line.parent
    return lines


class _Drafts:
    """The drafts of every group but the spares, which follow from all others.

    Parameters
    ----------
    plan
        What is built.
    design
        How it is built.
    tables
        Kit and catalogue rows.
    """

    def __init__(self, plan: Plan, design: Design, tables: Tables) -> None:
        self._plan, self._design, self._tables = plan, design, tables
        self._hosts = hosts_of(plan, design, tables)
        self.counts = counts_of(plan, design, self._hosts)
        self._conditions = conditions_of(design, self._hosts, self.counts)
        self._extra: dict[Adds, str] = {"capacity": capacity_text(plan.profile.raw_bytes, plan.profile.usable_bytes)}

    def of(self, group: GroupId) -> Iterator[Draft]:
        """Yield the drafts of a group: devices, then cables or racks, then what stands by itself."""
        tables, conditions = self._tables, self._conditions
        yield from device_lines(self._plan, self._design, self._hosts, tables, conditions, group)
        if group == "cabling":
            yield from cabling_lines(self._design, tables)
        elif group == "racks":
            yield from rack_lines(self._design, tables, conditions)
        yield from kit_of_group(tables.kit, group, self.counts, conditions, self._extra)


def _used(book: PriceBook, priced: Sequence[Priced], terms: QuoteTerms) -> UsedBook:
    """Describe a book and count what the quote uses of it."""
    used = {
        item.offer.name
        for item in priced
        if item.offer is not None and item.offer.book is book and item.line.list_price is not None
    }
    items = [item for item in book.items if item.list_price is not None]
    days = [item.date or book.date for item in items]
    known = sorted(day for day in days if day is not None)
    return UsedBook(
        name=book.name,
        currency=", ".join(book.currencies) or book.currency,
        date=book.date,
        first_date=known[0] if known else None,
        last_date=known[-1] if known else None,
        valid_until=book.valid_until,
        source=book.source,
        vendor=book.vendor,
        terms=book.terms,
        rate=terms.rates.get(book.currencies[0]) if len(book.currencies) == 1 else None,
        items=len(items),
        used=len(used),
    )
