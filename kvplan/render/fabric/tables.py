"""The tables of a Design: cables, ports, devices, racks, addresses, optics, failure states, findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvplan.render.fabric.columns import Column, Table
from kvplan.render.fabric.links import Optic, far_ends, optics
from kvplan.render.fabric.words import MEDIUM_TITLES, NO_CABLE, length_of, medium_of, prefix_of, unit
from kvplan.schema.base import gravest_first
from kvplan.schema.roles import ROLE_NOUNS
from kvplan.units import format_line_rate, format_percent, format_rate

if TYPE_CHECKING:
    from kvplan.render.fabric.links import FarEnd
    from kvplan.schema.design import AddressRange, Design, Device, FailureState, Finding, Port, Rack


def _ports_by_device(design: Design) -> list[Port]:
    """Order the ports by device, as devices are listed."""
    places = {device.name: place for place, device in enumerate(design.devices)}
    return sorted(design.ports, key=lambda port: places[port.device])


CABLES: Table[FarEnd] = Table(
    "Cable schedule",
    far_ends,
    (
        Column("cable", "Cable", lambda end: end.cable.id),
        Column("end", "", lambda end: end.number),
        Column("", "From", lambda end: f"{end.cable.a.device} {end.cable.a.cage}"),
        Column("", "To", lambda end: f"{end.b.device} {end.b.cage}"),
        Column("a_device", "", lambda end: end.cable.a.device),
        Column("a_rack", "", lambda end: end.a_device.rack),
        Column("a_unit", "", lambda end: unit(end.a_device)),
        Column("a_cage", "", lambda end: end.cable.a.cage),
        Column("a_ports", "", lambda end: " ".join(port.name for port in end.legs)),
        Column("a_connector", "", lambda end: end.cable.a.connector),
        Column("a_transceiver", "", lambda end: end.cable.a.transceiver),
        Column("a_addresses", "", lambda end: " ".join(port.address for port in end.legs if port.address)),
        Column("b_device", "", lambda end: end.b.device),
        Column("b_rack", "", lambda end: end.b_device.rack),
        Column("b_unit", "", lambda end: unit(end.b_device)),
        Column("b_cage", "", lambda end: end.b.cage),
        Column("b_ports", "", lambda end: " ".join(port.name for port in end.far_legs)),
        Column("b_connector", "", lambda end: end.b.connector),
        Column("b_transceiver", "", lambda end: end.b.transceiver),
        Column("b_addresses", "", lambda end: " ".join(port.address for port in end.far_legs if port.address)),
        Column("prefixes", "", lambda end: " ".join(prefix_of(port.address) for port in end.legs if port.address)),
        Column("family", "", lambda end: end.cable.family),
        Column("", "Family", lambda end: end.cable.family or NO_CABLE),
        Column("part_number", "", lambda end: end.cable.part_number),
        Column("medium", "", lambda end: medium_of(end.cable)),
        Column("length_m", "m", lambda end: length_of(end.cable), "r"),
        Column("needed_m", "", lambda end: round(end.cable.needed_m, 2)),
        Column("speed", "Speed", lambda end: format_line_rate(end.legs[0].bits_per_s), "r"),
        Column("network", "", lambda end: end.cable.network),
        Column("rail", "", lambda end: end.legs[0].rail),
    ),
)
PORTS: Table[Port] = Table(
    "Port map",
    _ports_by_device,
    (
        Column("device", "Device", lambda port: port.device),
        Column("cage", "", lambda port: port.cage),
        Column("port", "Port", lambda port: port.name),
        Column("breakout", "", lambda port: f"{port.cage_legs}x"),
        Column("lanes", "", lambda port: port.lanes),
        Column("speed", "Speed", lambda port: format_line_rate(port.bits_per_s), "r"),
        Column("network", "", lambda port: port.network),
        Column("rail", "", lambda port: port.rail),
        Column("", "To", lambda port: f"{port.peer_device} {port.peer_port}"),
        Column("peer_device", "", lambda port: port.peer_device),
        Column("peer_port", "", lambda port: port.peer_port),
        Column("cable", "", lambda port: " ".join(port.cables)),
        Column("address", "Address", lambda port: port.address),
    ),
)
DEVICES: Table[Device] = Table(
    "Devices",
    lambda design: design.devices,
    (
        Column("device", "Device", lambda device: device.name),
        Column("role", "", lambda device: device.role),
        Column("model", "Model", lambda device: device.model),
        Column("number", "", lambda device: device.number),
        Column("rack", "Rack", lambda device: device.rack),
        Column("unit", "Unit", unit),
        Column("rack_units", "", lambda device: device.rack_units),
        Column("pair", "", lambda device: device.pair or None),
        Column("rail", "", lambda device: device.rail),
        Column("power_typical_w", "", lambda device: round(device.power_typical_w, 1)),
        Column("power_max_w", "", lambda device: round(device.power_max_w, 1)),
        Column("", "Max W", lambda device: round(device.power_max_w), "r"),
        Column("supplies", "", lambda device: device.psu_count),
        Column("supply_w", "", lambda device: device.psu_w),
        Column("inlet", "", lambda device: device.inlet),
        Column("weight_kg", "", lambda device: round(device.weight_kg, 1)),
        Column("", "kg", lambda device: round(device.weight_kg), "r"),
        Column("loopback", "Loopback", lambda device: device.loopback),
        Column("asn", "", lambda device: device.asn),
    ),
)
RACKS: Table[Rack] = Table(
    "Racks",
    lambda design: design.racks,
    (
        Column("rack", "Rack", lambda rack: rack.name),
        Column("row", "Row", lambda rack: rack.row, "r"),
        Column("column", "Place", lambda rack: rack.column, "r"),
        Column("units", "", lambda rack: rack.units),
        Column("used_units", "", lambda rack: rack.used_units),
        Column("", "Units", lambda rack: f"{rack.used_units} of {rack.units}", "r"),
        Column("power_typical_w", "W typical", lambda rack: round(rack.power_typical_w), "r"),
        Column("power_max_w", "W max", lambda rack: round(rack.power_max_w), "r"),
        Column("power_limit_w", "W limit", lambda rack: round(rack.power_limit_w), "r"),
        Column("weight_kg", "kg", lambda rack: round(rack.weight_kg), "r"),
        Column("weight_limit_kg", "kg limit", lambda rack: round(rack.weight_limit_kg), "r"),
    ),
)
ADDRESSES: Table[AddressRange] = Table(
    "Address ranges",
    lambda design: design.addresses,
    (
        Column("range", "Range", lambda item: item.name),
        Column("prefix", "Prefix", lambda item: item.prefix),
        Column("used", "Used", lambda item: item.used, "r"),
        Column("reach", "Reach", lambda item: item.reach, "r"),
        Column("capacity", "Of", lambda item: item.capacity, "r"),
        Column("counts", "Counted", lambda item: item.counts),
    ),
)
OPTICS: Table[Optic] = Table(
    "Transceivers",
    optics,
    (
        Column("transceiver", "Transceiver", lambda optic: optic.transceiver),
        Column("role", "In", lambda optic: ROLE_NOUNS[optic.role][0]),
        Column("family", "With cable", lambda optic: optic.family),
        Column("medium", "Medium", lambda optic: MEDIUM_TITLES[optic.medium]),
        Column("count", "Count", lambda optic: optic.count, "r"),
    ),
)
STATES: Table[FailureState] = Table(
    "Failure states",
    lambda design: design.states,
    (
        Column("state", "State", lambda state: state.name),
        Column("lost", "Lost", lambda state: state.lost),
        Column("read_bytes_per_s", "", lambda state: state.read_bytes_per_s),
        Column("write_bytes_per_s", "", lambda state: state.write_bytes_per_s),
        Column("read_share", "", lambda state: round(state.read_share, 6)),
        Column("", "Read", lambda state: format_rate(state.read_bytes_per_s), "r"),
        Column("", "Write", lambda state: format_rate(state.write_bytes_per_s), "r"),
        Column("", "Left", lambda state: format_percent(state.read_share, 0), "r"),
        Column("binding_stage", "Binding stage", lambda state: state.binding_stage),
        Column("text", "", lambda state: state.text),
    ),
)
FINDINGS: Table[Finding] = Table(
    "Findings",
    lambda design: gravest_first(design.findings),
    (
        Column("id", "Id", lambda finding: finding.id),
        Column("severity", "Severity", lambda finding: finding.severity),
        Column("where", "Where", lambda finding: finding.where),
        Column("text", "What", lambda finding: finding.text),
        Column("remedy", "Remedy", lambda finding: finding.remedy),
    ),
)
TABLES: dict[str, Table[Any]] = {
    "cables": CABLES,
    "ports": PORTS,
    "devices": DEVICES,
    "racks": RACKS,
    "addresses": ADDRESSES,
    "optics": OPTICS,
    "findings": FINDINGS,
    "states": STATES,
}
"""Every table by the name it is asked for."""
