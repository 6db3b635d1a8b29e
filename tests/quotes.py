"""Quotes that several tests look at: designs of 4 to 256 nodes, priced in part, in full, or not at all."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any

from designs import design_for, plan_of
from workbook_dump import opened

from kvplan.api import bill
from kvplan.bom.workbook import workbook
from kvplan.schema.price_book import PriceBook, PriceItem, QuoteTerms

if TYPE_CHECKING:
    from openpyxl.workbook import Workbook

    from kvplan.schema.bom import Bom

DAY = date(2026, 11, 2)
TERMS = QuoteTerms(date=DAY, discount=Decimal("0.12"), group_discounts={"storage": Decimal("0.07")})


def bill_of(nodes: int = 8, *books: PriceBook, **terms: Any) -> Bom:
    """Make the bill of so many nodes."""
    changed = TERMS.model_copy(update=terms)
    return bill(plan_of(nodes), design_for(nodes), books=books, terms=changed)


def book_of(nodes: int = 8, *, every: int = 1, **more: Any) -> PriceBook:
    """Invent a price book: each key has a price except every so-many-th, many of them ending in half cents."""
    keys = sorted({line.key for line in bill_of(nodes).lines if line.priced})
    items = tuple(
        PriceItem(key=key, list_price=Decimal(9750 * (1 + index * index)) / 100 + Decimal(index % 2) / 100)
        for index, key in enumerate(keys)
        if every == 1 or index % every
    )
    return PriceBook(
        format_version="1.0",
        name="test-prices",
        currency="EUR",
        date=date(2026, 10, 1),
        valid_until=date(2026, 12, 31),
        source="invented for tests",
        items=items,
        **more,
    )


@cache
def priced_bill(nodes: int = 8) -> Bom:
    """Make a bill with most prices, some missing."""
    return bill_of(nodes, book_of(nodes, every=6))


@cache
def priced_workbook(nodes: int = 8) -> bytes:
    """Make the workbook of that bill."""
    return workbook(plan_of(nodes), design_for(nodes), priced_bill(nodes))


@cache
def priced_cells(nodes: int = 8, *, values: bool = False) -> Workbook:
    """Read that workbook, to be looked at and not changed."""
    return opened(priced_workbook(nodes), values=values)
