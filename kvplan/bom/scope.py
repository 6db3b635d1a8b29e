"""What is counted: the devices of a design by model, and everything else that a kit row goes by."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kvplan.units import TB

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kvplan.schema.cabling import CableFamily, Transceiver
    from kvplan.schema.design import Design, Device
    from kvplan.schema.hardware import Nic, Server, Switch
    from kvplan.schema.kit import GroupId, KitRow, Per, SpareRow
    from kvplan.schema.plan import Plan
    from kvplan.schema.roles import Role

PURPOSES: Mapping[Role, Per] = {
    "storage": "storage-node",
    "client": "client-server",
    "leaf": "fabric-switch",
    "spine": "fabric-switch",
    "super-spine": "fabric-switch",
    "management-switch": "management-switch",
    "control": "control-node",
}
NOUNS: Mapping[Per, tuple[str, str]] = {
    "project": ("project", "projects"),
    "storage-node": ("storage node", "storage nodes"),
    "client-server": ("GPU server", "GPU servers"),
    "control-node": ("control node", "control nodes"),
    "fabric-switch": ("fabric switch", "fabric switches"),
    "management-switch": ("management switch", "management switches"),
    "rack": ("rack", "racks"),
    "free-rack-unit": ("free rack unit", "free rack units"),
    "cable": ("cable", "cables"),
    "cable-end": ("cable end", "cable ends"),
    "gpu": ("GPU", "GPUs"),
    "raw-tb": ("begun raw TB", "begun raw TB"),
    "usable-tb": ("begun usable TB", "begun usable TB"),
}
"""What is counted, by one and by many."""
_GROUPS: Mapping[Per, GroupId] = {
    "storage-node": "storage",
    "client-server": "clients",
    "control-node": "management",
    "fabric-switch": "fabric",
    "management-switch": "management",
}
_HALF_HEIGHT = "HHHL"


@dataclass(frozen=True, slots=True)
class Tables:
    """The catalogue rows that a bill needs beside the Plan and the design."""

    kit: tuple[KitRow, ...]
    spares: tuple[SpareRow, ...]
    cables: Mapping[str, CableFamily]
    transceivers: Mapping[str, Transceiver]
    servers: Mapping[str, Server]
    switches: Mapping[str, Switch]


@dataclass(frozen=True, slots=True)
class Host:
    """Equal devices: how many there are, and what is in each that multiplies a kit row."""

    per: Per
    model: str
    count: int
    supplies: int
    inlet: str
    sockets: int = 0
    empty_bays: int = 0
    gpus: int = 0
    uplinks: int = 0
    adapters: tuple[tuple[Nic, int], ...] = ()
    adapters_only: bool = False

    @property
    def group(self) -> GroupId:
        """The group in which the devices are quoted."""
        return _GROUPS[self.per]

    def times(self, what: str) -> int:
        """Return how many there are in each device of what multiplies a kit row."""
        counted = {
            "one": 1,
            "sockets": self.sockets,
            "supplies": self.supplies,
            "empty-bays": self.empty_bays,
            "gpus": self.gpus,
            "uplinks": self.uplinks,
            "atx-adapters": sum(count for nic, count in self.adapters if nic.needs_atx_lead),
            "low-profile-adapters": sum(count for nic, count in self.adapters if nic.form_factor == _HALF_HEIGHT),
        }
        return counted[what]


def counted_as(count: int, per: Per) -> str:
    """Write a count with its noun.

    >>> counted_as(1, "rack"), counted_as(3, "fabric-switch")
    ('1 rack', '3 fabric switches')
    """
    one, many = NOUNS[per]
    return f"{count:,} {one if count == 1 else many}"


def hosts_of(plan: Plan, design: Design, tables: Tables) -> tuple[Host, ...]:
    """Gather the devices that are quoted by purpose and model, in the order of the design."""
    scope = design.options.clients
    found: dict[tuple[Per, str], list[Device]] = {}
    for device in design.devices:
        found.setdefault((PURPOSES[device.role], device.model), []).append(device)
    return tuple(
        _host(plan, design, per, devices, tables)
        for (per, _), devices in found.items()
        if per != "client-server" or scope != "none"
    )


def counts_of(plan: Plan, design: Design, hosts: Sequence[Host]) -> dict[Per, int]:
    """Count everything that a kit row may go by."""
    devices: Counter[Per] = Counter()
    for host in hosts:
        devices[host.per] += host.count
    free = sum(rack.units - rack.used_units - design.options.racks.reserved_units for rack in design.racks)
    return {
        "project": 1,
        **{per: devices[per] for per in _GROUPS},
        "rack": len(design.racks),
        "free-rack-unit": max(free, 0),
        "cable": len(design.cables),
        "cable-end": sum(1 + len(cable.b) for cable in design.cables),
        "gpu": devices["client-server"] * plan.parts.gpu.gpus_per_server,
        "raw-tb": -(-plan.profile.raw_bytes // TB),
        "usable-tb": -(-plan.profile.usable_bytes // TB),
    }


def conditions_of(design: Design, hosts: Sequence[Host], tables: Tables) -> frozenset[str]:
    """Name the conditions of kit rows that hold for the whole build; those of a device's inlet are its own."""
    options = design.options
    families = {cable.family for cable in design.cables}
    holds = {
        "always": True,
        "clients-quoted": any(host.per == "client-server" and not host.adapters_only for host in hosts),
        "racks-quoted": options.racks.quoted,
        "several-racks": options.racks.quoted and len(design.racks) > 1,
        "host-ports": options.management.host_ports > 0,
        "fibre": any(tables.cables[family].is_fibre for family in families if family in tables.cables),
    }
    return frozenset(name for name, is_so in holds.items() if is_so)


def _host(plan: Plan, design: Design, per: Per, devices: Sequence[Device], tables: Tables) -> Host:
    """Describe equal devices."""
    first, parts = devices[0], plan.parts
    bare = Host(
        per=per,
        model=first.model,
        count=len(devices),
        supplies=first.psu_count,
        inlet=first.inlet,
        sockets=_sockets_of(plan, per, first, tables),
    )
    if per == "storage-node":
        empty_bays = max(parts.server.drive_bays - plan.profile.drives_per_node, 0)
        return replace(bare, empty_bays=empty_bays, adapters=tuple(storage_adapters(plan)))
    if per == "client-server":
        adapters = ((parts.gpu_nic, parts.gpu.nics_per_server),)
        only = design.options.clients == "adapters"
        return replace(bare, gpus=parts.gpu.gpus_per_server, adapters=adapters, adapters_only=only)
    if per == "management-switch":
        return replace(bare, uplinks=design.options.management.uplinks_per_switch)
    return bare


def storage_adapters(plan: Plan) -> Iterator[tuple[Nic, int]]:
    """Yield the adapters of a storage node with their number, those of one model together."""
    parts = plan.parts
    numbers: Counter[str] = Counter()
    numbers[parts.client_nic.id] += parts.client_nics
    numbers[parts.storage_nic.id] += parts.storage_nics
    rows = {nic.id: nic for nic in (parts.client_nic, parts.storage_nic)}
    yield from ((rows[name], number) for name, number in numbers.items())


def _sockets_of(plan: Plan, per: Per, device: Device, tables: Tables) -> int:
    """Return the processor sockets of a server."""
    if per == "storage-node":
        return plan.parts.server.cpu_sockets
    if per == "client-server":
        return plan.parts.client_server.cpu_sockets
    server = tables.servers.get(device.model)
    return server.cpu_sockets if server else 1
