"""Put the workbook together."""

from __future__ import annotations

from datetime import datetime
from io import BytesIO
from typing import TYPE_CHECKING

from xlsxwriter import Workbook

from kvplan.bom.workbook.assumptions import assumptions_sheet
from kvplan.bom.workbook.cables import cables_sheet
from kvplan.bom.workbook.candidates import candidates_sheet
from kvplan.bom.workbook.context import Context
from kvplan.bom.workbook.counts import count_cells
from kvplan.bom.workbook.layout import Layout
from kvplan.bom.workbook.lines import lines_sheet
from kvplan.bom.workbook.network import network_sheet
from kvplan.bom.workbook.node import node_sheet
from kvplan.bom.workbook.points import points_sheet
from kvplan.bom.workbook.ports import ports_sheet
from kvplan.bom.workbook.power import power_sheet
from kvplan.bom.workbook.prices import prices_sheet
from kvplan.bom.workbook.racks import racks_sheet
from kvplan.bom.workbook.software import software_sheet
from kvplan.bom.workbook.styles import Styles
from kvplan.bom.workbook.summary import summary_sheet

if TYPE_CHECKING:
    from kvplan.schema.bom import Bom
    from kvplan.schema.design import Design
    from kvplan.schema.plan import Plan

_OPTIONS = {
    "in_memory": True,
    "strings_to_formulas": False,
    "strings_to_numbers": False,
    "strings_to_urls": False,
}
_SHEETS = (
    summary_sheet, lines_sheet, node_sheet, software_sheet, network_sheet, cables_sheet, ports_sheet, racks_sheet,
    power_sheet, candidates_sheet, assumptions_sheet, prices_sheet, points_sheet,
)  # fmt: skip


def workbook(plan: Plan, design: Design, bom: Bom) -> bytes:
    """Make the workbook of a quote.

    Quantities and money are formulas that carry the values of the bill of materials, so the file reads the same in
    programs that calculate and in those that do not.

    Parameters
    ----------
    plan
        The Plan that is quoted.
    design
        How it is racked, cabled and addressed.
    bom
        Its lines and prices.

    Returns
    -------
    bytes
        An Office Open XML workbook, byte-equal for equal records.
    """
    target = BytesIO()
    book = Workbook(target, _OPTIONS)
    created = datetime(bom.date.year, bom.date.month, bom.date.day)  # noqa: DTZ001 - a day, in no zone
    book.set_properties({
        "title": f"Quote: shared KV-cache storage for {plan.request.model}",
        "subject": f"plan {bom.plan_sha256[:12]}",
        "author": "kvplan",
        "comments": f"kvplan {plan.kvplan_version}, catalogue {plan.catalogue.version}, plan {bom.plan_sha256}",
        "created": created,
    })  # fmt: skip
    book.set_calc_mode("auto")
    counts = tuple(count_cells(plan, bom))
    context = Context(plan, design, bom, book, Styles(book, bom.currency), Layout(bom), counts)
    for write in _SHEETS:
        write(context)
    book.close()
    return target.getvalue()
