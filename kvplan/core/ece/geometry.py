"""The geometry of a tier: groups, capacity, fault tolerance and limits in one record."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from kvplan.core.ece.capacity import group_usable_bytes
from kvplan.core.ece.layout import GeometryInput, layout
from kvplan.core.ece.limits import IMPOSSIBLE_BELOW, geometry_limits
from kvplan.core.ece.partitions import partition_bytes
from kvplan.core.ece.tolerance import fault_tolerance
from kvplan.core.ece.tracks import checksum_granularity_bytes
from kvplan.schema.ece import Geometry

if TYPE_CHECKING:
    from kvplan.core.ece.layout import RecoveryGroup
    from kvplan.schema.ece import Limit

__all__ = ["GeometryInput", "geometry"]


@lru_cache(maxsize=8192)
def geometry(asked: GeometryInput) -> Geometry:
    """Compute the geometry of an erasure code over nodes and drives.

    usable = sum over recovery groups of 2 n vdisks x whole tracks x block size

    Parameters
    ----------
    asked
        Nodes, drives per node, drive size [B], code, block size [B], spares [drives], release, set size [%].

    Returns
    -------
    Geometry
        Raw and usable capacity [B], efficiency and usable fraction [1], tolerance and every limit.

    Notes
    -----
    Before file-system metadata; within about 1 % of what `mmvdisk` will offer. A geometry in which no stripe can be
    laid out has 0 usable bytes and a limit of severity error that does not hold. A block size or a code that is
    refused is a limit too, but the capacity is still that of the layout.

    References
    ----------
    IBM SpectrumScaleTools gnr_capacity_estimator 1.3 (tsgnrplan logic);
    https://www.ibm.com/docs/en/storage-scale-ece/5.2.3?topic=selection-recommendations

    Examples
    --------
    >>> from kvplan.core.ece.example import EXAMPLE
    >>> tier = geometry(EXAMPLE)
    >>> tier.raw_bytes / 1e12, round(tier.usable_bytes / 1e12), tier.code_efficiency, round(tier.usable_fraction, 3)
    (983.04, 744, 0.8, 0.757)
    """
    groups = layout(asked)
    limits = geometry_limits(asked, groups)
    raw_bytes = asked.nodes * asked.drives_per_node * asked.drive_bytes
    usable_bytes = _usable_bytes(asked, groups, limits)
    return Geometry(
        nodes=asked.nodes,
        drives_per_node=asked.drives_per_node,
        drive_bytes=asked.drive_bytes,
        erasure_code=asked.code.name,
        block_bytes=asked.block_bytes,
        raw_bytes=raw_bytes,
        usable_bytes=usable_bytes,
        code_efficiency=asked.code.efficiency,
        usable_fraction=usable_bytes / raw_bytes,
        recovery_groups=len(groups),
        nodes_per_recovery_group=tuple(group.nodes for group in groups),
        pdisks_per_recovery_group=tuple(group.pdisks for group in groups),
        spare_pdisks=sum(group.spare_pdisks for group in groups),
        spare_pdisks_per_recovery_group=tuple(group.spare_pdisks for group in groups),
        partition_bytes=partition_bytes(asked.drive_bytes),
        checksum_granularity_bytes=checksum_granularity_bytes(asked.code, asked.block_bytes),
        fault_tolerance=fault_tolerance(asked.code, groups[-1].nodes),
        limits=limits,
    )


def _usable_bytes(asked: GeometryInput, groups: tuple[RecoveryGroup, ...], limits: tuple[Limit, ...]) -> int:
    """Sum the capacity of all groups, or 0 when no stripe can be laid out."""
    if any(limit.name in IMPOSSIBLE_BELOW and not limit.holds for limit in limits):
        return 0
    return sum(group_usable_bytes(group, asked) for group in groups)
