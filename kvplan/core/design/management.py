"""The out-of-band network: a port for each controller, and as many switches as that takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kvplan.core.design.addressing import management_address
from kvplan.core.design.bundles import Bundle, Far, Leg
from kvplan.core.design.machines import adapters_of
from kvplan.core.design.names import device_name, switch_port
from kvplan.schema.roles import FABRIC_ROLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kvplan.core.design.inputs import DesignInputs
    from kvplan.core.design.racks import Item, Place
    from kvplan.schema.roles import PortKind, Role


class ManagementPort(NamedTuple):
    """A port of a device in the management network: its name, and whose it is."""

    name: str
    kind: PortKind


class Served(NamedTuple):
    """A management switch, from 1, the rack of the first device on it, and what hangs on it, port by port."""

    switch: int
    rack: int
    ports: tuple[tuple[Item, ManagementPort, int], ...]


def management_ports(inputs: DesignInputs, role: Role) -> tuple[ManagementPort, ...]:
    """List the management ports of a device.

    server: its controller, the ports of the host, and the controller of each adapter that has one; switch: eth0

    Parameters
    ----------
    inputs
        The Plan's parts and the management options.
    role
        What the device is.

    Returns
    -------
    tuple of ManagementPort
        Names and kinds of the ports; none for a management switch.

    References
    ----------
    Supermicro and NVIDIA manuals: one RJ45 of the server's controller, one of each BlueField-3's.

    Examples
    --------
    >>> from kvplan.reference import INPUTS
    >>> [port.name for role in ("storage", "leaf") for port in management_ports(INPUTS, role)]
    ['bmc', 'mgmt1', 'client1-bmc', 'eth0']
    """
    if role == "management-switch":
        return ()
    if role in FABRIC_ROLES:
        return (ManagementPort("eth0", "host"),)
    # A control node is reached over the management network alone, so it has a port there in any case.
    count = max(inputs.options.management.host_ports, 1 if role == "control" else 0)
    hosts = (ManagementPort(f"mgmt{port}", "host") for port in range(1, count + 1))
    return (ManagementPort("bmc", "controller"), *hosts, *_adapter_controllers(inputs, role))


def _adapter_controllers(inputs: DesignInputs, role: Role) -> Iterator[ManagementPort]:
    """Yield the controllers of the adapters that have one."""
    for entry in adapters_of(inputs.plan.parts, role):
        if entry.nic.management_port:
            yield from (
                ManagementPort(f"{entry.stem}{card + 1}-bmc", "adapter-controller") for card in range(entry.cards)
            )


def served(inputs: DesignInputs, places: Sequence[Place]) -> tuple[Served, ...]:
    """Deal the management ports out to switches, rack by rack; a device keeps to one switch.

    switches = as many as it takes when each is filled in turn

    Parameters
    ----------
    inputs
        The management switch and options.
    places
        Where the devices stand.

    Returns
    -------
    tuple of Served
        One entry a switch.

    References
    ----------
    Derived; the ports of a switch are its row's.

    Examples
    --------
    >>> from kvplan.core.design.engine import design_of
    >>> from kvplan.reference import INPUTS
    >>> design_of(INPUTS).switches.management
    1
    """
    filled: list[Served] = []
    taken: list[tuple[Item, ManagementPort, int]] = []
    rack = 0
    for place in sorted(places, key=lambda place: (place.rack, -place.unit)):
        ports = management_ports(inputs, place.item.role)
        if len(taken) + len(ports) > inputs.management_switch.cages:
            filled.append(Served(len(filled) + 1, rack, tuple(taken)))
            taken = []
        if not taken:
            rack = place.rack
        taken.extend((place.item, port, index) for index, port in enumerate(ports))
    return (*filled, Served(len(filled) + 1, rack, tuple(taken)))


def management_bundles(inputs: DesignInputs, switches: Sequence[Served]) -> tuple[Bundle, ...]:
    """Join the management ports to their switches, one cage a port.

    port p of a switch = its p-th management port

    Parameters
    ----------
    inputs
        The management switch and the address ranges.
    switches
        What hangs on each switch.

    Returns
    -------
    tuple of Bundle
        One a port; rates in [bit/s].

    References
    ----------
    Derived.

    Examples
    --------
    >>> from kvplan.core.design.engine import design_of
    >>> from kvplan.reference import INPUTS
    >>> [port.name for port in design_of(INPUTS).ports if port.device == "storage-001"][-3:]
    ['bmc', 'mgmt1', 'client1-bmc']
    """
    return tuple(bundle for entry in switches for bundle in _switch_bundles(inputs, entry))


def _switch_bundles(inputs: DesignInputs, entry: Served) -> Iterator[Bundle]:
    """Yield the ports of one management switch that are used."""
    switch, ranges = inputs.management_switch, inputs.options.addresses
    for cage, (item, far, index) in enumerate(entry.ports, start=1):
        address = management_address(ranges, item.role, item.number, index)
        port = switch_port(cage, 1, 0)
        leg = Leg(port, Far(item.name, far.name, far.name, "RJ45", far.kind), 1, "", address)
        device = device_name("management-switch", entry.switch)
        yield Bundle(device, port, switch.connector, 1, 1, switch.cage_bits_per_s, "management", "", (leg,))
