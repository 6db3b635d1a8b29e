"""The port map: every port of every switch and what is at its other end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.bom.workbook.sheet import Column
from kvplan.units import GB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.bom.workbook.quote import Quote
    from kvplan.bom.workbook.sheet import Cell

_SWITCHES = frozenset({"leaf", "spine", "super-spine", "management-switch"})
_COLUMNS = (
    Column("Switch", 16, ("text", "strong")),
    Column("Rack", 10, ("text",)),
    Column("Unit", 6, ("count",)),
    Column("Cage", 9, ("text",)),
    Column("Breakout", 9, ("text",)),
    Column("Port", 10, ("text",)),
    Column("Rate [Gb/s]", 9, ("count",)),
    Column("Lanes", 7, ("count",)),
    Column("Network", 14, ("text",)),
    Column("Rail", 6, ("text",)),
    Column("Address", 19, ("text",)),
    Column("Peer", 16, ("text",)),
    Column("Peer port", 13, ("text",)),
    Column("Cable", 19, ("text",)),
)


def ports_sheet(quote: Quote) -> None:
    """Write the sheet."""
    sheet = quote.sheet("Port map", [column.width for column in _COLUMNS])
    sheet.title("Port map", "Every port in use of every switch; cages that are free are counted on the sheet Network.")
    body = sheet.table(_COLUMNS, _rows(quote), filtered=True)
    sheet.freeze(body.start, 1)
    sheet.finish(quote.bom.plan_sha256)


def _rows(quote: Quote) -> Iterator[tuple[Cell, ...]]:
    """List the ports switch by switch, in the order of the design."""
    switches = {device.name: device for device in quote.design.devices if device.role in _SWITCHES}
    order = {name: index for index, name in enumerate(switches)}
    ports = [port for port in quote.design.ports if port.device in switches]
    for port in sorted(ports, key=lambda port: order[port.device]):
        device = switches[port.device]
        yield (
            port.device, device.rack, device.position_u, port.cage, f"{port.cage_legs}x", port.name,
            port.bits_per_s / GB,
            port.lanes, port.network, port.rail, port.address, port.peer_device, port.peer_port, port.cable,
        )  # fmt: skip
