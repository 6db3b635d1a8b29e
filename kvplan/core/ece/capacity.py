"""Usable capacity of one recovery group, the way IBM's planner counts it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.ece.partitions import LOG_GROUPS_PER_NODE, data_partitions, partition_bytes
from kvplan.core.ece.tracks import checksum_granularity_bytes, vdisk_data_bytes

if TYPE_CHECKING:
    from kvplan.core.ece.layout import GeometryInput, RecoveryGroup


def vdisk_partitions(group: RecoveryGroup, drive_bytes: int, set_size_percent: int) -> int:
    """Count the partitions of one vdisk: floor(data partitions / log groups) x set size.

    Parameters
    ----------
    group
        Servers, drives and spares of the recovery group.
    drive_bytes
        Size of one drive [B].
    set_size_percent
        Share of the declustered array that the vdisk set takes [%].

    Returns
    -------
    int
        Partitions [partitions].

    Notes
    -----
    Each log group, two per server, has one vdisk of the set.

    References
    ----------
    IBM SpectrumScaleTools gnr_capacity_estimator 1.3 (tsgnrplan logic).

    Examples
    --------
    >>> from kvplan.core.ece.layout import RecoveryGroup
    >>> vdisk_partitions(RecoveryGroup(nodes=8, drives_per_node=16, spare_pdisks=4), 7_680_000_000_000, 100)
    13767
    """
    available = data_partitions(group.nodes, group.drives_per_node, drive_bytes, group.spare_pdisks)
    # The planner divides among the log groups before it takes the percentage; the order decides the rounding.
    return available // (LOG_GROUPS_PER_NODE * group.nodes) * set_size_percent // 100


def group_usable_bytes(group: RecoveryGroup, asked: GeometryInput) -> int:
    """Give the capacity of one recovery group before file-system metadata: 2 n vdisks x data of one vdisk.

    Parameters
    ----------
    group
        Servers, drives and spares of the recovery group.
    asked
        Code, block size, drive size [B] and set size [%] of the geometry.

    Returns
    -------
    int
        Usable capacity [B].

    Notes
    -----
    Flash drives, one declustered array, one vdisk set; IBM promises its estimator to within 1 %.

    References
    ----------
    IBM SpectrumScaleTools gnr_capacity_estimator 1.3 (tsgnrplan logic).

    Examples
    --------
    >>> from kvplan.core.ece.example import EXAMPLE
    >>> from kvplan.core.ece.layout import layout
    >>> [group_usable_bytes(group, EXAMPLE) / 1e12 for group in layout(EXAMPLE)]
    [744.5]
    """
    partitions = vdisk_partitions(group, asked.drive_bytes, asked.set_size_percent)
    granularity = checksum_granularity_bytes(asked.code, asked.block_bytes)
    size = partition_bytes(asked.drive_bytes)
    vdisk = vdisk_data_bytes(asked.code, asked.block_bytes, granularity, partitions, size)
    return LOG_GROUPS_PER_NODE * group.nodes * vdisk
