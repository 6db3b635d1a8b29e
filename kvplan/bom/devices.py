"""Devices as major lines with what is in them: storage nodes, GPU servers, switches, control nodes, racks."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from kvplan.bom.draft import Draft
from kvplan.bom.kit import kit_of_device, kit_of_rack
from kvplan.bom.scope import NOUNS, counted_as, storage_adapters

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kvplan.bom.scope import Host, Tables
    from kvplan.schema.design import Design
    from kvplan.schema.hardware import Nic, Server, Switch
    from kvplan.schema.kit import GroupId
    from kvplan.schema.plan import Plan
    from kvplan.schema.roles import Role

_TIERS: tuple[tuple[Role, str, str], ...] = (
    ("leaf", "leaf", "leaves"),
    ("spine", "spine", "spines"),
    ("super-spine", "super-spine", "super-spines"),
)
_OUTLETS = {"C14": "C13", "C20": "C19"}
_ANY = "any"


def device_lines(
    plan: Plan, design: Design, hosts: Sequence[Host], tables: Tables, conditions: frozenset[str], group: GroupId
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
            parts = tuple(_parts(plan, host, tables))
            kit = tuple(kit_of_device(tables.kit, host, conditions))
            yield _major(plan, design, host, tables, (*parts, *kit))


def rack_lines(design: Design, tables: Tables) -> Iterator[Draft]:
    """Make the line of the racks, where they are quoted."""
    options = design.options.racks
    if options.quoted:
        rack = Draft(
            key=f"rack/{options.units}u",
            group="racks",
            description=f"Rack of {options.units} units with doors and side panels, for {options.weight_kg:,.0f} kg",
            quantity=1,
            basis="1 a rack of the design",
            source="build options: size and load of a rack",
            confidence="assumed",
            kind="rack",
            note="assumed: deep enough for every device with its leads; make left to the seller",
        )
        yield Draft(
            key="rack",
            group="racks",
            description=f"Rack of {options.units} units, fitted out",
            quantity=len(design.racks),
            basis=f"{counted_as(len(design.racks), 'rack')} of the design",
            counted_by=("rack",),
            source="design: racks",
            confidence="derived",
            minors=(rack, *kit_of_rack(tables.kit, {"outlets": outlets_text(design)})),
        )


def outlets_text(design: Design) -> str:
    """Say what a power distribution unit must carry: the most leads of each kind on one feed, and the most power."""
    leads: dict[str, Counter[str]] = defaultdict(Counter)
    for device in design.devices:
        leads[device.rack][_OUTLETS.get(device.inlet, device.inlet)] += -(-device.psu_count // 2)
    needed: Counter[str] = Counter()
    for in_rack in leads.values():
        needed |= in_rack
    outlets = ", ".join(f"{count} x {kind}" for kind, count in sorted(needed.items()))
    power_w = max((rack.power_max_w for rack in design.racks), default=0)
    return f": {outlets} at least, {power_w / 1000:,.1f} kW" if outlets else ""


def _major(plan: Plan, design: Design, host: Host, tables: Tables, minors: tuple[Draft, ...]) -> Draft:
    """Make the major line of equal devices."""
    title = _title(plan, host, tables)
    names = {
        "storage-node": f"{_named('Storage node', title)}, {plan.profile.drives_per_node} drives",
        "client-server": f"Adapters of a GPU server: {title}" if host.adapters_only else _named("GPU server", title),
        "control-node": _named("Control node", title),
        "fabric-switch": f"{_named('Fabric switch', title)}{_tiers(design, host)}",
        "management-switch": _named("Management switch", title),
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
        kind="device",
        minors=minors,
    )


def _parts(plan: Plan, host: Host, tables: Tables) -> Iterator[Draft]:
    """Yield what the Plan names in a device: the device itself, drives, GPUs, adapters."""
    parts = plan.parts
    if host.per == "storage-node":
        yield _chassis(parts.server, host)
        yield _drives(plan)
        yield from (_adapter(nic, number, host) for nic, number in storage_adapters(plan))
    elif host.per == "client-server":
        if not host.adapters_only:
            yield _chassis(parts.client_server, host)
            yield _gpus(plan)
        yield from (_adapter(nic, number, host) for nic, number in host.adapters)
    elif host.per == "control-node":
        if host.model in tables.servers:
            yield _chassis(tables.servers[host.model], host)
    else:
        switches = {**tables.switches, parts.switch.id: parts.switch}
        if host.model in switches:
            yield _switch(switches[host.model], host)


def _chassis(server: Server, host: Host) -> Draft:
    """Make the line of a chassis; the id of a server whose maker is known is its model number."""
    named = server.vendor != _ANY
    return Draft(
        key=f"chassis/{server.id}",
        group=host.group,
        description=f"Chassis with board, power supplies and fans: {server.title or server.id}",
        quantity=1,
        basis=f"1 a {NOUNS[host.per][0]}",
        source=server.source,
        confidence=server.confidence,
        kind="chassis",
        vendor=server.vendor if named else "",
        part_number=server.id if named else "",
        note=server.note,
    )


def _drives(plan: Plan) -> Draft:
    """Make the line of the drives."""
    drive = plan.parts.drive
    return Draft(
        key=f"drive/{drive.id}",
        group="storage",
        description=drive.title or drive.id,
        quantity=plan.profile.drives_per_node,
        basis=f"{plan.profile.drives_per_node} a storage node, by the Plan",
        source=drive.source,
        confidence=drive.confidence,
        kind="drive",
        vendor=drive.vendor,
        note=drive.note,
    )


def _gpus(plan: Plan) -> Draft:
    """Make the line of the GPUs; servers are bought full."""
    gpu, asked = plan.parts.gpu, plan.request.gpus
    return Draft(
        key=f"gpu/{gpu.id}",
        group="clients",
        description=gpu.title or gpu.id,
        quantity=gpu.gpus_per_server,
        basis=f"{gpu.gpus_per_server} a GPU server, {asked:,} asked for and servers filled",
        source=gpu.source,
        confidence=gpu.confidence,
        kind="gpu",
        vendor=gpu.vendor,
        note=gpu.note,
    )


def _adapter(nic: Nic, number: int, host: Host) -> Draft:
    """Make the line of an adapter."""
    return Draft(
        key=f"adapter/{nic.id}",
        group=host.group,
        description=nic.title or nic.id,
        quantity=number,
        basis=f"{number} a {NOUNS[host.per][0]}, by the Plan",
        source=nic.source,
        confidence=nic.confidence,
        kind="adapter",
        vendor=nic.vendor,
        part_number=nic.part_number,
        note=nic.note,
    )


def _switch(switch: Switch, host: Host) -> Draft:
    """Make the line of a switch itself."""
    return Draft(
        key=f"switch/{switch.id}",
        group=host.group,
        description=switch.title or switch.id,
        quantity=1,
        basis=f"1 a {NOUNS[host.per][0]}",
        source=switch.source,
        confidence=switch.confidence,
        kind="switch",
        vendor=switch.vendor,
        part_number=switch.part_number,
        note=switch.note,
    )


def _title(plan: Plan, host: Host, tables: Tables) -> str:
    """Return what a device is called: the title of its row, else its model."""
    rows: Mapping[str, Server | Switch] = {
        **tables.servers,
        **tables.switches,
        plan.parts.server.id: plan.parts.server,
        plan.parts.client_server.id: plan.parts.client_server,
        plan.parts.switch.id: plan.parts.switch,
    }
    row = rows.get(host.model)
    return (row.title if row else "") or host.model


def _named(noun: str, title: str) -> str:
    """Put a noun before a title that does not begin with it.

    >>> _named("Rack", "Rack 42U"), _named("Rack", "42U")
    ('Rack 42U', 'Rack: 42U')
    """
    return title if title.lower().startswith(noun.lower()) else f"{noun}: {title}"


def _tiers(design: Design, host: Host) -> str:
    """Say how many switches of a model stand in each tier."""
    counts = Counter(device.role for device in design.devices if device.model == host.model)
    named = (f"{counts[role]} {one if counts[role] == 1 else many}" for role, one, many in _TIERS if counts[role])
    return f" ({', '.join(named)})"
