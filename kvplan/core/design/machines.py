"""The machines of a design and the fabric legs of each: who hangs on which leaf pair, and which port on which rail."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kvplan.core.arithmetic import ceil_div
from kvplan.core.design.names import device_name
from kvplan.core.network.leafspine import Ports, fabric

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kvplan.core.design.inputs import DesignInputs
    from kvplan.schema.hardware import Nic
    from kvplan.schema.network import Fabric
    from kvplan.schema.parts import PlanParts
    from kvplan.schema.roles import Network, Rail, Role

_RAILS: tuple[Rail, Rail] = ("a", "b")


class Machine(NamedTuple):
    """A storage node or client server: its name, its number within the role, and its leaf pair, both from 1."""

    name: str
    role: Role
    number: int
    pair: int


class Adapters(NamedTuple):
    """Equal adapters of a machine: which network they serve, how their ports are called, and how many there are."""

    network: Network
    stem: str
    nic: Nic
    cards: int

    @property
    def ports(self) -> int:
        """Fabric ports of one machine [1]."""
        return self.cards * self.nic.ports


class HostLeg(NamedTuple):
    """One fabric port of a machine: its name, network and rail, its rate [bit/s], and its position on the rail."""

    machine: Machine
    port: str
    network: Network
    rail: Rail
    nic: Nic
    position: int


def adapters_of(parts: PlanParts, role: Role) -> tuple[Adapters, ...]:
    """List the adapters of a storage node or a client server.

    ports = cards x ports of a card

    Parameters
    ----------
    parts
        What a Plan is built from.
    role
        What the device is.

    Returns
    -------
    tuple of Adapters
        One entry a network that the device takes part in; none for what is no storage node or client server.

    References
    ----------
    The Plan's parts; IBM Redbook MD260021 for the reference: B3220 and ConnectX-7 a node, two B3140H a client.

    Examples
    --------
    >>> from kvplan.reference import INPUTS
    >>> [(entry.network, entry.ports) for entry in adapters_of(INPUTS.plan.parts, "storage")]
    [('storage-client', 2), ('storage', 1)]
    """
    if role == "client":
        return (Adapters("client", "nic", parts.gpu_nic, parts.gpu.nics_per_server),)
    if role != "storage":
        return ()
    return (
        Adapters("storage-client", "client", parts.client_nic, parts.client_nics),
        Adapters("storage", "storage", parts.storage_nic, parts.storage_nics),
    )


def fabric_of_design(inputs: DesignInputs) -> Fabric:
    """Lay out the switches with the oversubscription and the spines that the build asks for.

    as `kvplan.core.network.leafspine.fabric`

    Parameters
    ----------
    inputs
        The Plan and the build options.

    Returns
    -------
    Fabric
        Counts of switches, cages and cables [1].

    References
    ----------
    As `kvplan.core.network.leafspine.fabric`.

    Examples
    --------
    >>> from kvplan.reference import INPUTS
    >>> built = fabric_of_design(INPUTS)
    >>> built.leaf_switches + built.spine_switches
    3
    """
    plan, asked = inputs.plan, inputs.options.fabric
    counts = {"storage": plan.profile.nodes, "client": plan.network.client_servers}
    to_clients, between, clients = (
        Ports(counts[role], entry.ports, entry.nic.port_bits_per_s)
        for role in ("storage", "client")
        for entry in adapters_of(inputs.plan.parts, role)
    )
    ratio = asked.oversubscription or plan.request.oversubscription
    return fabric(to_clients, between, clients, plan.parts.switch, ratio, asked.min_spines)


def machines_of(inputs: DesignInputs, pairs: int) -> tuple[Machine, ...]:
    """Deal storage nodes and client servers out to the leaf pairs, in blocks of consecutive numbers.

    pair = ceil(number / ceil(machines / pairs))

    Parameters
    ----------
    inputs
        The Plan.
    pairs
        Leaf pairs [1].

    Returns
    -------
    tuple of Machine
        Storage nodes, then client servers, each by number.

    References
    ----------
    Derived: consecutive numbers share racks, so that a breakout cable reaches all of its ends.

    Examples
    --------
    >>> from kvplan.reference import INPUTS
    >>> [machine.name for machine in machines_of(INPUTS, 1)][-3:]
    ['gpu-0002', 'gpu-0003', 'gpu-0004']
    """
    plan = inputs.plan
    return (
        *_dealt("storage", plan.profile.nodes, pairs),
        *_dealt("client", plan.network.client_servers, pairs),
    )


def _dealt(role: Role, count: int, pairs: int) -> Iterator[Machine]:
    """Yield the machines of a role, block by block."""
    block = ceil_div(count, pairs)
    for number in range(1, count + 1):
        yield Machine(device_name(role, number), role, number, ceil_div(number, block))


def legs_of(machine: Machine, entry: Adapters) -> Iterator[HostLeg]:
    """Yield the ports of some adapters of a machine, dealt out to the two rails in turn.

    rail of port j of machine n = (j + s) mod 2, with s = n - 1 where the machine has an odd number of ports, else 0

    Parameters
    ----------
    machine
        The machine.
    entry
        Its adapters.

    Yields
    ------
    HostLeg
        Each port, with its position among those of the machine on the same rail [1].

    References
    ----------
    Derived: port 0 of all machines is on rail a and port 1 on rail b, so that a client that picks an address of its
    own rail stays within the leaf; single ports alternate by machine.

    Examples
    --------
    >>> from kvplan.reference import INPUTS
    >>> machine = machines_of(INPUTS, 1)[1]
    >>> [(leg.port, leg.rail) for entry in adapters_of(INPUTS.plan.parts, "storage") for leg in legs_of(machine, entry)]
    [('client1p0', 'a'), ('client1p1', 'b'), ('storage1p0', 'b')]
    """
    shift = machine.number - 1 if entry.ports % 2 else 0
    for index in range(entry.ports):
        card, port = divmod(index, entry.nic.ports)
        rail = _RAILS[(index + shift) % 2]
        yield HostLeg(machine, f"{entry.stem}{card + 1}p{port}", entry.network, rail, entry.nic, index // 2)


def recovery_groups(inputs: DesignInputs, machines: Sequence[Machine]) -> dict[str, int]:
    """Deal the storage nodes out to their recovery groups, so that a leaf holds as few of a group as it can.

    group = position among all storage nodes, leaf by leaf, mod groups

    Parameters
    ----------
    inputs
        The Plan.
    machines
        Storage nodes with their leaf pairs.

    Returns
    -------
    dict of int
        Number of the group by name of the node, from 1 [1].

    References
    ----------
    Derived: a leaf with n nodes holds at most ceil(n / groups) of one group, as the state with a leaf lost assumes.

    Examples
    --------
    >>> from kvplan.reference import INPUTS
    >>> set(recovery_groups(INPUTS, machines_of(INPUTS, 1)).values())
    {1}
    """
    nodes = [machine for machine in machines if machine.role == "storage"]
    entry = next(entry for entry in adapters_of(inputs.plan.parts, "storage") if entry.network == "storage")
    by_leaf = sorted(nodes, key=lambda node: (node.pair, next(legs_of(node, entry)).rail, node.number))
    groups = inputs.plan.profile.recovery_groups
    return {node.name: position % groups + 1 for position, node in enumerate(by_leaf)}
