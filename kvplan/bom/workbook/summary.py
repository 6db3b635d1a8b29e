"""The first sheet: what is offered, what it comes to, how complete it is, and what to know before signing."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from kvplan.bom.workbook.counts import NAMES
from kvplan.bom.workbook.lines import NO_PRICE, OPTION, YES
from kvplan.bom.workbook.names import LINE_COUNTED, LINE_EXTENDED, LINE_GROUP, MISSING, TOTAL
from kvplan.bom.workbook.sheet import Column, Formula
from kvplan.bom.workbook.styles import GRAVITY
from kvplan.core.ece.strips import survival_words
from kvplan.render.notices import plan_warnings
from kvplan.schema.kit import GROUP_TITLES
from kvplan.units import GB, TB, counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.bom.workbook.quote import Quote
    from kvplan.bom.workbook.sheet import Cell, Plain, Sheet
    from kvplan.schema.bom import BomGroup
    from kvplan.schema.roles import Role

_WIDTHS = (30, 47, 3, 42, 8, 13, 19)
_RIGHT = 3
_FREIGHT = "kit/freight"
_TOTALS_HEAD = ("Group", 42, ("text",)), ("Lines", 8, ("count",)), ("Without price", 13, ("count",))
_WHERE = (Column("Severity and where", 30),)


def summary_sheet(quote: Quote) -> None:
    """Write the sheet."""
    bom, plan = quote.bom, quote.plan
    sheet = quote.sheet("Summary", _WIDTHS)
    sheet.title(
        f"Quote: shared KV-cache storage for {plan.request.model}",
        f"{_excluded(quote)} Prices in {bom.currency}, valid until {bom.valid_until}.",
    )
    sheet.freeze(1)
    top = sheet.row
    left = _facts(quote, sheet, top)
    right = _totals(quote, sheet, top)
    sheet.row = max(left, right) + 1
    _warnings(quote, sheet)
    sheet.finish(bom.plan_sha256)


def _facts(quote: Quote, sheet: Sheet, top: int) -> int:
    """Write what is offered on the left and return the row after it."""
    sheet.span(top, 0, 1, "What is offered", "head")
    row = top + 1
    for title, value, style in _offer(quote):
        sheet.fit(row, 1, value)
        sheet.put(row, 0, title, "cell", "muted")
        sheet.put(row, 1, value, "cell", style, "flush")
        row += 1
    return row


def _offer(quote: Quote) -> Iterator[tuple[str, Plain, str]]:
    """List the facts of the offer, each with the look of its value."""
    plan, design, bom = quote.plan, quote.design, quote.bom
    profile, request = plan.profile, plan.request
    tolerance = profile.fault_tolerance
    nodes = profile.nodes
    yield "Model", request.model, "wrap"
    yield "Context [tokens]", request.context_tokens, "count"
    servers = counted(plan.network.client_servers, "server")
    yield "GPUs", f"{request.gpus:,} x {plan.parts.gpu.title or request.gpu}, {servers}", "wrap"
    yield "Profile", f"{profile.name} ({profile.title})", "wrap"
    yield "Storage nodes", Formula(f"={NAMES['storage-node']}", nodes), "count"
    yield "Erasure code", profile.erasure_code, "text"
    yield "Raw capacity [TB]", profile.raw_bytes / TB, "one"
    yield "Usable capacity [TB]", profile.usable_bytes / TB, "one"
    yield "Reads [GB/s]", profile.read_bytes_per_s / GB, "one"
    yield "Writes [GB/s]", profile.write_bytes_per_s / GB, "one"
    yield "Survives", survival_words(tolerance.node_failures, tolerance.further_device_failures), "wrap"
    yield "Switches", _count_roles(quote, ("leaf", "spine", "super-spine", "management-switch")), "wrap"
    yield "Racks", len(design.racks), "count"
    yield "Power at most [kW]", sum(rack.power_max_w for rack in design.racks) / 1000, "one"
    yield "Plan", f"{bom.plan_sha256[:12]} (kvplan {plan.kvplan_version}, catalogue {plan.catalogue.version})", "wrap"
    yield "Date", bom.date, "date"
    yield "Valid until", bom.valid_until, "date"
    yield "Currency", bom.currency, "text"
    points = len(plan.open_points)
    yield "Assumed, to be confirmed", f"{counted(points, 'value')}, listed on the sheet Open points", "wrap"


def _count_roles(quote: Quote, roles: tuple[Role, ...]) -> str:
    """Count the devices of some roles."""
    numbers = {role: sum(device.role == role for device in quote.design.devices) for role in roles}
    return ", ".join(f"{number} {role.removesuffix('-switch')}" for role, number in numbers.items() if number) or "none"


def _totals(quote: Quote, sheet: Sheet, top: int) -> int:
    """Write what the groups come to on the right and return the row after it."""
    bom = quote.bom
    columns = (*(Column(*item) for item in _TOTALS_HEAD), Column(f"Net [{bom.currency}]", 19, ("money",)))
    sheet.row = top
    sheet.head(columns, first=_RIGHT)
    first = sheet.row
    for group in bom.groups:
        sheet.line(columns, _group(sheet, group), first=_RIGHT)
    last = sheet.row
    lines, missing, total = (f"SUM({letter}{first + 1}:{letter}{last})" for letter in "EFG")
    number = sum(item.lines for item in bom.groups)
    sheet.put(sheet.row, _RIGHT, _total_label(bom.missing), "total", "text")
    sheet.put(sheet.row, _RIGHT + 1, Formula(f"={lines}", number), "count", "total")
    sheet.put(sheet.row, _RIGHT + 2, Formula(f"={missing}", bom.missing), "count", "total")
    known = Formula(f'=IF({lines}={missing},"",{total})', bom.total if number > bom.missing else "")
    sheet.put(sheet.row, _RIGHT + 3, known, "money", "total")
    quote.name_cell(MISSING, sheet, sheet.row, _RIGHT + 2)
    quote.name_cell(TOTAL, sheet, sheet.row, _RIGHT + 3)
    _below(quote, sheet)
    return sheet.row


def _group(sheet: Sheet, group: BomGroup) -> tuple[Cell, ...]:
    """Give the row of one group."""
    criteria = f"{LINE_GROUP},$D{sheet.row + 1},{LINE_COUNTED}"
    yes, no_price = (f'COUNTIFS({criteria},"{flag}")' for flag in (YES, NO_PRICE))
    known = group.total if group.lines > group.missing else ""
    total = f'=IF({yes}=0,"",SUMIFS({LINE_EXTENDED},{criteria},"{YES}"))'
    lines = Formula(f"={yes}+{no_price}", group.lines)
    return GROUP_TITLES[group.id], lines, Formula(f"={no_price}", group.missing), Formula(total, known)


def _total_label(missing: int) -> Formula:
    """Name the total, honestly."""
    lines = f'{MISSING}&IF({MISSING}=1," line"," lines")'
    incomplete = f"Total (incomplete: {counted(missing, 'line')} without a price)"
    text = f'=IF({MISSING}=0,"Total","Total (incomplete: "&{lines}&" without a price)")'
    return Formula(text, incomplete if missing else "Total")


def _below(quote: Quote, sheet: Sheet) -> None:
    """Say below the total what is not in it."""
    options = [line for line in quote.bom.lines if line.optional and line.priced]
    sheet.row += 1
    if options:
        total = sum((line.extended or Decimal(0) for line in options), Decimal(0))
        text = f'=SUMIFS({LINE_EXTENDED},{LINE_COUNTED},"{OPTION}")'
        sheet.put(sheet.row, _RIGHT, f"Options, not in the total ({len(options)})", "text", "muted")
        sheet.put(sheet.row, _RIGHT + 3, Formula(text, total), "money", "muted")
        sheet.row += 1
    last = _RIGHT + 3
    for text in (_excluded(quote), "A price that nobody gave is blank, never 0."):
        sheet.span(sheet.row, _RIGHT, last, text, "muted", "text")
        sheet.row += 1
    sheet.row += 1
    sheet.put(sheet.row, _RIGHT, "Input: type over it, all sheets follow", "input", "text")
    sheet.put(sheet.row + 1, _RIGHT, "Price missing: fill it in on the sheet BOM", "missing", "text")
    sheet.span(sheet.row + 2, _RIGHT, last, "All other cells are protected, without a password.", "muted", "text")
    sheet.row += 3


def _excluded(quote: Quote) -> str:
    """Say what the total leaves out; freight only where no line is for it."""
    if any(line.key == _FREIGHT for line in quote.bom.lines):
        return "Taxes and duties are excluded; freight is a line of the services."
    return "Taxes, duties and freight are excluded."


def _warnings(quote: Quote, sheet: Sheet) -> None:
    """List what the plan, the design and the prices gave warning of, the gravest first."""
    plan, design, bom = quote.plan, quote.design, quote.bom
    found = [(item.severity, item.id, item.text) for item in plan_warnings(plan)]
    found += [(item.severity, item.where or item.id, item.text) for item in (*design.findings, *bom.findings)]
    found.sort(key=lambda item: GRAVITY[item[0]])
    numbers = ", ".join(counted(sum(item[0] == kind for item in found), kind) for kind in ("error", "warning"))
    sheet.caption(f"Warnings and findings: {numbers}")
    sheet.wide_head(_WHERE, "What was found")
    for severity, where, text in found:
        sheet.wide_line((f"{severity}: {where}", text), 1)
    if not found:
        sheet.note("none", "muted")
