"""What the tests of the bill of materials build alike: designs of every size, books, quotes."""

from __future__ import annotations

from datetime import date
from functools import cache
from typing import TYPE_CHECKING, Any

from kvplan.api import design, size
from kvplan.bom.quote import bill
from kvplan.bom.tables import tables_of
from kvplan.catalogue.loader import load_catalogue
from kvplan.reference import PLAN
from kvplan.schema.build import BuildOptions
from kvplan.schema.price_book import PriceBook, QuoteTerms
from kvplan.schema.request import Request

if TYPE_CHECKING:
    from kvplan.schema.bom import Bom, BomLine
    from kvplan.schema.design import Design
    from kvplan.schema.plan import Plan

DAY = date(2026, 11, 30)
GPUS = {4: 64, 8: 128, 16: 256, 64: 1024, 256: 4096}
"""GPUs asked for beside so many storage nodes."""


@cache
def plan_of(nodes: int) -> Plan:
    """Size a tier of so many nodes; the published system for 0."""
    if not nodes:
        return PLAN
    return size(Request(model="openai/gpt-oss-120b", context_tokens=130_000, gpus=GPUS[nodes], nodes=nodes))


@cache
def design_of(nodes: int, clients: str = "adapters", *, racks: bool = True) -> Design:
    """Design it."""
    options = BuildOptions.model_validate({"clients": clients, "racks": {"quoted": racks}})
    return design(plan_of(nodes), options)


def book(*items: dict[str, Any], **values: Any) -> PriceBook:
    """Make a price book of one day before the quote's."""
    head = {"format_version": "1.0", "name": "book", "currency": "EUR", "date": date(2026, 11, 29)}
    return PriceBook.model_validate({**head, **values, "items": items})


def quote(*books: PriceBook, nodes: int = 0, clients: str = "adapters", racks: bool = True, **terms: Any) -> Bom:
    """Make a bill of materials."""
    return bill(
        plan_of(nodes),
        design_of(nodes, clients, racks=racks),
        tables=tables_of(load_catalogue()),
        books=books,
        terms=QuoteTerms.model_validate({"date": DAY, **terms}),
    )


def lines_of(bom: Bom, key: str) -> list[BomLine]:
    """Return the lines of a part, spares left out."""
    return [line for line in bom.lines if line.key == key and line.group != "spares"]


def quantity(bom: Bom, key: str) -> int:
    """Count a part over all lines, spares left out."""
    return sum(line.quantity for line in lines_of(bom, key))


def full_book(bom: Bom, **values: Any) -> PriceBook:
    """Price every part of a quote: the n-th part costs n and a few cents."""
    keys = dict.fromkeys(line.key for line in bom.lines if line.priced)
    return book(
        *({"key": key, "list_price": f"{number}.{number % 100:02d}"} for number, key in enumerate(keys, 1)), **values
    )


def findings(bom: Bom, name: str) -> list[str]:
    """Return the texts of a finding."""
    return [finding.text for finding in bom.findings if finding.id == name]
