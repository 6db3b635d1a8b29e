"""Which nodes form the quorum: an odd number, as far apart as the racks allow."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.schema.design import Device
    from kvplan.site.deployment import Server

_COUNTS: Final = ((7, 7), (5, 5), (3, 3), (1, 1))
"""From so many nodes on, so many in the quorum."""


def quorum_size(nodes: int) -> int:
    """Count the quorum nodes of a cluster.

    q = 7 from 7 nodes on, 5 from 5, 3 from 3, else 1

    Parameters
    ----------
    nodes
        Nodes that may be in it.

    Returns
    -------
    int
        An odd number; more than seven only slow every election down.

    References
    ----------
    IBM Storage Scale ECE documentation, installation toolkit: 3 of 4 nodes, 5 of 5 or 6, 7 from 7 on.

    Examples
    --------
    >>> [quorum_size(nodes) for nodes in (3, 4, 6, 8, 256)]
    [3, 3, 5, 7, 7]
    """
    return next((size for least, size in _COUNTS if nodes >= least), 0)


def quorum_of(servers: Sequence[Server]) -> frozenset[str]:
    """Choose the quorum nodes: one leaf pair after the other, in each one rack after the other, lowest number first.

    Parameters
    ----------
    servers
        The nodes of the cluster.

    Returns
    -------
    frozenset of str
        Inventory names.
    """
    devices = [server.device for server in servers]
    return frozenset(device.name for device in _spread(devices)[: quorum_size(len(devices))])


def _spread(devices: list[Device]) -> list[Device]:
    """Order devices so that any first few of them stand in as many pairs and racks as can be."""
    racks: dict[int, list[str]] = defaultdict(list)
    places: dict[str, list[str]] = defaultdict(list)
    for device in sorted(devices, key=lambda device: device.number):
        if device.rack not in racks[device.pair]:
            racks[device.pair].append(device.rack)
        places[device.rack].append(device.name)

    def order(device: Device) -> tuple[int, int, int]:
        return places[device.rack].index(device.name), racks[device.pair].index(device.rack), device.pair

    return sorted(devices, key=order)
