"""How a recovery group cuts its drives into partitions, and how many are left for data."""

from __future__ import annotations

from typing import Final

from kvplan.core.arithmetic import ceil_div
from kvplan.units import GIB, KIB, MIB

END_RESERVED_BYTES: Final[int] = 4 * MIB + 2 * 64 * KIB
"""Kept free at the end of each pdisk: the Paxos area and two disk descriptor areas."""

MIN_PARTITION_BYTES: Final[int] = 4 * MIB
MAX_PARTITIONS_PER_PDISK: Final[int] = 2048

PREFIX_BYTES: Final[int] = 3 * GIB + 17 * 256 * KIB
"""Kept at the start of each pdisk: the log of the allocation units and 17 metadata slots."""

OVERFLOW_PARTITIONS: Final[int] = 4
RESERVED_DIVISOR: Final[int] = 1000
"""One partition in a thousand is reserved."""

LOG_GROUPS_PER_NODE: Final[int] = 2
LOG_HOME_COPIES: Final[int] = 4
USER_LOG_HOME_BYTES: Final[int] = 32 * GIB
ROOT_LOG_HOME_BYTES: Final[int] = 2 * GIB


def partition_bytes(drive_bytes: int) -> int:
    """Give the partition size of a drive: 4 MiB, doubled until at most 2048 partitions fit.

    Parameters
    ----------
    drive_bytes
        Size of one drive [B].

    Returns
    -------
    int
        Partition size [B].

    Notes
    -----
    All drives of the declustered array have one size. Just past a doubling, fixed counts of partitions weigh twice
    as much: a drive slightly larger can hold up to 0.3 % less.

    References
    ----------
    IBM SpectrumScaleTools gnr_capacity_estimator 1.3 (tsgnrplan logic).

    Examples
    --------
    >>> partition_bytes(7_680_000_000_000) // 2**30
    4
    """
    size = MIN_PARTITION_BYTES
    while drive_bytes - END_RESERVED_BYTES > MAX_PARTITIONS_PER_PDISK * size:
        size *= 2
    return size


def partitions_per_pdisk(drive_bytes: int) -> int:
    """Count the whole partitions of a drive: floor((size - end reserve) / partition size).

    Parameters
    ----------
    drive_bytes
        Size of one drive [B].

    Returns
    -------
    int
        Partitions [partitions].

    Notes
    -----
    Between 1024 and 2048 for every drive above 8 GiB.

    References
    ----------
    IBM SpectrumScaleTools gnr_capacity_estimator 1.3 (tsgnrplan logic).

    Examples
    --------
    >>> partitions_per_pdisk(7_680_000_000_000)
    1788
    """
    return max(0, drive_bytes - END_RESERVED_BYTES) // partition_bytes(drive_bytes)


def pdisk_overhead_partitions(drive_bytes: int) -> int:
    """Count the partitions of each data drive that never hold data: ceil(prefix / partition size) + 4 overflow.

    Parameters
    ----------
    drive_bytes
        Size of one drive [B].

    Returns
    -------
    int
        Partitions [partitions].

    Notes
    -----
    The allocation log of 3 GiB is that of scale-out groups; ESS building blocks have another.

    References
    ----------
    IBM SpectrumScaleTools gnr_capacity_estimator 1.3 (tsgnrplan logic).

    Examples
    --------
    >>> pdisk_overhead_partitions(7_680_000_000_000)
    5
    """
    return ceil_div(PREFIX_BYTES, partition_bytes(drive_bytes)) + OVERFLOW_PARTITIONS


def log_home_partitions(nodes: int, drive_bytes: int) -> int:
    """Count the partitions of all log homes of a recovery group.

    2 n log groups x 4 copies x ceil((32 GiB + 2 GiB / n) / partition size)

    Parameters
    ----------
    nodes
        Servers of the recovery group [nodes].
    drive_bytes
        Size of one drive [B].

    Returns
    -------
    int
        Partitions [partitions].

    Notes
    -----
    The root log home of 2 GiB is spread over the user log homes, as the estimator does it.

    References
    ----------
    IBM SpectrumScaleTools gnr_capacity_estimator 1.3 (tsgnrplan logic).

    Examples
    --------
    >>> log_home_partitions(8, 7_680_000_000_000)
    576
    """
    log_home_bytes = USER_LOG_HOME_BYTES + ceil_div(ROOT_LOG_HOME_BYTES, nodes)
    return LOG_GROUPS_PER_NODE * nodes * LOG_HOME_COPIES * ceil_div(log_home_bytes, partition_bytes(drive_bytes))


def data_partitions(nodes: int, drives_per_node: int, drive_bytes: int, spare_pdisks: int) -> int:
    """Count the partitions of a recovery group that vdisks may use.

    all - 0.1 % reserved - spares - (drives - spares) x overhead per drive - log homes

    Parameters
    ----------
    nodes
        Servers of the recovery group [nodes].
    drives_per_node
        Drives per server [drives].
    drive_bytes
        Size of one drive [B].
    spare_pdisks
        Drives of spare space in the group [drives].

    Returns
    -------
    int
        Partitions [partitions], never below 0.

    Notes
    -----
    One declustered array that holds all drives and the log homes.

    References
    ----------
    IBM SpectrumScaleTools gnr_capacity_estimator 1.3 (tsgnrplan logic).

    Examples
    --------
    >>> data_partitions(8, 16, 7_680_000_000_000, 4)
    220287
    """
    pdisks = nodes * drives_per_node
    per_pdisk = partitions_per_pdisk(drive_bytes)
    reserved = ceil_div(pdisks * per_pdisk, RESERVED_DIVISOR)
    left_per_pdisk = per_pdisk - pdisk_overhead_partitions(drive_bytes)
    left = (pdisks - spare_pdisks) * left_per_pdisk - reserved - log_home_partitions(nodes, drive_bytes)
    return max(0, left)
