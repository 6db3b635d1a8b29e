"""What is quoted and counted: the devices of a design by model, the racks, and everything that a kit row goes by."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kvplan.core.arithmetic import ceil_div
from kvplan.core.design.machines import adapters_of
from kvplan.core.design.power import FEEDS
from kvplan.schema.cabling import FIBRE
from kvplan.schema.roles import ROLE_NOUNS
from kvplan.units import TB

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kvplan.schema.cabling import CableFamily, Transceiver
    from kvplan.schema.design import Design, Device, Rack
    from kvplan.schema.hardware import Nic, Server, Switch
    from kvplan.schema.kit import GroupId, KitRow, Per, SpareRow, Times, When
    from kvplan.schema.parts import PlanParts
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
    "storage-node": ROLE_NOUNS["storage"],
    "client-server": ROLE_NOUNS["client"],
    "control-node": ROLE_NOUNS["control"],
    "fabric-switch": ("fabric switch", "fabric switches"),
    "management-switch": ROLE_NOUNS["management-switch"],
    "rack": ("rack", "racks"),
    "free-rack-unit": ("free rack unit", "free rack units"),
    "cable": ("cable", "cables"),
    "cable-end": ("cable end", "cable ends"),
    "fibre-end": ("fibre end", "fibre ends"),
    "uplink": ("uplink to the site", "uplinks to the site"),
    "uplink-end": ("uplink end", "uplink ends"),
    "lead-end": ("power lead end", "power lead ends"),
    "adapter": ("fabric adapter", "fabric adapters"),
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
_ENDS = 2


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
    """Equal devices: their catalogue row, how many there are, and what is in each that multiplies a kit row.

    The row is absent where the catalogue of today no longer has it.
    """

    per: Per
    model: str
    row: Server | Switch | None
    count: int
    supplies: int
    supply_w: float | None
    inlet: str
    sockets: int = 0
    empty_bays: int = 0
    gpus: int = 0
    adapters: tuple[tuple[Nic, int], ...] = ()
    adapters_only: bool = False

    @property
    def group(self) -> GroupId:
        """The group in which the devices are quoted."""
        return _GROUPS[self.per]

    @property
    def noun(self) -> str:
        """What one of them is called."""
        return NOUNS[self.per][0]

    @property
    def title(self) -> str:
        """What the model is called."""
        return (self.row.title if self.row else "") or self.model

    def times(self, what: Times) -> int:
        """Return how many there are in each device of what multiplies a kit row."""
        counted: dict[Times, int] = {
            "one": 1,
            "sockets": self.sockets,
            "supplies": self.supplies,
            "supplies-a": ceil_div(self.supplies, FEEDS),
            "supplies-b": self.supplies // FEEDS,
            "empty-bays": self.empty_bays,
            "gpus": self.gpus,
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


def quoted_racks(design: Design) -> tuple[Rack, ...]:
    """Decide which racks are quoted: those that hold a device that is, where racks are quoted at all.

    Parameters
    ----------
    design
        Racks, devices, and what of them is to be quoted.

    Returns
    -------
    tuple of Rack
        In the order of the design.
    """
    if not design.options.racks.quoted:
        return ()
    whole = design.options.clients == "servers"
    holding = {device.rack for device in design.devices if whole or device.role != "client"}
    return tuple(rack for rack in design.racks if rack.name in holding)


def hosts_of(plan: Plan, design: Design, tables: Tables) -> tuple[Host, ...]:
    """Gather the devices that are quoted by purpose and model, in the order of the design.

    Parameters
    ----------
    plan
        What is in a storage node and in a GPU server.
    design
        The devices.
    tables
        Rows of the devices that the Plan does not name.

    Returns
    -------
    tuple of Host
        Equal devices once, with their number.
    """
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
    """Count everything that a kit row may go by.

    Parameters
    ----------
    plan
        Capacities, and the GPUs of a server.
    design
        Racks and cables.
    hosts
        The devices that are quoted.

    Returns
    -------
    dict of int
        How many there are of each.
    """
    devices: Counter[Per] = Counter()
    for host in hosts:
        devices[host.per] += host.count
    whole = [host for host in hosts if not host.adapters_only]
    uplinks = devices["management-switch"] * design.options.management.uplinks_per_switch
    cables = design.bought_cables
    fibres = [cable for cable in cables if cable.medium in FIBRE]
    return {
        "project": 1,
        **{per: devices[per] for per in _GROUPS},
        "rack": len(quoted_racks(design)),
        "free-rack-unit": _free_units(design),
        "cable": len(cables),
        "cable-end": sum(1 + len(cable.b) for cable in cables),
        "fibre-end": sum(1 + len(cable.b) for cable in fibres),
        "uplink": uplinks,
        "uplink-end": _ENDS * uplinks,
        "lead-end": _ENDS * sum(host.count * host.supplies for host in whole),
        "adapter": sum(host.count * number for host in hosts for _, number in host.adapters),
        "gpu": devices["client-server"] * plan.parts.gpu.gpus_per_server,
        "raw-tb": ceil_div(plan.profile.raw_bytes, TB),
        "usable-tb": ceil_div(plan.profile.usable_bytes, TB),
    }


def conditions_of(design: Design, hosts: Sequence[Host], counts: Mapping[Per, int]) -> frozenset[When]:
    """Name the conditions of kit rows that hold for the whole build; those of a device's inlet are its own."""
    options = design.options
    holds: dict[When, bool] = {
        "always": True,
        "clients-quoted": any(host.per == "client-server" and not host.adapters_only for host in hosts),
        "racks-quoted": options.racks.quoted,
        "racks-there": not options.racks.quoted,
        "several-racks": counts["rack"] > 1,
        "host-ports": options.management.host_ports > 0,
        "fibre": counts["fibre-end"] + counts["uplink-end"] > 0,
    }
    return frozenset(name for name, is_so in holds.items() if is_so)


def _free_units(design: Design) -> int:
    """Count the units of the quoted racks in which nothing stands, those kept for management switches included."""
    held = design.by_rack()
    return sum(
        len(set(range(1, rack.units + 1)).difference(*(device.units for device in held[rack.name])))
        for rack in quoted_racks(design)
    )


def _host(plan: Plan, design: Design, per: Per, devices: Sequence[Device], tables: Tables) -> Host:
    """Describe equal devices."""
    first, parts = devices[0], plan.parts
    server = _server_of(parts, per, first, tables)
    bare = Host(
        per=per,
        model=first.model,
        row=server or _switch_of(parts, per, first, tables),
        count=len(devices),
        supplies=first.psu_count,
        supply_w=first.psu_w,
        inlet=first.inlet,
        sockets=server.cpu_sockets if server else 1,
        adapters=_adapters(parts, first.role),
    )
    if per == "storage-node":
        return replace(bare, empty_bays=max(parts.server.drive_bays - plan.profile.drives_per_node, 0))
    if per == "client-server":
        return replace(bare, gpus=parts.gpu.gpus_per_server, adapters_only=design.options.clients == "adapters")
    return bare


def _adapters(parts: PlanParts, role: Role) -> tuple[tuple[Nic, int], ...]:
    """List the adapters of a device with their number, those of one model together."""
    numbers: Counter[str] = Counter()
    rows: dict[str, Nic] = {}
    for entry in adapters_of(parts, role):
        numbers[entry.nic.id] += entry.cards
        rows.setdefault(entry.nic.id, entry.nic)
    return tuple((nic, numbers[name]) for name, nic in rows.items())


def _server_of(parts: PlanParts, per: Per, device: Device, tables: Tables) -> Server | None:
    """Return the row of a server: the Plan's where it names one."""
    named = {"storage-node": parts.server, "client-server": parts.client_server}
    return named.get(per) or tables.servers.get(device.model)


def _switch_of(parts: PlanParts, per: Per, device: Device, tables: Tables) -> Switch | None:
    """Return the row of a switch: the Plan's where it names one."""
    return parts.switch if per == "fabric-switch" else tables.switches.get(device.model)
