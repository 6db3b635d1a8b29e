"""The first sheet: what is offered, what it comes to, how complete it is, and what to know before signing."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from kvplan.bom.notices import PRICE_MISSING
from kvplan.bom.workbook.cells import Column, Formula, TableRef, quoted
from kvplan.bom.workbook.counts import differs_formula
from kvplan.bom.workbook.names import LINE_COUNTED, LINE_EXTENDED, LINE_GROUP, LINES, MISSING, TOTAL
from kvplan.bom.workbook.totals import (
    NO_PRICE,
    OPTION,
    YES,
    missing_severity,
    missing_text,
    total_label,
)
from kvplan.core.ece.strips import survival_words
from kvplan.render.notices import all_found
from kvplan.schema.base import gravest_first
from kvplan.schema.design import Finding
from kvplan.schema.kit import GROUP_TITLES
from kvplan.units import GB, TB, counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.bom.workbook.cells import Cell, Plain
    from kvplan.bom.workbook.context import Context
    from kvplan.bom.workbook.sheet import Sheet
    from kvplan.schema.bom import BomGroup

_WIDTHS = (34, 58, 3, 42, 8, 13, 19)
_RIGHT = 3
_WHERE = (Column("Severity and where"),)


def summary_sheet(context: Context) -> None:
    """Write the sheet."""
    bom, plan = context.bom, context.plan
    sheet = context.sheet("Summary", _WIDTHS)
    sheet.title(
        f"Quote: shared KV-cache storage for {plan.request.model}",
        f"{_excluded(context)} Prices in {bom.currency}, valid until {bom.valid_until}.",
    )
    sheet.freeze(1)
    _alarm(context, sheet)
    top = sheet.row
    left = _facts(context, sheet, top)
    right = _totals(context, sheet, top)
    sheet.row = max(left, right) + 1
    _warnings(context, sheet)
    sheet.finish(bom.plan_sha256)


def _alarm(context: Context, sheet: Sheet) -> None:
    """Say in red, in the row above the tables, that counts were typed that are not the plan's."""
    row = sheet.row - 1
    sheet.span(row, 0, sheet.last, differs_formula(context.counts), "text")
    rule = {"type": "formula", "criteria": f'=$A${row + 1}<>""', "format": sheet.styles.difference("wrong")}
    sheet.paper.conditional_format(row, 0, row, sheet.last, rule)


def _facts(context: Context, sheet: Sheet, top: int) -> int:
    """Write what is offered on the left and return the row after it."""
    sheet.span(top, 0, 1, "What is offered", "head")
    row = top + 1
    for title, value, style in _offer(context):
        sheet.fit(row, 1, value)
        sheet.put(row, 0, title, "cell", "muted")
        sheet.put(row, 1, value, "cell", style, "flush")
        row += 1
    return row


def _offer(context: Context) -> Iterator[tuple[str, Plain, str]]:
    """List the facts of the offer, each with the look of its value."""
    plan, design, bom = context.plan, context.design, context.bom
    profile, request = plan.profile, plan.request
    tolerance = profile.fault_tolerance
    yield "Model", request.model, "wrap"
    yield "Context [tokens]", request.context_tokens, "count"
    servers = counted(plan.network.client_servers, "server")
    yield "GPUs", f"{request.gpus:,} x {plan.parts.gpu.title or request.gpu}, {servers}", "wrap"
    yield "Profile", f"{profile.name} ({profile.title})", "wrap"
    yield "Storage nodes", profile.nodes, "count"
    yield "Erasure code", profile.erasure_code, "text"
    yield "Raw capacity [TB]", profile.raw_bytes / TB, "one"
    yield "Usable capacity [TB]", profile.usable_bytes / TB, "one"
    yield "Reads [GB/s]", profile.read_bytes_per_s / GB, "one"
    yield "Writes [GB/s]", profile.write_bytes_per_s / GB, "one"
    yield "Survives", survival_words(tolerance.node_failures, tolerance.further_device_failures), "wrap"
    yield "Switches", context.switches(), "wrap"
    yield "Racks, GPU servers included", len(design.racks), "count"
    yield "Power at most, GPU servers included [kW]", design.power_w.most / 1000, "one"
    yield "Plan", f"{bom.plan_sha256[:12]} (kvplan {plan.kvplan_version}, catalogue {plan.catalogue.version})", "wrap"
    yield "Date", bom.date, "date"
    yield "Valid until", bom.valid_until, "date"
    yield "Currency", bom.currency, "text"
    points = len(plan.open_points)
    yield "Assumed, to be confirmed", f"{counted(points, 'value')}, listed on the sheet Open points", "wrap"


def _totals(context: Context, sheet: Sheet, top: int) -> int:
    """Write what the groups come to on the right and return the row after it."""
    bom = context.bom
    money = f"Net [{bom.currency}]"
    columns = (
        Column("Group", ("text",)), Column("Lines", ("count",)), Column("Without price", ("count",)),
        Column(money, ("money",)),
    )  # fmt: skip
    table = TableRef.of(columns, _RIGHT)
    sheet.row = top
    sheet.head(columns, first=_RIGHT)
    first = sheet.row
    for group in bom.groups:
        sheet.line(columns, _group(group, table.cell("Group", sheet.row)), first=_RIGHT)
    body = range(first, sheet.row)
    total = f'=IF({LINES}={MISSING},"",SUM({table.rows(money, body)}))'
    sums = (
        (LINES, Formula(f"=SUM({table.rows('Lines', body)})", sum(group.lines for group in bom.groups)), "count"),
        (MISSING, Formula(f"=SUM({table.rows('Without price', body)})", bom.missing), "count"),
        (TOTAL, Formula(total, bom.total if bom.priced else ""), "money"),
    )
    sheet.put(sheet.row, _RIGHT, total_label(bom), "total", "text")
    for column, (name, value, style) in enumerate(sums, start=_RIGHT + 1):
        sheet.put(sheet.row, column, value, style, "total")
        context.name_cell(name, sheet, sheet.row, column)
    sheet.row += 1
    _below(context, sheet)
    return sheet.row


def _group(group: BomGroup, title: str) -> tuple[Cell, ...]:
    """Give the row of one group, whose title stands in a cell."""
    criteria = f"{LINE_GROUP},{title},{LINE_COUNTED}"
    yes, no_price = (f'COUNTIFS({criteria},"{flag}")' for flag in (YES, NO_PRICE))
    total = f'=IF({yes}=0,"",SUMIFS({LINE_EXTENDED},{criteria},"{YES}"))'
    return (
        GROUP_TITLES[group.id],
        Formula(f"={yes}+{no_price}", group.lines),
        Formula(f"={no_price}", group.missing),
        Formula(total, group.total if group.priced else ""),
    )


def _below(context: Context, sheet: Sheet) -> None:
    """Say below the total what is not in it, and what the colours mean."""
    if any(line.optional and line.priced for line in context.bom.lines):
        _options(context, sheet)
    last = sheet.last
    for text in (_excluded(context), "A price that nobody gave is blank, never 0."):
        sheet.span(sheet.row, _RIGHT, last, text, "muted", "text")
        sheet.row += 1
    sheet.row += 1
    sheet.put(sheet.row, _RIGHT, "Input: type over it, all sheets follow", "input", "locked", "text")
    sheet.put(sheet.row + 1, _RIGHT, "Price missing: fill it in on the sheet BOM", "missing", "text")
    sheet.span(sheet.row + 2, _RIGHT, last, "All other cells are protected, without a password.", "muted", "text")
    sheet.row += 3


def _options(context: Context, sheet: Sheet) -> None:
    """Add up the options that have a price, and say how many have none."""
    options = [line for line in context.bom.lines if line.optional and line.priced]
    prices = [line.extended for line in options if line.extended is not None]
    # What is no number, a blank price, is not above or equal to 0.
    priced = f'COUNTIFS({LINE_COUNTED},"{OPTION}",{LINE_EXTENDED},">=0")'
    missing = f"({len(options)}-{priced})"
    label = f"Options, not in the total ({len(options)}"
    text = f'="{label}"&IF({missing}=0,")",", "&{missing}&" without a price)")'
    lacking = len(options) - len(prices)
    sheet.put(
        sheet.row, _RIGHT, Formula(text, label + (f", {lacking} without a price)" if lacking else ")")), "muted", "text"
    )
    total = f'=IF({priced}=0,"",SUMIFS({LINE_EXTENDED},{LINE_COUNTED},"{OPTION}"))'
    sheet.put(sheet.row, sheet.last, Formula(total, sum(prices, Decimal(0)) if prices else ""), "money", "muted")
    sheet.row += 1


def _excluded(context: Context) -> str:
    """Say what the total leaves out; freight only where no line is for it."""
    if any(line.topic == "freight" for line in context.bom.lines):
        return "Taxes and duties are excluded; freight is a line of the services."
    return "Taxes, duties and freight are excluded."


def _warnings(context: Context, sheet: Sheet) -> None:
    """List what the plan, the design and the prices gave warning of, the gravest first."""
    found = gravest_first(all_found(context.plan, context.design, context.bom))
    sheet.caption("Warnings and findings, the gravest first")
    sheet.wide_head(_WHERE, "What was found")
    for item in found:
        place = (item.where if isinstance(item, Finding) else "") or item.id
        if item.id == PRICE_MISSING:
            kind = missing_severity(context.bom, item.severity)
            where = Formula(f"{kind.text}&{quoted(f': {place}')}", f"{kind.value}: {place}")
            sheet.wide_line((where, missing_text(context.bom)), 1)
        else:
            sheet.wide_line((f"{item.severity}: {place}", item.text), 1)
    if not found:
        sheet.note("none", "muted")
