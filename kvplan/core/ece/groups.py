"""Spread of storage nodes over recovery groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.arithmetic import ceil_div

if TYPE_CHECKING:
    from kvplan.schema.software import StorageRelease


def recovery_group_nodes(nodes: int, drives_per_node: int, release: StorageRelease) -> tuple[int, ...]:
    """Spread nodes over the fewest recovery groups, as evenly as possible, the largest first.

    groups = ceil(nodes / min(servers per group, floor(pdisks per group / drives per node)))

    Parameters
    ----------
    nodes
        Storage nodes in all [nodes].
    drives_per_node
        Drives per node [drives].
    release
        The release with its limits per recovery group.

    Returns
    -------
    tuple of int
        Nodes of each recovery group [nodes].

    Notes
    -----
    A server belongs to one recovery group only. Too many drives for any group still yield groups of one node, which
    the limits then refuse.

    References
    ----------
    https://www.ibm.com/docs/en/storage-scale-ece/5.2.3?topic=selection-nodes-in-recovery-group

    Examples
    --------
    >>> from kvplan.core.ece.example import EXAMPLE
    >>> [recovery_group_nodes(nodes, 16, EXAMPLE.release) for nodes in (32, 33, 70)]
    [(32,), (17, 16), (24, 23, 23)]
    """
    # Servers or pdisks, whichever runs out first, bound a recovery group.
    by_pdisks = release.max_pdisks_per_recovery_group // drives_per_node
    most = max(1, min(release.max_servers_per_recovery_group, by_pdisks))
    groups = ceil_div(nodes, most)
    least, larger = divmod(nodes, groups)
    return tuple(least + 1 if group < larger else least for group in range(groups))
