"""Machines to leaves: which cage of which leaf each port of a machine goes to."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from kvplan.core.design.addressing import host_link
from kvplan.core.design.bundles import CAGE_LANES, Bundle, Far, Leg
from kvplan.core.design.machines import adapters_of, legs_of
from kvplan.core.design.names import cage_name, leaf_name, switch_port
from kvplan.core.network.leafspine import legs_per_cage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kvplan.core.design.inputs import DesignInputs
    from kvplan.core.design.machines import Adapters, HostLeg, Machine
    from kvplan.schema.build import AddressRanges
    from kvplan.schema.roles import Network, Rail


def host_bundles(inputs: DesignInputs, machines: Sequence[Machine]) -> tuple[Bundle, ...]:
    """Fill the cages of the leaves from the first one on: storage to clients, between storage nodes, clients.

    cages of a network on a leaf = ceil(its legs there / legs per cage)

    Parameters
    ----------
    inputs
        The Plan and the build options.
    machines
        Storage nodes and client servers with their leaf pairs.

    Returns
    -------
    tuple of Bundle
        One a cage, by leaf and cage; rates in [bit/s].

    References
    ----------
    As `kvplan.core.network.leafspine.fabric`, whose counts this spells out.

    Examples
    --------
    >>> from kvplan.reference import INPUTS
    >>> from kvplan.core.design.machines import machines_of
    >>> bundles = host_bundles(INPUTS, machines_of(INPUTS, 1))
    >>> [(bundle.cage, bundle.breakout, bundle.network) for bundle in bundles if bundle.device == "leaf-001a"]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('swp1', 4, 'storage-client'), ('swp2', 4, 'storage-client'), ('swp3', 2, 'storage'), ('swp4', 2, 'storage'),
     ('swp5', 2, 'client'), ('swp6', 2, 'client')]
    """
    by_leaf: dict[tuple[int, Rail], dict[Network, list[HostLeg]]] = defaultdict(lambda: defaultdict(list))
    # Network by network, so that the cages of each follow one another.
    for entry, machine in _served(inputs, machines):
        for leg in legs_of(machine, entry):
            by_leaf[machine.pair, leg.rail][entry.network].append(leg)
    return tuple(
        bundle for leaf in sorted(by_leaf) for bundle in _leaf_bundles(inputs, leaf_name(*leaf), by_leaf[leaf])
    )


def _served(inputs: DesignInputs, machines: Sequence[Machine]) -> Iterator[tuple[Adapters, Machine]]:
    """Yield each kind of adapters with each machine that has it."""
    for role in ("storage", "client"):
        for entry in adapters_of(inputs.plan.parts, role):
            yield from ((entry, machine) for machine in machines if machine.role == role)


def _leaf_bundles(inputs: DesignInputs, leaf: str, networks: dict[Network, list[HostLeg]]) -> Iterator[Bundle]:
    """Yield the cages of one leaf that machines fill."""
    cage = 0
    for network, legs in networks.items():
        nic = legs[0].nic
        per_cage = legs_per_cage(inputs.plan.parts.switch, nic.port_bits_per_s)
        for start in range(0, len(legs), per_cage):
            cage += 1
            yield Bundle(
                device=leaf,
                cage=cage_name(cage),
                connector=inputs.plan.parts.switch.connector,
                breakout=per_cage,
                lanes=CAGE_LANES // per_cage,
                bits_per_s=nic.port_bits_per_s,
                network=network,
                rail=legs[0].rail,
                legs=tuple(
                    _leg(leg, switch_port(cage, per_cage, index), inputs.options.addresses)
                    for index, leg in enumerate(legs[start : start + per_cage])
                ),
            )


def _leg(leg: HostLeg, port: str, ranges: AddressRanges) -> Leg:
    """Join a switch port and a machine's port, with the two addresses of the /31 between them."""
    near, far = host_link(ranges, leg)
    return Leg(port, Far(leg.machine.name, leg.port, leg.port, leg.nic.connector), 1, near, far)
