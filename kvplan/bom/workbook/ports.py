"""The port map: every port of every switch and what is at its other end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.bom.workbook.cells import Column, widths_of
from kvplan.render.fabric.tables import PORTS
from kvplan.schema.roles import SWITCH_ROLES
from kvplan.units import GB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.bom.workbook.cells import Cell
    from kvplan.bom.workbook.context import Context

_COLUMNS = (
    Column("Switch", ("text", "strong"), 16),
    Column("Rack", ("text",), 10),
    Column("Unit", ("count",), 6),
    Column("Cage", ("text",), 9),
    Column("Breakout", ("text",), 9),
    Column("Port", ("text",), 10),
    Column("Rate [Gb/s]", ("count",), 9),
    Column("Lanes", ("count",), 7),
    Column("Network", ("text",), 14),
    Column("Rail", ("text",), 6),
    Column("Address", ("text",), 19),
    Column("Peer", ("text",), 16),
    Column("Peer port", ("text",), 13),
    Column("Cable", ("text",), 19),
)


def ports_sheet(context: Context) -> None:
    """Write the sheet."""
    sheet = context.sheet("Port map", widths_of(_COLUMNS))
    sheet.title("Port map", "Every port in use of every switch; cages that are free are counted on the sheet Network.")
    body = sheet.table(_COLUMNS, _rows(context), filtered=True)
    sheet.freeze(body.start, 1)
    sheet.finish(context.bom.plan_sha256)


def _rows(context: Context) -> Iterator[tuple[Cell, ...]]:
    """List the ports switch by switch, in the order of the design."""
    switches = {device.name: device for device in context.design.devices if device.role in SWITCH_ROLES}
    for port in PORTS.rows(context.design):
        if device := switches.get(port.device):
            yield (
                port.device, device.rack, device.position_u, port.cage, f"{port.cage_legs}x", port.name,
                port.bits_per_s / GB, port.lanes, port.network, port.rail, port.address, port.peer_device,
                port.peer_port, " ".join(port.cables),
            )  # fmt: skip
