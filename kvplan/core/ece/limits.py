"""The limits of a geometry: what Storage Scale ECE enforces (errors), then what it advises (warnings)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.core.ece import sources
from kvplan.core.ece.advice import advice
from kvplan.core.ece.capacity import vdisk_partitions
from kvplan.core.ece.codes import CODES
from kvplan.core.ece.judge import judge
from kvplan.units import GIB, YES_NO, format_binary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.core.ece.layout import GeometryInput, RecoveryGroup
    from kvplan.schema.ece import Limit

LARGE_ARRAY_PDISKS: Final = 12
"""Drives that one declustered array must have, because it holds the configuration data."""

LOG_HOME_DRIVE_BYTES: Final[int] = 500 * GIB
"""Smallest drive that can take the log homes."""

IMPOSSIBLE_BELOW: Final = frozenset(
    {"servers_per_group_min", "pdisks_per_group", "array_width", "large_array", "data_space"}
)
"""Limits without which no stripe can be laid out, so that there is no capacity to speak of."""


def geometry_limits(asked: GeometryInput, groups: tuple[RecoveryGroup, ...]) -> tuple[Limit, ...]:
    """Judge every limit of a geometry.

    Parameters
    ----------
    asked
        Nodes, drives per node, drive size [B], code, block size [B] and release.
    groups
        Its recovery groups, the largest first, as `layout` gives them.

    Returns
    -------
    tuple of Limit
        Servers, arrays, code and block size, then advice.

    Notes
    -----
    Bounds from above are judged on the largest group, bounds from below on the smallest.

    References
    ----------
    The release's row; IBM docs and IBM SpectrumScaleTools as named in each limit.

    Examples
    --------
    >>> from kvplan.core.ece.example import EXAMPLE
    >>> from kvplan.core.ece.layout import layout
    >>> [limit.name for limit in geometry_limits(EXAMPLE, layout(EXAMPLE)) if not limit.holds]
    ['recommended_nodes', 'spares_for_a_node', 'rack_failure_domains']
    """
    return (
        *_server_limits(asked, groups),
        *_array_limits(asked, groups[-1]),
        *_code_limits(asked),
        *_block_limits(asked),
        *advice(asked, groups),
    )


def _server_limits(asked: GeometryInput, groups: tuple[RecoveryGroup, ...]) -> Iterator[Limit]:
    """Judge servers and drives against the release's row."""
    release = asked.release
    least, most = release.min_servers_per_recovery_group, release.max_servers_per_recovery_group
    servers = f"a recovery group has {least} to {most} servers"
    pdisks = f"a recovery group has at most {release.max_pdisks_per_recovery_group} drives"
    drives = f"a server has at most {release.max_drives_per_server} drives"
    total = f"a cluster has at most {release.max_servers} ECE servers"
    source = release.source
    yield judge("servers_per_group_min", least, groups[-1].nodes, "nodes", text=servers, source=source)
    yield judge("servers_per_group_max", groups[0].nodes, most, "nodes", text=servers, source=source, bound="most")
    yield judge(
        "pdisks_per_group",
        groups[0].pdisks,
        release.max_pdisks_per_recovery_group,
        "drives",
        text=pdisks,
        source=source,
        bound="most",
    )
    yield judge(
        "drives_per_server",
        asked.drives_per_node,
        release.max_drives_per_server,
        "drives",
        text=drives,
        source=source,
        bound="most",
    )
    yield judge("servers_total", asked.nodes, release.max_servers, "nodes", text=total, source=source, bound="most")


def _array_limits(asked: GeometryInput, group: RecoveryGroup) -> Iterator[Limit]:
    """Judge the declustered array of the smallest group, which holds all its drives."""
    width = asked.code.width
    wanted = width + group.spare_pdisks
    yield judge(
        "array_width",
        wanted,
        group.pdisks,
        "drives",
        text=f"{asked.code.name} with {group.spare_pdisks} spare drives takes an array of {wanted} drives or more",
        source=sources.ARRAY_WIDTH,
    )
    yield judge(
        "large_array",
        LARGE_ARRAY_PDISKS,
        group.pdisks,
        "drives",
        text=f"one declustered array must have {LARGE_ARRAY_PDISKS} drives or more",
        source=sources.OVERVIEW_CHECK,
    )
    yield judge(
        "log_home_drive",
        LOG_HOME_DRIVE_BYTES,
        asked.drive_bytes,
        "B",
        text="the log homes take a flash drive of 500 GiB or more in each server",
        source=sources.HARDWARE_CHECK,
    )
    yield judge(
        "data_space",
        width,
        vdisk_partitions(group, asked.drive_bytes, asked.set_size_percent),
        "partitions",
        text=f"after spares, log homes and reserves a vdisk of {asked.code.name} takes {width} partitions or more",
        source=sources.ESTIMATOR,
    )


def _code_limits(asked: GeometryInput) -> Iterator[Limit]:
    """Judge whether the release knows the code."""
    release = asked.release
    known = asked.code.name in {name.upper() for name in release.erasure_codes}
    yield judge(
        "code_in_release",
        1,
        int(known),
        YES_NO,
        text=f"release {release.version} offers {', '.join(release.erasure_codes)}",
        source=release.source,
    )


def _block_limits(asked: GeometryInput) -> Iterator[Limit]:
    """Judge the block size: a power of two, within the code's range."""
    facts, block = CODES[asked.code], asked.block_bytes
    # The power of two at or above the block is the block only if the block is one itself.
    power = 1 << (block - 1).bit_length()
    range_source = sources.BLOCK_RANGE if facts.block_confidence == "vendor" else sources.ESTIMATOR
    low, high = format_binary(facts.block_min_bytes), format_binary(facts.block_max_bytes)
    allowed = f"vdisks of {asked.code.name} have blocks of {low} to {high}"
    text = "a block size is a power of two"
    yield judge("block_power_of_two", power, block, "B", text=text, source=sources.VDISK_ATTRIBUTES)
    yield judge("block_min", facts.block_min_bytes, block, "B", text=allowed, source=range_source)
    yield judge("block_max", block, facts.block_max_bytes, "B", text=allowed, source=range_source, bound="most")
