"""Price books, which are the user's, and the terms on which a quote uses them."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from kvplan.schema.base import Record
from kvplan.schema.kit import GroupId, Share
from kvplan.schema.money import Currency, Discount, Price, Rate

PRICE_BOOK_FORMAT_VERSION = "1.0"
FIRST_DAY, LAST_DAY = date(2000, 1, 1), date(2200, 12, 31)
"""Days on which a quote may be made."""
MAX_TERM_MONTHS = 600
Day = date
"""A calendar day; another name, because records have fields called `date`."""
Text = Annotated[str, Field(max_length=500)]
PRICE_COLUMNS = (
    "key", "part_number", "list_price", "currency", "term_months", "price_date", "valid_until", "price_source",
    "discount", "lead_time_days",
)  # fmt: skip
"""The columns of a CSV price book, which are those of the exported sheet; whatever else the sheet has is left alone."""


def _within_reason(day: date) -> date:
    """Refuse a day so far away that it is a slip, or that no calendar holds the end of the quote."""
    if not FIRST_DAY <= day <= LAST_DAY:
        message = f"{day} is not between {FIRST_DAY} and {LAST_DAY}"
        raise ValueError(message)
    return day


class PriceItem(Record):
    """What a book says of one part, named by the key of its lines, by its part number, or by both.

    Without a `list_price` it still tells part number and lead time. Currency, dates and source are the book's where
    they are absent. A price of 0 is a part that comes free. A price is for the whole term of a line: with `term_months`
    only for lines of that term.
    """

    key: Text = ""
    part_number: Text = ""
    list_price: Price | None = None
    currency: Currency | None = None
    term_months: Annotated[int, Field(ge=1, le=MAX_TERM_MONTHS)] | None = None
    discount: Discount | None = None
    lead_time_days: Annotated[int, Field(ge=0, le=3650)] | None = None
    description: str = ""
    date: Day | None = None
    valid_until: Day | None = None
    source: Text = ""

    @model_validator(mode="after")
    def _names_a_part(self) -> Self:
        if not self.key.strip() and not self.part_number.strip():
            message = "names no part: it needs a key or a part_number"
            raise ValueError(message)
        return self


class PriceBook(Record):
    """A price list as somebody gave it, with the day it was made; nothing in it comes from kvplan."""

    format_version: Literal["1.0"]
    name: Annotated[str, Field(min_length=1, max_length=200)]
    currency: Currency
    date: Day | None
    valid_until: Day | None = None
    source: Text = ""
    vendor: Text = ""
    terms: Text = ""
    items: Annotated[tuple[PriceItem, ...], Field(min_length=1)]

    @property
    def currencies(self) -> tuple[str, ...]:
        """The currencies of its prices, each once, in their order."""
        priced = (item for item in self.items if item.list_price is not None)
        return tuple(dict.fromkeys(item.currency or self.currency for item in priced))


class QuoteTerms(Record):
    """On which terms a quote is made: day, validity, currency, discounts, and what other currencies are worth.

    `rates` gives the worth of one unit of another currency in the quote's. `support_years` replaces the term of every
    subscription and support line.
    """

    date: Annotated[Day, AfterValidator(_within_reason)]
    currency: Currency = "EUR"
    valid_days: Annotated[int, Field(ge=1, le=730)] = 30
    discount: Share = Decimal(0)
    group_discounts: dict[GroupId, Share] = Field(default_factory=dict)
    rates: dict[Currency, Rate] = Field(default_factory=dict)
    max_price_age_days: Annotated[int, Field(ge=1, le=3650)] = 90
    support_years: Annotated[int, Field(ge=1, le=10)] | None = None
