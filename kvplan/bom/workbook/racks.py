"""Rack elevations: a column for each rack, a row for each unit, devices as coloured blocks, in bands that print."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.arithmetic import ceil_div
from kvplan.render.fabric.racks_alike import load_of
from kvplan.render.fabric.words import title
from kvplan.schema.roles import ROLE_NOUNS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kvplan.bom.workbook.context import Context
    from kvplan.bom.workbook.sheet import Sheet
    from kvplan.schema.design import Device, Rack

_BAND = 10
"""At most so many racks stand side by side on a page."""
_UNIT_WIDTH, _NARROW, _WIDE = 5, 18, 36
_UNIT_HEIGHT_PT, _AROUND_PT = 12, 136
_PAGE_PT, _PT_PER_CHARACTER = (784, 516), 5.25
"""What A4 has between its margins, across and down; and the width of a character as columns are measured."""


def racks_sheet(context: Context) -> None:
    """Write the sheet."""
    racks = context.design.racks
    bands = max(ceil_div(len(racks), _BAND), 1)
    across = max(ceil_div(len(racks), bands), 1)
    sheet = context.sheet("Rack elevation", _widths(across, max((rack.units for rack in racks), default=1)))
    sheet.title(
        "Rack elevation", "Seen from the front, unit 1 at the bottom. Power and weight: most, and what is allowed."
    )
    sheet.freeze(1)
    _legend(context, sheet, across)
    devices = context.design.by_rack()
    for index, band in enumerate(_bands(racks, across)):
        if index:
            sheet.breaks.append(sheet.row)
        _draw(sheet, band, devices)
    sheet.finish(context.bom.plan_sha256)


def _widths(across: int, units: int) -> tuple[float, ...]:
    """Make the sheet so wide that, brought to the width of a page, a band is no higher than one."""
    scale = min(_PAGE_PT[1] / (_AROUND_PT + units * _UNIT_HEIGHT_PT), 1)
    page = _PAGE_PT[0] / scale / _PT_PER_CHARACTER
    rack = min(_WIDE, max(_NARROW, (page - 2 * _UNIT_WIDTH) // across))
    drawn = (_UNIT_WIDTH, *[rack] * across, _UNIT_WIDTH)
    return (*drawn, max(page - sum(drawn), 1))


def _bands(racks: Sequence[Rack], across: int) -> Iterator[Sequence[Rack]]:
    """Part the racks into bands."""
    return (racks[start : start + across] for start in range(0, len(racks), across))


def _legend(context: Context, sheet: Sheet, across: int) -> None:
    """Say which colour is what."""
    present = {device.role for device in context.design.devices}
    roles = [role for role in ROLE_NOUNS if role in present]
    for index, role in enumerate(roles):
        row, column = sheet.row + index // across, 1 + index % across
        sheet.put(row, column, title(role), f"role-{role}", "middle", "small")
    sheet.row += ceil_div(len(roles), across) + 1


def _draw(sheet: Sheet, racks: Sequence[Rack], devices: Mapping[str, Sequence[Device]]) -> None:
    """Draw one band of racks with their captions."""
    units = max(rack.units for rack in racks)
    for offset, rack in enumerate(racks, start=1):
        sheet.put(sheet.row, offset, rack.name, "head", "middle")
        load = load_of(rack)
        for line, text in enumerate((load.power, load.weight), start=1):
            sheet.put(sheet.row + line, offset, text, "muted", "small", "middle")
    top = sheet.row + 3
    for unit in range(units, 0, -1):
        row = top + units - unit
        sheet.high(row, _UNIT_HEIGHT_PT)
        sheet.put(row, 0, unit, "unit")
        sheet.put(row, len(racks) + 1, unit, "unit")
    for offset, rack in enumerate(racks, start=1):
        _fill(sheet, rack, devices[rack.name], (top, offset, units))
    sheet.row = top + units + 1


def _fill(sheet: Sheet, rack: Rack, devices: Sequence[Device], place: tuple[int, int, int]) -> None:
    """Draw the devices of one rack and the units that are free."""
    top, column, units = place
    taken = {unit for device in devices for unit in device.units}
    for unit in range(1, rack.units + 1):
        if unit not in taken:
            sheet.put(top + units - unit, column, None, "free")
    for device in devices:
        _block(sheet, device, top + units - device.units[-1], column)


def _block(sheet: Sheet, device: Device, row: int, column: int) -> None:
    """Draw one device."""
    style = (f"role-{device.role}", "middle", "small")
    if device.rack_units > 1:
        sheet.paper.merge_range(row, column, row + device.rack_units - 1, column, "", sheet.styles(*style))
    sheet.put(row, column, device.name, *style)
