"""One storage node and one GPU server taken apart: what is in it and what it costs."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from kvplan.bom import headings
from kvplan.bom.workbook.cells import Column, Formula, TableRef, widths_of
from kvplan.bom.workbook.totals import NO_PRICE
from kvplan.units import TB, format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.bom.workbook.cells import Cell
    from kvplan.bom.workbook.context import Context
    from kvplan.bom.workbook.layout import Layout
    from kvplan.bom.workbook.sheet import Sheet
    from kvplan.schema.bom import BomLine
    from kvplan.schema.kit import GroupId

_PARTS: tuple[tuple[GroupId, str], ...] = (("storage", "One storage node"), ("clients", "One GPU server"))
_WHAT = 3
"""The column of descriptions, in which the facts and the label of the sum stand too."""


def node_sheet(context: Context) -> None:
    """Write the sheet."""
    columns = _columns(context.bom.currency)
    sheet = context.sheet("Node build", widths_of(columns))
    sheet.title("Node build", "What is in one node, from the lines of the sheet BOM. Options are left out of the sums.")
    sheet.freeze(1)
    _facts(context, sheet)
    for group, title in _PARTS:
        majors = [line for line in context.bom.lines if line.group == group and not line.parent]
        if not majors:
            sheet.caption(title)
            sheet.note("Not quoted.", "muted")
        for major in majors:
            minors = [line for line in context.bom.lines if line.parent == major.line]
            sheet.caption(f"{title if major == majors[0] else major.description} (line {major.line})")
            _build(context.layout, sheet, columns, (major, *minors))
            sheet.row += 1
    sheet.finish(context.bom.plan_sha256)


def _columns(currency: str) -> tuple[Column, ...]:
    """Return the columns of a node taken apart."""
    return (
        Column("Line", ("text",), 8),
        Column("Vendor", width=14),
        Column(headings.PART_NUMBER, width=24),
        Column("Description", width=52),
        Column("In one", ("count",), 9),
        Column("Unit", ("text",), 10),
        Column(f"Net [{currency}]", ("money",), 16),
        Column(f"In one [{currency}]", ("money",), 18),
    )


def _build(layout: Layout, sheet: Sheet, columns: tuple[Column, ...], lines: tuple[BomLine, ...]) -> None:
    """Take one major line apart and add up what is in one of it."""
    body = sheet.table(columns, (_row(layout, line, line == lines[0]) for line in lines))
    table, money = TableRef.of(columns), columns[-1].title
    prices = [value for line in lines if not line.optional and (value := _in_one(line, line == lines[0])) is not None]
    options = [row for row, line in zip(body, lines, strict=True) if line.optional and line.priced]
    total = _total(table.rows(money, body), [table.cell(money, row) for row in options], prices)
    for column in range(len(columns)):
        sheet.put(sheet.row, column, None, "total")
    sheet.put(sheet.row, _WHAT, _label(layout, lines), "total", "text")
    sheet.put(sheet.row, sheet.last, total, "money", "total")
    sheet.row += 1


def _row(layout: Layout, line: BomLine, is_major: bool) -> tuple[Cell, ...]:  # noqa: FBT001 - one row
    """Give the row of one line; the major line itself is there once."""
    count: Cell = 1 if is_major else Formula(f"={layout.cell(line, 'per')}", line.quantity_per_parent)
    head = (line.line, line.vendor, line.part_number, line.description, count, line.unit)
    if not line.priced:
        return (*head, None, None)
    net = layout.cell(line, "net")
    per = "1" if is_major else layout.cell(line, "per")
    here = _in_one(line, is_major)
    in_one = Formula(f'=IF({net}="","",{net}*{per})', "" if here is None else here)
    return (*head, layout.copy(line, "net", line.net_price), in_one)


def _in_one(line: BomLine, is_major: bool) -> Decimal | None:  # noqa: FBT001 - one row
    """Work out what a line costs in one node; nothing where nobody gave a price."""
    if line.net_price is None:
        return None
    return line.net_price * (1 if is_major else line.quantity_per_parent)


def _label(layout: Layout, lines: tuple[BomLine, ...]) -> Formula:
    """Name the sum, and say when prices are missing."""
    counted = [line for line in lines if line.priced and not line.optional]
    missing = sum(line.net_price is None for line in counted)
    terms = "+".join(f'({layout.cell(line, "counted")}="{NO_PRICE}")' for line in counted) or "0"
    text = f'=IF({terms}=0,"One in all","One in all (incomplete: "&({terms})&" without a price)")'
    return Formula(text, f"One in all (incomplete: {missing} without a price)" if missing else "One in all")


def _total(cells: str, options: list[str], prices: list[Decimal]) -> Formula:
    """Add up what has a price, less the options; without any price there is no sum."""
    less = ",".join(options)
    counted, added = (f"{name}({cells})" + (f"-{name}({less})" if less else "") for name in ("COUNT", "SUM"))
    return Formula(f'=IF({counted}=0,"",{added})', sum(prices, Decimal(0)) if prices else "")


def _facts(context: Context, sheet: Sheet) -> None:
    """Say what one storage node brings, beside its parts."""
    sheet.caption("What one storage node brings")
    for title, text in _brings(context):
        sheet.put(sheet.row, 0, title, "muted", "text")
        sheet.put(sheet.row, _WHAT, text, "text")
        sheet.row += 1
    sheet.row += 1


def _brings(context: Context) -> Iterator[tuple[str, str]]:
    """List what one storage node brings."""
    profile, parts = context.plan.profile, context.plan.parts
    device = next((device for device in context.design.devices if device.role == "storage"), None)
    drives = f"{profile.drives_per_node} x {format_bytes(profile.drive_bytes)}"
    yield "Drives", f"{drives}: {profile.drives_per_node * profile.drive_bytes / TB:,.1f} TB raw"
    clients, storage = parts.client_nic.title or parts.client_nic.id, parts.storage_nic.title or parts.storage_nic.id
    yield "Adapters", f"{parts.client_nics} x {clients} to clients, {parts.storage_nics} x {storage} between nodes"
    if device:
        yield "Power", f"{device.power_typical_w:,.0f} W typical, {device.power_max_w:,.0f} W at most, at the wall"
        yield "Supplies", f"{device.psu_count}" + (f" x {device.psu_w:,.0f} W" if device.psu_w else "")
        yield "Size and weight", f"{device.rack_units} U, {device.weight_kg:,.0f} kg"
