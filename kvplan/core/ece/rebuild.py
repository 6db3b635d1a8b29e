"""How long a rebuild takes at least when the storage network is its limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.schema.ece import Rebuild

if TYPE_CHECKING:
    from kvplan.core.ece.codes import ErasureCode


def moved_bytes(lost_bytes: float, code: ErasureCode, nodes: int) -> float:
    """Give what crosses the storage network to rebuild lost strips: lost x (d + 1) x (n - 1) / n.

    Parameters
    ----------
    lost_bytes
        Space lost, all of it full [B].
    code
        Erasure code: d strips are read and one is written for each strip lost.
    nodes
        Nodes of the recovery group [nodes].

    Returns
    -------
    float
        Bytes moved between nodes [B].

    Notes
    -----
    Strips lie evenly on all nodes, so 1/n of the transfers stay within a node.

    References
    ----------
    Derived from the stripe layout in
    https://www.ibm.com/docs/en/storage-scale-ece/5.2.3?topic=selection-recommendations

    Examples
    --------
    >>> from kvplan.core.ece.codes import parse_code
    >>> moved_bytes(7.68e12, parse_code("8+2P"), 8) / 1e12
    60.48
    """
    return lost_bytes * (code.data + 1) * (nodes - 1) / nodes


def rebuild(
    code: ErasureCode,
    *,
    nodes: int,
    drives_per_node: int,
    drive_bytes: int,
    storage_nic_bytes_per_s: float,
    network_share: float,
) -> Rebuild:
    """Bound the rebuild time of one drive and of one node from below.

    drive_s = moved(drive) / (n x NIC rate x share),
    node_s = moved(node) / ((n - 1) x NIC rate x share) = lost x (d + 1) / (n x NIC rate x share)

    Parameters
    ----------
    code
        Erasure code.
    nodes
        Nodes of the recovery group [nodes].
    drives_per_node
        Drives per node [drives].
    drive_bytes
        Size of one drive [B].
    storage_nic_bytes_per_s
        Usable rate of one node's storage NIC, per direction [B/s].
    network_share
        Share of that rate given to the rebuild [1].

    Returns
    -------
    Rebuild
        Times [s].

    Notes
    -----
    Full drives, network as the only limit: rebuild policy, drive writes and CPU make it longer. A lost node takes its
    own NIC with it, so n - 1 cancels out. Re-creating a node in spare space needs spares of all its drives.

    References
    ----------
    Derived; NIC rate: 400 Gb/s Ethernet less 82 B of RoCEv2 headers per 4096 B packet is 49 GB/s (InfiniBand
    Architecture Specification, annex A17: RoCEv2).

    Examples
    --------
    >>> from kvplan.core.ece.codes import parse_code
    >>> bound = rebuild(parse_code("8+2P"), nodes=8, drives_per_node=16,
    ...                 drive_bytes=7_680_000_000_000, storage_nic_bytes_per_s=49e9, network_share=0.25)
    >>> round(bound.drive_s / 60, 1), round(bound.node_s / 60)
    (10.3, 188)
    """
    # Of n nodes, n - 1 are left to rebuild a lost one: the (n - 1) of `moved_bytes` cancels out of `node_s`.
    group_rate = nodes * storage_nic_bytes_per_s * network_share
    return Rebuild(
        drive_s=moved_bytes(drive_bytes, code, nodes) / group_rate,
        node_s=drives_per_node * drive_bytes * (code.data + 1) / group_rate,
    )
