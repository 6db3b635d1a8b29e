"""What an erasure code makes of one byte that a client reads or writes: traffic between the storage nodes."""

from __future__ import annotations


def read_traffic(group_nodes: int) -> float:
    """Bytes on the storage network for each byte that a client reads.

    a_r = (N - 1) / N

    Parameters
    ----------
    group_nodes
        Nodes N of the recovery group [1].

    Returns
    -------
    float
        Storage-network bytes per client byte [1]; the same amount leaves and enters the storage NICs.

    Notes
    -----
    Strips lie evenly over the nodes and the client asks one of them, which fetches what it does not hold itself.

    References
    ----------
    Derived; measured on eight nodes, 1 + a_r = 1.875 bytes on all networks per client byte
    (threen134/cloudland, docs/architecture/plan).

    Examples
    --------
    >>> [round(read_traffic(nodes), 3) for nodes in (4, 8, 16, 32, 256)]
    [0.75, 0.875, 0.938, 0.969, 0.996]
    """
    return (group_nodes - 1) / group_nodes


def write_traffic(group_nodes: int, data_strips: int, parity_strips: int) -> float:
    """Bytes on the storage network for each byte that a client writes.

    a_w = (d + p) / d x (N - 1) / N

    Parameters
    ----------
    group_nodes
        Nodes N of the recovery group [1].
    data_strips
        Data strips d of the code [1].
    parity_strips
        Parity strips p of the code [1].

    Returns
    -------
    float
        Storage-network bytes per client byte [1]; the same amount leaves and enters the storage NICs.

    Notes
    -----
    Full stripes only; small writes add a read-modify-write cycle.

    References
    ----------
    Derived from the layout of Storage Scale ECE vdisks, IBM docs storage-scale-ece/6.0.0?topic=disks-virtual.

    Examples
    --------
    >>> [round(write_traffic(nodes, 8, 2), 3) for nodes in (4, 8, 16, 32, 256)]
    [0.938, 1.094, 1.172, 1.211, 1.245]
    """
    return (data_strips + parity_strips) / data_strips * read_traffic(group_nodes)


def degraded_read_factor(data_strips: int, lost_share: float) -> float:
    """Factor of strip reads for each strip asked for, while some are lost and not yet rebuilt.

    factor = (1 - f) + f x d

    Parameters
    ----------
    data_strips
        Data strips d of the code [1].
    lost_share
        Share f of the strips that are lost [1].

    Returns
    -------
    float
        Strip reads per strip [1].

    Notes
    -----
    An upper bound: each lost strip costs d strip reads of its own. A read of the whole stripe needs d strips anyway
    and pays nothing more.

    References
    ----------
    Property of a Reed-Solomon code: any d of the d + p strips restore a stripe. Reed and Solomon, Polynomial Codes
    over Certain Finite Fields, J. SIAM 8 (1960), 300-304.

    Examples
    --------
    >>> degraded_read_factor(8, 0), degraded_read_factor(8, 1 / 8)
    (1.0, 1.875)
    """
    return 1.0 + (data_strips - 1) * lost_share


def cross_leaf_share(machines: int, leaves: int) -> float:
    """Share of the traffic among some machines that changes leaf, with the machines spread evenly over the leaves.

    share = (N - N / L) / (N - 1)

    Parameters
    ----------
    machines
        Machines N that talk to each other, each to all others alike [1].
    leaves
        Leaves L over which their ports are spread [1].

    Returns
    -------
    float
        Share of their traffic that needs the spine [1].

    Notes
    -----
    The worst case of a single-port NIC: no rail keeps traffic inside a leaf. With fewer machines than leaves all of
    it changes leaf.

    References
    ----------
    Derived by counting peers: N - N / L of the N - 1 peers sit on another leaf.

    Examples
    --------
    >>> round(cross_leaf_share(8, 2), 2), cross_leaf_share(8, 1), cross_leaf_share(4, 44)
    (0.57, 0.0, 1.0)
    """
    if machines <= 1:
        return 0.0
    return (machines - machines / min(leaves, machines)) / (machines - 1)
