"""Power and heat: each kind of device, each rack against what its feeds may carry, and every device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.bom.workbook.cells import Column, Formula, Styled, TableRef, widths_of
from kvplan.bom.workbook.names import HEAT
from kvplan.core.arithmetic import ceil_div
from kvplan.core.design.power import FEEDS
from kvplan.render.fabric.words import title
from kvplan.units import BTU_PER_WATT_HOUR

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kvplan.bom.workbook.cells import Cell
    from kvplan.bom.workbook.context import Context
    from kvplan.bom.workbook.sheet import Sheet
    from kvplan.schema.design import Device, Rack

_W = ("count",)
_TYPICAL, _MOST, _HEAT, _WEIGHT = "Typical [W]", "At most [W]", "Heat [BTU/h]", "Weight [kg]"
_CARRIES, _LOST = "One feed carries [W]", "One feed lost"
_SUMS = (Column(_TYPICAL, _W, 12), Column(_MOST, _W, 12), Column(_HEAT, _W, 13), Column(_WEIGHT, _W, 11))
_DEVICES = (
    Column("Device", width=20), Column("Model", width=26), Column("Unit", _W, 9), Column("Rack", ("text",), 12),
    Column("Role", ("text",), 18), Column(_CARRIES, _W, 13), Column(_LOST, ("text",), 11), *_SUMS,
    Column("Supplies on A", _W, 12), Column("Supplies on B", _W, 12), Column("Supply [W]", _W, 11),
    Column("Inlet", ("text",), 9),
)  # fmt: skip
_KINDS = (
    Column("Kind"), Column("Model"), Column("Devices", _W), Column("Typical each [W]", _W), Column("Most each [W]", _W),
    Column(_CARRIES, _W), Column(_LOST, ("text",)), *_SUMS,
    Column("Supplies each", _W), Column("Supply [W]", _W), Column("Inlet", ("text",)),
)  # fmt: skip
_RACKS = (
    Column("Rack"), Column(_LOST), Column("Units used", _W), Column("Feed A, both up [W]", _W),
    Column("Feed B, both up [W]", _W), Column("Limit of a feed [W]", _W), Column("Power used [%]", ("percent1",)),
    *_SUMS, Column("Weight limit [kg]", _W), Column("Weight used [%]", ("percent1",)),
)  # fmt: skip
_NAMED = {
    "Model": "DeviceModel",
    "Rack": "DeviceRack",
    "Role": "DeviceRole",
    _LOST: "DeviceOneFeed",
    _TYPICAL: "DeviceTypical",
    _MOST: "DeviceMost",
    _WEIGHT: "DeviceWeight",
    "Supplies on A": "DeviceSuppliesA",
    "Supplies on B": "DeviceSuppliesB",
}
"""Columns of the devices that the tables above them add up, by name."""
_ADDED = ("Devices", "Units used", _TYPICAL, _MOST, _HEAT, _WEIGHT)
_HOLDS, _OVER = "holds", "too much"


def power_sheet(context: Context) -> None:
    """Write the sheet."""
    sheet = context.sheet("Power and heat", widths_of(_DEVICES))
    sheet.title(
        "Power and heat",
        "At the wall. The supplies of a device are shared out to two feeds, so those on either must carry the device, "
        "and either feed the whole load of a rack, when the other is lost. Heat is that of the highest load.",
    )
    sheet.freeze(1)
    _open(sheet, "By kind of device", _KINDS)
    _sums(sheet, _KINDS, [_write(sheet, _KINDS, _kind(kind, sheet.row)) for kind in _kinds(context.design.devices)])
    _open(sheet, "By rack", _RACKS)
    held = context.design.by_rack()
    racks = context.design.racks
    _sums(sheet, _RACKS, [_write(sheet, _RACKS, _rack(rack, held[rack.name], sheet.row)) for rack in racks])
    sheet.repeat(_open(sheet, "By device", _DEVICES))
    first = sheet.row
    for device in context.design.devices:
        sheet.line(_DEVICES, _device(device, sheet.row))
    for heading, name in _NAMED.items():
        context.name_cells(name, sheet, TableRef.of(_DEVICES).fixed(heading, range(first, sheet.row)))
    sheet.finish(context.bom.plan_sha256)


def _kinds(devices: Sequence[Device]) -> list[tuple[Device, ...]]:
    """Put devices of one role and model together, in the order in which they come."""
    kinds: dict[tuple[str, str], list[Device]] = {}
    for device in devices:
        kinds.setdefault((device.role, device.model), []).append(device)
    return [tuple(kind) for kind in kinds.values()]


def _open(sheet: Sheet, text: str, columns: Sequence[Column]) -> int:
    """Begin a table and return the row of its header."""
    sheet.caption(text)
    return sheet.head(columns)


def _write(sheet: Sheet, columns: Sequence[Column], values: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """Write a row and return it."""
    sheet.line(columns, values)
    return values


def _sums(sheet: Sheet, columns: Sequence[Column], rows: Sequence[tuple[Cell, ...]]) -> None:
    """Write the sums under a table."""
    table, body = TableRef.of(columns), range(sheet.row - len(rows), sheet.row)
    sheet.put(sheet.row, 0, "Total", "total")
    for index, column in enumerate(columns[1:], start=1):
        added = column.title in _ADDED
        total = Formula(f"=SUM({table.rows(column.title, body)})", sum(_number(row[index]) for row in rows))
        sheet.put(sheet.row, index, total if added else None, *column.style, "total")
    sheet.row += 2


def _number(cell: Cell) -> float:
    """Return the number that a cell of a summed column shows."""
    value = cell.value if isinstance(cell, Formula) else cell
    return value if isinstance(value, int | float) else 0


def _added(devices: Iterable[Device], most: str, *criteria: str) -> tuple[Formula, ...]:
    """Add up typical and highest power, heat and weight over the devices that fulfil some criteria."""
    found = tuple(devices)
    most_w = sum(device.power_max_w for device in found)
    sums = (f"=SUMIFS({_NAMED[heading]},{','.join(criteria)})" for heading in (_TYPICAL, _MOST, _WEIGHT))
    typical_sum, most_sum, weight_sum = sums
    return (
        Formula(typical_sum, sum(device.power_typical_w for device in found)),
        Formula(most_sum, most_w),
        Formula(f"={most}*{HEAT}", most_w * BTU_PER_WATT_HOUR),
        Formula(weight_sum, sum(device.weight_kg for device in found)),
    )


def _kind(kind: tuple[Device, ...], row: int) -> tuple[Cell, ...]:
    """Give the row of one kind of device, added up from the table of devices."""
    table, first, count = TableRef.of(_KINDS), kind[0], len(kind)
    number, typical, most, carries = (table.cell(name, row) for name in ("Devices", _TYPICAL, _MOST, _CARRIES))
    criteria = ("DeviceRole", table.cell("Kind", row), "DeviceModel", table.cell("Model", row))
    over = f'COUNTIFS({",".join(criteria)},DeviceOneFeed,"{_OVER}")'
    return (
        title(first.role),
        first.model,
        Formula(f"=COUNTIFS({','.join(criteria)})", count),
        Formula(f"={typical}/{number}", sum(device.power_typical_w for device in kind) / count),
        Formula(f"={most}/{number}", sum(device.power_max_w for device in kind) / count),
        first.one_feed_w,
        _verdict(f'IF({carries}="","",IF({over}=0,"{_HOLDS}","{_OVER}"))', *map(_one_feed, kind)),
        *_added(kind, most, *criteria),
        first.psu_count,
        first.psu_w,
        first.inlet,
    )


def _rack(rack: Rack, devices: Sequence[Device], row: int) -> tuple[Cell, ...]:
    """Give the row of one rack, added up from the table of devices."""
    table = TableRef.of(_RACKS)
    most, limit, weight, weight_limit = (
        table.cell(name, row) for name in (_MOST, "Limit of a feed [W]", _WEIGHT, "Weight limit [kg]")
    )
    name = table.cell("Rack", row)
    sums = _added(devices, most, "DeviceRack", name)
    holds = _HOLDS if rack.power_max_w <= rack.power_limit_w else _OVER
    return (
        rack.name,
        _verdict(f'IF({most}<={limit},"{_HOLDS}","{_OVER}")', holds),
        rack.used_units,
        *_feeds(devices, name),
        rack.power_limit_w,
        Formula(f"={most}/{limit}", _number(sums[1]) / rack.power_limit_w),
        *sums,
        rack.weight_limit_kg,
        Formula(f"={weight}/{weight_limit}", _number(sums[3]) / rack.weight_limit_kg),
    )


def _feeds(devices: Sequence[Device], rack: str) -> tuple[Formula, Formula]:
    """Share the highest load of a rack out to both feeds, as the supplies of each device are."""
    supplies = "DeviceSuppliesA+DeviceSuppliesB"
    texts = (f"=SUMPRODUCT((DeviceRack={rack})*DeviceMost*DeviceSupplies{feed}/({supplies}))" for feed in "AB")
    on_a = sum(device.power_max_w * _on_a(device) / device.psu_count for device in devices)
    on_b = sum(device.power_max_w * (device.psu_count - _on_a(device)) / device.psu_count for device in devices)
    text_a, text_b = texts
    return Formula(text_a, on_a), Formula(text_b, on_b)


def _device(device: Device, row: int) -> tuple[Cell, ...]:
    """Give the row of one device."""
    table = TableRef.of(_DEVICES)
    most, carries = table.cell(_MOST, row), table.cell(_CARRIES, row)
    holds = f'IF({carries}="","",IF({most}<={carries},"{_HOLDS}","{_OVER}"))'
    return (
        device.name,
        device.model,
        device.position_u,
        device.rack,
        title(device.role),
        device.one_feed_w,
        _verdict(holds, _one_feed(device)),
        device.power_typical_w,
        device.power_max_w,
        Formula(f"={most}*{HEAT}", device.power_max_w * BTU_PER_WATT_HOUR),
        device.weight_kg,
        _on_a(device),
        device.psu_count - _on_a(device),
        device.psu_w,
        device.inlet,
    )


def _on_a(device: Device) -> int:
    """Count the supplies on feed A, an odd one included."""
    return ceil_div(device.psu_count, FEEDS)


def _one_feed(device: Device) -> str:
    """Say whether the supplies on one feed carry a device; nothing where their rating is not known."""
    if device.one_feed_w is None:
        return ""
    return _HOLDS if device.power_max_w <= device.one_feed_w else _OVER


def _verdict(text: str, *words: str) -> Styled:
    """Give a verdict that stands out where it is bad; of several the worst."""
    worst = _OVER if _OVER in words else words[0]
    return Styled(Formula(f"={text}", worst), ("missing",) if worst == _OVER else ())
