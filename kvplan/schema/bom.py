"""The bill of materials: lines as buyers read them, priced from the user's own price books, and what is missing."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from kvplan.schema.base import Confidence, Record
from kvplan.schema.design import Finding
from kvplan.schema.hardware import PartNumberKnown
from kvplan.schema.kit import GroupId, Per, Share, Topic

BOM_FORMAT_VERSION = "1.0"
Money = Annotated[Decimal, Field(ge=0)]
DiscountFrom = Literal["quote", "group", "book"]
LinePartNumberKnown = PartNumberKnown | Literal["", "book"]
"""How the part number of a line is known: as its catalogue row says, from a price book, or not at all."""
Day = date
"""A calendar day; another name, because records have fields called `date`."""


class BomLine(Record):
    """One line: `1.0` is a major line such as a storage node, `1.1` something in it.

    `line` names the line. `key` names the part: it is stable between quotes, shared by every line of the same part (a
    power lead of two devices, a drive and its spare), and is what a price book may name instead of a part number,
    which is often not known. `quantity` = `quantity_per_parent` x quantity of the parent; of a spare it is
    max(`spare_minimum`, ceil(rate x quantity of what is spared)), with `spare_of` the lines that it covers. `basis`
    says in words how the quantity came about, `counted_by` what it is a multiple of. A price that nobody gave is
    absent, never 0. net = list x (1 - discount), rounded half up to the currency's cents;
    extended = net x quantity.
    A major line with minors has no price of its own, nor has what comes with a device, such as its power supplies:
    such lines are not `priced`. Optional lines are not in the total.
    `discount_group` is the group whose discount the line takes: its own, but of a spare that of what it covers, unless
    the quote gives the spares a discount. `price_book` is the name of the book that gave the price,
    `price_source` what the book says of where it has it from. `topic` marks what a finding speaks of.
    """

    line: str
    parent: str = ""
    key: str
    group: GroupId
    vendor: str = ""
    part_number: str = ""
    part_number_known: LinePartNumberKnown = ""
    description: str
    quantity_per_parent: int
    quantity: int
    unit: str = "each"
    basis: str
    counted_by: tuple[Per, ...] = ()
    spare_of: tuple[str, ...] = ()
    spare_rate_id: str = ""
    spare_minimum: int = 0
    term_months: int | None = None
    optional: bool = False
    priced: bool = True
    list_price: Money | None = None
    discount: Share = Decimal(0)
    discount_from: DiscountFrom = "quote"
    discount_group: GroupId
    net_price: Money | None = None
    extended: Money | None = None
    lead_time_days: int | None = None
    price_book: str = ""
    price_source: str = ""
    price_date: Day | None = None
    valid_until: Day | None = None
    note: str = ""
    topic: Topic = ""
    source: str
    confidence: Confidence


class BomGroup(Record):
    """One group: its discount, what its priced lines come to, and how many of `lines` have no price.

    Headings, what comes with a device, and optional lines are not among `lines`. `discount_given` says that the quote
    names a discount for this group; where it names none, the group takes the quote's, and spares that of what they
    cover.
    """

    id: GroupId
    title: str
    discount: Share
    discount_given: bool = False
    lines: int
    missing: int
    total: Decimal

    @property
    def priced(self) -> bool:
        """Whether any of its lines has a price; where none has, its total says nothing."""
        return self.lines > self.missing


class SpareRate(Record):
    """How many spares of a kind are bought: a share of what is installed, at least so many."""

    id: str
    title: str
    rate: Share
    minimum: int


class UsedBook(Record):
    """A price book that was read: how many of its prices the quote uses.

    `currency` names all currencies of its prices, and `rate` is the worth of one unit where it is one other than the
    quote's. A CSV sheet has no date: `first_date` and `last_date` are those of its prices, of whatever book has any.
    """

    name: str
    currency: str
    date: Day | None = None
    first_date: Day | None = None
    last_date: Day | None = None
    valid_until: Day | None = None
    source: str = ""
    vendor: str = ""
    terms: str = ""
    rate: Decimal | None = None
    items: int
    used: int

    @property
    def days(self) -> tuple[Day, ...]:
        """The first and the last day of its prices, once where they are the same; nothing where none is known."""
        return tuple(dict.fromkeys(day for day in (self.first_date or self.date, self.last_date) if day))


class Bom(Record):
    """A priced bill of materials; `total` sums what has a price, and is no total while `missing` is above 0.

    `counts` are the numbers that lines are `counted_by`: what is quoted, which may be less than the design holds.
    """

    format_version: str = BOM_FORMAT_VERSION
    plan_sha256: str
    date: Day
    valid_until: Day
    currency: str
    discount: Share
    counts: dict[Per, int] = Field(default_factory=dict)
    lines: tuple[BomLine, ...]
    groups: tuple[BomGroup, ...]
    spare_rates: tuple[SpareRate, ...]
    total: Decimal
    missing: int
    complete: bool
    books: tuple[UsedBook, ...]
    findings: tuple[Finding, ...]

    @property
    def priced(self) -> bool:
        """Whether any line has a price; where none has, the total says nothing."""
        return any(group.priced for group in self.groups)
