"""Kit rows of a user's own: of racks, under a condition, in place of another."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support_quotes import DAY, design_of, lines_of, plan_of, quantity
from workbook_dump import opened

from kvplan.bom.quote import bill
from kvplan.bom.tables import tables_of
from kvplan.bom.workbook import workbook
from kvplan.catalogue.loader import load_catalogue
from kvplan.schema.kit import KitRow
from kvplan.schema.price_book import QuoteTerms

if TYPE_CHECKING:
    from kvplan.schema.bom import Bom


def _with_row(racks: int, **row: object) -> Bom:
    """Quote with one kit row more, of a user's own, on a design of so many quoted racks."""
    clients = "servers" if racks > 1 else "adapters"
    mine = KitRow.model_validate({"id": "mine", "per": ["rack"], "source": "test", "confidence": "assumed", **row})
    tables = tables_of(load_catalogue())
    with_mine = replace(tables, kit=(*tables.kit, mine))
    made = bill(plan_of(0), design_of(0, clients), tables=with_mine, terms=QuoteTerms(date=DAY))
    assert made.counts["rack"] == racks
    return made


@pytest.mark.parametrize("racks", [1, 2])
def test_a_row_of_a_rack_has_its_condition(racks: int) -> None:
    assert quantity(_with_row(racks, when="several-racks"), "kit/mine") == (racks if racks > 1 else 0)
    assert quantity(_with_row(racks, when="racks-there"), "kit/mine") == 0


def test_a_row_of_a_rack_replaces_another() -> None:
    made = _with_row(1, quantity=2, replaces="pdu")
    assert (quantity(made, "kit/mine"), quantity(made, "kit/pdu")) == (2, 0)
    unmet = _with_row(1, quantity=2, replaces="pdu", when="several-racks")
    assert (quantity(unmet, "kit/mine"), quantity(unmet, "kit/pdu")) == (0, 2)


def test_a_row_for_some_models_is_for_no_rack() -> None:
    assert quantity(_with_row(1, models=["sn5600"]), "kit/mine") == 0


def test_a_row_of_a_group_replaces_another() -> None:
    made = _with_row(1, per=["project"], group="services", replaces="freight")
    assert (quantity(made, "kit/mine"), lines_of(made, "kit/freight")) == (1, [])


@pytest.mark.parametrize(("topic", "said"), [("freight", "freight is a line"), ("", "duties and freight are excluded")])
def test_freight_is_known_by_its_topic_whatever_its_id(topic: str, said: str) -> None:
    made = _with_row(1, per=["project"], group="services", replaces="freight", topic=topic)
    book = opened(workbook(plan_of(0), design_of(0), made), values=True)
    assert any(said in str(cell) for row in book["Summary"].iter_rows(values_only=True) for cell in row)
