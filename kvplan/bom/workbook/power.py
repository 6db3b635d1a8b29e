"""Power and heat: each kind of device, each rack against what its feeds may carry, and every device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.bom.workbook.names import BTU, BTU_PER_HOUR_PER_W
from kvplan.bom.workbook.sheet import Column, Formula
from kvplan.bom.workbook.styles import ROLE_TITLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.bom.workbook.quote import Quote
    from kvplan.bom.workbook.sheet import Cell, Sheet
    from kvplan.schema.design import Device, Rack

_W = ("count",)
_KINDS = (
    Column("Kind", 20), Column("Model", 28), Column("Devices", 9, _W), Column("Typical each [W]", 12, _W),
    Column("Most each [W]", 17, _W), Column("Typical [W]", 12, _W), Column("At most [W]", 12, _W),
    Column("Heat [BTU/h]", 13, _W), Column("Supplies each", 11, _W), Column("Supply [W]", 11, _W),
    Column("One feed lost", 11, ("text",)), Column("Inlet", 9, ("text",)), Column("Weight [kg]", 11, _W),
)  # fmt: skip
_RACKS = (
    Column("Rack", 20), Column("Whole load on one feed", 28), Column("Units used", 9, _W),
    Column("Feed A, both up [W]", 12, _W), Column("Feed B, both up [W]", 17, _W), Column("Typical [W]", 12, _W),
    Column("At most [W]", 12, _W), Column("Heat [BTU/h]", 13, _W), Column("Limit of a feed [W]", 11, _W),
    Column("Used [%]", 11, ("percent1",)), Column("Weight limit [kg]", 11, _W),
    Column("Used [%]", 9, ("percent1",)), Column("Weight [kg]", 11, _W),
)  # fmt: skip
_DEVICES = (
    Column("Device", 20), Column("Model", 28), Column("Unit", 9, _W), Column("Rack", 12, ("text",)),
    Column("Role", 17, ("text",)), Column("Typical [W]", 12, _W), Column("At most [W]", 12, _W),
    Column("Heat [BTU/h]", 13, _W), Column("Supplies on A", 11, _W), Column("Supplies on B", 11, _W),
    Column("Supply [W]", 11, _W), Column("Inlet", 9, ("text",)), Column("Weight [kg]", 11, _W),
)  # fmt: skip
_SUMMED = "CFGHM"
_HOLDS, _OVER = "holds", "too much"


class _Inventory:
    """Ranges of the table of devices, which the tables above it add up."""

    def __init__(self, first: int, count: int) -> None:
        self._first, self._last = first + 1, max(first + count, first + 1)

    def column(self, letter: str) -> str:
        """Refer to a column of the table."""
        return f"${letter}${self._first}:${letter}${self._last}"

    def sum(self, letter: str, *criteria: str) -> str:
        """Add a column up over the devices that fulfil some criteria."""
        return f"=SUMIFS({self.column(letter)},{','.join(criteria)})"


def power_sheet(quote: Quote) -> None:
    """Write the sheet."""
    sheet = quote.sheet("Power and heat", [column.width for column in _KINDS])
    sheet.title(
        "Power and heat",
        "At the wall. The supplies of a device hang on both feeds, so either feed must carry a rack's whole load when "
        "the other is lost. Heat is that of the highest load.",
    )
    sheet.freeze(1)
    devices, racks = quote.design.devices, quote.design.racks
    kinds = _kinds(devices)
    # A table takes its rows, one each for caption, header and sum, and one to part it from the next.
    inventory = _Inventory(sheet.row + len(kinds) + 4 + len(racks) + 4 + 2, len(devices))
    _open(sheet, "By kind of device", _KINDS)
    for kind in kinds:
        sheet.line(_KINDS, _kind(kind, inventory, sheet.row + 1))
    _close(sheet, _KINDS, len(kinds), devices)
    _open(sheet, "By rack", _RACKS)
    for rack in racks:
        sheet.line(_RACKS, _rack(rack, quote.in_rack(rack.name), inventory, sheet.row + 1))
    _close(sheet, _RACKS, len(racks), devices)
    sheet.repeat(_open(sheet, "By device", _DEVICES))
    for device in devices:
        sheet.line(_DEVICES, _device(device, sheet.row + 1))
    sheet.finish(quote.bom.plan_sha256)


def _kinds(devices: Sequence[Device]) -> list[tuple[Device, ...]]:
    """Put devices of one role and model together, in the order in which they come."""
    kinds: dict[tuple[str, str], list[Device]] = {}
    for device in devices:
        kinds.setdefault((device.role, device.model), []).append(device)
    return [tuple(kind) for kind in kinds.values()]


def _open(sheet: Sheet, title: str, columns: Sequence[Column]) -> int:
    """Begin a table and return the row of its header."""
    sheet.caption(title)
    return sheet.head(columns)


def _close(sheet: Sheet, columns: Sequence[Column], rows: int, devices: Sequence[Device]) -> None:
    """Write the sums under a table."""
    sums = dict(zip(_SUMMED, _totals(columns, devices), strict=True))
    sheet.put(sheet.row, 0, "Total", "total")
    for index, column in enumerate(columns[1:], start=1):
        letter = chr(ord("A") + index)
        text = f"=SUM({letter}{sheet.row + 1 - rows}:{letter}{sheet.row})"
        value = Formula(text, sums[letter]) if letter in sums else None
        sheet.put(sheet.row, index, value, *column.style, "total")
    sheet.row += 2


def _totals(columns: Sequence[Column], devices: Sequence[Device]) -> tuple[float, ...]:
    """Add up what the summed columns hold, in their order."""
    units = sum(device.rack_units for device in devices)
    most = sum(device.power_max_w for device in devices)
    return (
        len(devices) if columns is _KINDS else units,
        sum(device.power_typical_w for device in devices),
        most,
        most * BTU_PER_HOUR_PER_W,
        sum(device.weight_kg for device in devices),
    )


def _kind(kind: tuple[Device, ...], inventory: _Inventory, row: int) -> tuple[Cell, ...]:
    """Give the row of one kind of device, added up from the table of devices."""
    first, count = kind[0], len(kind)
    typical, most = (sum(getattr(device, f"power_{name}_w") for device in kind) for name in ("typical", "max"))
    criteria = (inventory.column("E"), f"$A{row}", inventory.column("B"), f"$B{row}")
    supplies = (first.psu_count, first.psu_w)
    holds = "" if first.psu_w is None else _verdict(most / count <= first.psu_w * (first.psu_count // 2))
    return (
        ROLE_TITLES[first.role],
        first.model,
        Formula(f"=COUNTIFS({','.join(criteria)})", count),
        Formula(f"=F{row}/C{row}", typical / count),
        Formula(f"=G{row}/C{row}", most / count),
        Formula(inventory.sum("F", *criteria), typical),
        Formula(inventory.sum("G", *criteria), most),
        Formula(f"=G{row}*{BTU}", most * BTU_PER_HOUR_PER_W),
        *supplies,
        Formula(f'=IF(J{row}="","",IF(E{row}<=J{row}*INT(I{row}/2),"{_HOLDS}","{_OVER}"))', holds),
        first.inlet,
        Formula(inventory.sum("M", *criteria), sum(device.weight_kg for device in kind)),
    )


def _rack(rack: Rack, devices: Sequence[Device], inventory: _Inventory, row: int) -> tuple[Cell, ...]:
    """Give the row of one rack, added up from the table of devices."""
    typical, most = (sum(getattr(device, f"power_{name}_w") for device in devices) for name in ("typical", "max"))
    weight = sum(device.weight_kg for device in devices)
    criteria = (inventory.column("D"), f"$A{row}")
    return (
        rack.name,
        Formula(f'=IF(G{row}<=I{row},"{_HOLDS}","{_OVER}")', _verdict(most <= rack.power_limit_w)),
        rack.used_units,
        Formula(f"=G{row}/2", most / 2),
        Formula(f"=G{row}/2", most / 2),
        Formula(inventory.sum("F", *criteria), typical),
        Formula(inventory.sum("G", *criteria), most),
        Formula(f"=G{row}*{BTU}", most * BTU_PER_HOUR_PER_W),
        rack.power_limit_w,
        Formula(f"=G{row}/I{row}", most / rack.power_limit_w),
        rack.weight_limit_kg,
        Formula(f"=M{row}/K{row}", weight / rack.weight_limit_kg),
        Formula(inventory.sum("M", *criteria), weight),
    )


def _device(device: Device, row: int) -> tuple[Cell, ...]:
    """Give the row of one device."""
    return (
        device.name, device.model, device.position_u, device.rack, ROLE_TITLES[device.role], device.power_typical_w,
        device.power_max_w, Formula(f"=G{row}*{BTU}", device.power_max_w * BTU_PER_HOUR_PER_W),
        -(-device.psu_count // 2), device.psu_count // 2, device.psu_w, device.inlet, device.weight_kg,
    )  # fmt: skip


def _verdict(holds: bool) -> str:  # noqa: FBT001 - one word
    """Say whether a limit holds."""
    return _HOLDS if holds else _OVER
