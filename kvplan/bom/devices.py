"""Devices as major lines with what is in them: storage nodes, GPU servers, switches, control nodes, racks."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from kvplan.bom.draft import Draft
from kvplan.bom.kit import kit_of_device, kit_of_rack
from kvplan.bom.scope import counted_as, quoted_racks
from kvplan.core.arithmetic import ceil_div
from kvplan.core.design.power import FEEDS
from kvplan.schema.hardware import ANY_VENDOR, Server, Switch
from kvplan.schema.roles import FABRIC_ROLES, ROLE_NOUNS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kvplan.bom.scope import Host, Tables
    from kvplan.schema.design import Design, Rack
    from kvplan.schema.hardware import Nic
    from kvplan.schema.kit import GroupId, When
    from kvplan.schema.plan import Plan

_OUTLETS = {"C14": "C13", "C20": "C19"}


def device_lines(
    plan: Plan, design: Design, hosts: Sequence[Host], tables: Tables, conditions: frozenset[When], group: GroupId
) -> Iterator[Draft]:
    """Make the major lines of the devices of a group.

    Parameters
    ----------
    plan
        Names what is in a storage node and in a GPU server.
    design
        Says how many devices there are.
    hosts
        The devices that are quoted, by model.
    tables
        Kit and catalogue rows.
    conditions
        Names of the conditions of kit rows that hold.
    group
        The group.

    Yields
    ------
    Draft
        One major line a model, with what is in one device as minor lines.
    """
    for host in hosts:
        if host.group == group:
            kit = tuple(kit_of_device(tables.kit, host, conditions))
            yield _major(plan, design, host, (*_parts(plan, host), *kit))


def rack_lines(design: Design, tables: Tables, conditions: frozenset[When]) -> Iterator[Draft]:
    """Make the line of the racks that are quoted."""
    racks, options = quoted_racks(design), design.options.racks
    if not racks:
        return
    whole = len(racks) == len(design.racks)
    of_all = "of the design" if whole else f"of {len(design.racks):,} in the design: those that hold what is quoted"
    rack = Draft(
        key=f"rack/{options.units}u",
        group="racks",
        description=f"Rack of {options.units} units with doors and side panels, for {options.weight_kg:,.0f} kg",
        quantity=1,
        basis="1 a rack that is quoted",
        source="build options: size and load of a rack",
        confidence="assumed",
        kind="rack",
        note="assumed: deep enough for every device with its leads; make left to the seller",
    )
    yield Draft(
        key="rack",
        group="racks",
        description=f"Rack of {options.units} units, fitted out",
        quantity=len(racks),
        basis=f"{counted_as(len(racks), 'rack')} {of_all}",
        counted_by=("rack",),
        source="design: racks",
        confidence="derived",
        kind="heading",
        minors=(rack, *kit_of_rack(tables.kit, conditions, {"outlets": _outlets_text(design, racks)})),
    )


def _outlets_text(design: Design, racks: Sequence[Rack]) -> str:
    """Say what a power distribution unit must carry: the most leads of each kind on one feed, and the most power."""
    leads: dict[str, Counter[str]] = defaultdict(Counter)
    for device in design.devices:
        leads[device.rack][_OUTLETS.get(device.inlet, device.inlet)] += ceil_div(device.psu_count, FEEDS)
    needed: Counter[str] = Counter()
    for rack in racks:
        needed |= leads[rack.name]
    outlets = ", ".join(f"{count} x {kind}" for kind, count in sorted(needed.items()))
    power_w = max(rack.power_max_w for rack in racks)
    return f": {outlets} at least, {power_w / 1000:,.1f} kW" if outlets else ""


def _major(plan: Plan, design: Design, host: Host, minors: tuple[Draft, ...]) -> Draft:
    """Make the major line of equal devices."""
    names = {
        "storage-node": f"{_named('Storage node', host.title)}, {plan.profile.drives_per_node} drives",
        "client-server": _named("Adapters of a GPU server" if host.adapters_only else "GPU server", host.title),
        "control-node": _named("Control node", host.title),
        "fabric-switch": f"{_named('Fabric switch', host.title)}{_tiers(design, host)}",
        "management-switch": _named("Management switch", host.title),
    }
    return Draft(
        key=f"{host.per}/{host.model}",
        group=host.group,
        description=names[host.per],
        quantity=host.count,
        basis=f"{counted_as(host.count, host.per)} of the design",
        counted_by=(host.per,),
        source="design: devices",
        confidence="derived",
        kind="heading",
        minors=minors,
    )


def _parts(plan: Plan, host: Host) -> Iterator[Draft]:
    """Yield what the Plan names in a device: the device itself, drives, GPUs, adapters."""
    if isinstance(host.row, Switch):
        yield _switch(host.row, host)
    elif isinstance(host.row, Server) and not host.adapters_only:
        yield _chassis(host.row, host)
    if host.per == "storage-node":
        yield _drives(plan)
    elif host.per == "client-server" and not host.adapters_only:
        yield _gpus(plan)
    yield from (_adapter(nic, number, host) for nic, number in host.adapters)


def _chassis(server: Server, host: Host) -> Draft:
    """Make the line of a chassis; the id of a server whose maker is known is its model number."""
    return Draft.of(
        server,
        key=f"chassis/{server.id}",
        group=host.group,
        quantity=1,
        basis=f"1 a {host.noun}",
        kind="chassis",
        description=f"Chassis with board, power supplies and fans: {server.title or server.id}",
        part_number="" if server.vendor == ANY_VENDOR else server.id,
    )


def _switch(switch: Switch, host: Host) -> Draft:
    """Make the line of a switch itself, with what must be said when it is ordered."""
    rating = f" of {host.supply_w:,.0f} W" if host.supply_w else ""
    order = f"{host.supplies} supplies{rating}, inlet {host.inlet}; name the direction of the air flow when ordering"
    return Draft.of(
        switch,
        key=f"switch/{switch.id}",
        group=host.group,
        quantity=1,
        basis=f"1 a {host.noun}",
        kind="switch",
        note="; ".join(filter(None, (switch.note, order))),
    )


def _drives(plan: Plan) -> Draft:
    """Make the line of the drives."""
    drive, number = plan.parts.drive, plan.profile.drives_per_node
    basis = f"{number} a storage node, by the Plan"
    return Draft.of(drive, key=f"drive/{drive.id}", group="storage", quantity=number, basis=basis, kind="drive")


def _gpus(plan: Plan) -> Draft:
    """Make the line of the GPUs; servers are bought full."""
    gpu, number = plan.parts.gpu, plan.parts.gpu.gpus_per_server
    basis = f"{number} a GPU server, {plan.request.gpus:,} asked for and servers filled"
    return Draft.of(gpu, key=f"gpu/{gpu.id}", group="clients", quantity=number, basis=basis, kind="gpu")


def _adapter(nic: Nic, number: int, host: Host) -> Draft:
    """Make the line of an adapter."""
    basis = f"{number} a {host.noun}, by the Plan"
    return Draft.of(nic, key=f"adapter/{nic.id}", group=host.group, quantity=number, basis=basis, kind="adapter")


def _named(noun: str, title: str) -> str:
    """Put a noun before a title that does not begin with it.

    >>> _named("Rack", "Rack 42U"), _named("Rack", "42U")
    ('Rack 42U', 'Rack: 42U')
    """
    return title if title.lower().startswith(noun.lower()) else f"{noun}: {title}"


def _tiers(design: Design, host: Host) -> str:
    """Say how many switches of a model stand in each tier."""
    counts = Counter(device.role for device in design.devices if device.model == host.model)
    named = (
        f"{counts[role]:,} {one if counts[role] == 1 else many}"
        for role, (one, many) in ROLE_NOUNS.items()
        if role in FABRIC_ROLES and counts[role]
    )
    return f" ({', '.join(named)})"
