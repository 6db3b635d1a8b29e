"""Links that no cable family joins: they are in the design, but nothing of them is bought."""

from __future__ import annotations

import csv
import io
from functools import cache
from typing import TYPE_CHECKING

from designs import built, plan_of
from support_quotes import DAY, findings
from workbook_dump import opened

from kvplan.api import bill
from kvplan.bom.workbook import workbook
from kvplan.catalogue.loader import load_catalogue
from kvplan.render.bom_view import bom_rows
from kvplan.render.data import rows_csv
from kvplan.render.fabric.netbox import netbox_files
from kvplan.render.fabric.summary import network_view
from kvplan.render.fabric.tables import CABLES, OPTICS
from kvplan.render.text import view_text
from kvplan.reporting import html_report, markdown_report
from kvplan.schema.price_book import QuoteTerms

if TYPE_CHECKING:
    from kvplan.schema.bom import Bom
    from kvplan.schema.design import Design

OPEN = 8
"""Uplinks that are open."""


@cache
def open_design() -> Design:
    """Ask for four spines over copper: no copper cable divides a cage between two of them."""
    return built(4, fabric={"min_spines": 4}, cabling={"medium": "copper"})


@cache
def open_bill() -> Bom:
    """Quote it."""
    return bill(plan_of(4), open_design(), terms=QuoteTerms(date=DAY))


def test_links_without_a_cable_are_no_lines_and_are_not_counted() -> None:
    design, made = open_design(), open_bill()
    bought = len(design.cables) - OPEN
    cables = [line for line in made.lines if line.key.startswith("cable/") and line.group == "cabling"]
    ends = sum(1 + len(cable.b) for cable in design.cables if cable.family)
    assert sum(line.quantity for line in cables) == bought == len(design.bought_cables)
    assert (made.counts["cable"], made.counts["cable-end"]) == (bought, ends)
    assert not any("cable//" in line.key for line in made.lines)


def test_a_bill_without_all_cables_is_an_error() -> None:
    assert findings(open_bill(), "cables-open") == ["8 links have no cable: see cable-missing"]
    assert [finding.severity for finding in open_bill().findings if finding.id == "cables-open"] == ["error"]
    whole = bill(plan_of(8), built(8), terms=QuoteTerms(date=DAY))
    assert findings(whole, "cables-open") == []


def test_the_export_has_no_row_for_them() -> None:
    rows = list(csv.DictReader(io.StringIO(rows_csv(*bom_rows(open_bill())))))
    assert len(rows) == len(open_bill().lines)
    assert all(row["key"].rpartition("/")[0] != "cable/" for row in rows)


def test_the_workbook_lists_them_without_a_cable() -> None:
    book = opened(workbook(plan_of(4), open_design(), open_bill()), values=True)
    rows = list(book["Cable schedule"].iter_rows(values_only=True))
    header = next(row for row in rows if "Family" in row)
    columns = {str(title): place for place, title in enumerate(header)}
    shown = [row for row in rows if row[columns["Family"]] == "none"]
    assert len(shown) == sum(len(cable.b) for cable in open_design().cables if not cable.family)
    for title in ("Pieces", "Length [m]", "Medium", "Part number"):
        assert {row[columns[title]] for row in shown} <= {None, ""}, title
    assert sum(row[columns["Pieces"]] == 1 for row in rows) == len(open_design().cables) - OPEN
    assert f"{len(open_design().cables) - OPEN} cables." in str(rows[1][0])
    points = [cell for row in book["Open points"].iter_rows(values_only=True) for cell in row]
    assert "8 links have no cable: see cable-missing" in points


def test_the_page_and_the_document_show_them_as_none() -> None:
    for write in (html_report, markdown_report):
        text = write(plan_of(4), open_design(), open_bill(), catalogue=load_catalogue())
        assert "8 links have no cable: see cable-missing" in text
        assert "leaf to spine" in text
    assert "| leaf to spine | none |  |  | 8 |" in text


def test_the_summary_and_the_tables_of_the_network_show_them_as_none() -> None:
    design = open_design()
    summary = view_text(network_view(design))
    assert f"{len(design.cables) - OPEN} cables, 0 transceivers, 8 links without a cable" in summary
    names, rows = CABLES.whole(design)
    open_rows = [dict(zip(names, row, strict=True)) for row in rows if not row[names.index("family")]]
    assert {(row["part_number"], row["medium"], row["length_m"]) for row in open_rows} == {("", "", "")}
    assert all(row["needed_m"] for row in open_rows)
    assert any("none" in row for row in CABLES.brief(design).rows)
    assert OPTICS.brief(design).rows == ()


def test_netbox_gets_them_without_type_and_length() -> None:
    names = {cable.id for cable in open_design().cables if not cable.family}
    rows = list(csv.DictReader(io.StringIO(netbox_files(open_design(), {}, site="hall")["08-cables.csv"])))
    found = [row for row in rows if row["label"].partition("/")[0] in names]
    assert found
    assert {(row["type"], row["length"], row["length_unit"]) for row in found} == {("", "", "")}
