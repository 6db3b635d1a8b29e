"""One storage node and one GPU server taken apart: what is in it and what it costs."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from kvplan.bom.workbook.sheet import Column, Formula
from kvplan.units import TB, format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.bom.workbook.layout import Layout
    from kvplan.bom.workbook.quote import Quote
    from kvplan.bom.workbook.sheet import Cell, Sheet
    from kvplan.schema.bom import BomLine
    from kvplan.schema.kit import GroupId

_WIDTHS = (8, 14, 24, 52, 9, 10, 16, 18)
_PARTS: tuple[tuple[GroupId, str], ...] = (("storage", "One storage node"), ("clients", "One GPU server"))


def node_sheet(quote: Quote) -> None:
    """Write the sheet."""
    sheet = quote.sheet("Node build", _WIDTHS)
    sheet.title("Node build", "What is in one node, from the lines of the sheet BOM. Options are left out of the sums.")
    sheet.freeze(1)
    _facts(quote, sheet)
    for group, title in _PARTS:
        majors = [line for line in quote.bom.lines if line.group == group and not line.parent]
        if not majors:
            sheet.caption(title)
            sheet.note("Not quoted.", "muted")
        for major in majors:
            minors = [line for line in quote.bom.lines if line.parent == major.line]
            _build(quote, sheet, title if major == majors[0] else major.description, (major, *minors))
            sheet.row += 1
    sheet.finish(quote.bom.plan_sha256)


def _build(quote: Quote, sheet: Sheet, title: str, lines: tuple[BomLine, ...]) -> None:
    """Take one major line apart and add up what is in one of it."""
    major = lines[0]
    sheet.caption(f"{title} (line {major.line})")
    money = quote.bom.currency
    columns = (
        Column("Line", 8, ("text",)),
        Column("Vendor", 14),
        Column("Part number", 24),
        Column("Description", 52),
        Column("In one", 9, ("count",)),
        Column("Unit", 10, ("text",)),
        Column(f"Net [{money}]", 16, ("money",)),
        Column(f"In one [{money}]", 18, ("money",)),
    )
    body = sheet.table(columns, (_row(quote.layout, line, line == major) for line in lines))
    _sum(quote, sheet, body, lines)


def _row(layout: Layout, line: BomLine, is_major: bool) -> tuple[Cell, ...]:  # noqa: FBT001 - one row
    """Give the row of one line; the major line itself is there once."""
    here = _in_one(line, is_major)
    count: Cell = 1 if is_major else Formula(f"={layout.cell(line, 'per')}", line.quantity_per_parent)
    head = (line.line, line.vendor, line.part_number, line.description, count, line.unit)
    if not line.priced:
        return (*head, None, None)
    net = layout.cell(line, "net")
    per = "1" if is_major else layout.cell(line, "per")
    return (*head, layout.copy(line, "net", line.net_price), Formula(f'=IF({net}="","",{net}*{per})', here))


def _in_one(line: BomLine, is_major: bool) -> Decimal | str:  # noqa: FBT001 - one row
    """Work out what a line costs in one node; nothing where nobody gave a price."""
    if line.net_price is None:
        return ""
    return line.net_price * (1 if is_major else line.quantity_per_parent)


def _sum(quote: Quote, sheet: Sheet, body: range, lines: tuple[BomLine, ...]) -> None:
    """Add up one node, with a label that says when prices are missing, and its share of the total."""
    counted = [line for line in lines if line.priced and not line.optional]
    missing = sum(line.net_price is None for line in counted)
    flags = [quote.layout.cell(line, "counted") for line in counted]
    terms = "+".join(f'({flag}="no price")' for flag in flags) or "0"
    first, last = body.start + 1, body.stop
    text = f'=IF({terms}=0,"One in all","One in all (incomplete: "&({terms})&" without a price)")'
    label = Formula(text, f"One in all (incomplete: {missing} without a price)" if missing else "One in all")
    prices = [Decimal(value) for line in counted if (value := _in_one(line, line == lines[0])) != ""]
    options = [body.start + 1 + index for index, line in enumerate(lines) if line.optional and line.priced]
    less = ",".join(f"H{row}" for row in options)
    for column in range(len(_WIDTHS)):
        sheet.put(sheet.row, column, None, "total")
    sheet.put(sheet.row, 3, label, "total", "text")
    sheet.put(sheet.row, 7, _total(f"H{first}:H{last}", less, prices), "money", "total")
    sheet.row += 1


def _total(cells: str, less: str, prices: list[Decimal]) -> Formula:
    """Add up what has a price; without any there is no sum."""
    total = sum(prices, Decimal(0)) if prices else ""
    counted, added = (f"{name}({cells})" + (f"-{name}({less})" if less else "") for name in ("COUNT", "SUM"))
    return Formula(f'=IF({counted}=0,"",{added})', total)


def _facts(quote: Quote, sheet: Sheet) -> None:
    """Say what one storage node brings, beside its parts."""
    sheet.caption("What one storage node brings")
    for title, text in _brings(quote):
        sheet.put(sheet.row, 0, title, "muted", "text")
        sheet.put(sheet.row, 3, text, "text")
        sheet.row += 1
    sheet.row += 1


def _brings(quote: Quote) -> Iterator[tuple[str, str]]:
    """List what one storage node brings."""
    profile, parts = quote.plan.profile, quote.plan.parts
    device = next((device for device in quote.design.devices if device.role == "storage"), None)
    drives = f"{profile.drives_per_node} x {format_bytes(profile.drive_bytes)}"
    yield "Drives", f"{drives}: {profile.drives_per_node * profile.drive_bytes / TB:,.1f} TB raw"
    clients, storage = parts.client_nic.title or parts.client_nic.id, parts.storage_nic.title or parts.storage_nic.id
    yield "Adapters", f"{parts.client_nics} x {clients} to clients, {parts.storage_nics} x {storage} between nodes"
    if device:
        yield "Power", f"{device.power_typical_w:,.0f} W typical, {device.power_max_w:,.0f} W at most, at the wall"
        yield "Supplies", f"{device.psu_count}" + (f" x {device.psu_w:,.0f} W" if device.psu_w else "")
        yield "Size and weight", f"{device.rack_units} U, {device.weight_kg:,.0f} kg"
