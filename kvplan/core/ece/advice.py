"""What a geometry should be warned of, though Storage Scale ECE creates it all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.ece import sources
from kvplan.core.ece.codes import CODES
from kvplan.core.ece.judge import judge
from kvplan.core.ece.strips import recommended_codes
from kvplan.units import YES_NO, format_binary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.core.ece.layout import GeometryInput, RecoveryGroup
    from kvplan.schema.ece import Limit


def advice(asked: GeometryInput, groups: tuple[RecoveryGroup, ...]) -> Iterator[Limit]:
    """Judge what works but should be known: cluster size, block on flash, node count, spares, racks.

    Parameters
    ----------
    asked
        Nodes, code, block size [B] and release of the geometry.
    groups
        Its recovery groups, the largest first.

    Yields
    ------
    Limit
        Verdicts of severity warning.

    Notes
    -----
    Judged on the smallest recovery group.

    References
    ----------
    IBM docs and IBM SpectrumScaleTools as named in each limit.

    Examples
    --------
    >>> from kvplan.core.ece.example import EXAMPLE
    >>> from kvplan.core.ece.layout import layout
    >>> [limit.name for limit in advice(EXAMPLE, layout(EXAMPLE)) if not limit.holds]
    ['recommended_nodes', 'spares_for_a_node', 'rack_failure_domains']
    """
    group = groups[-1]
    yield _servers_total(asked)
    yield from _block_on_flash(asked)
    yield _recommended_nodes(asked, group)
    yield _spares_for_a_node(group)
    yield _racks(asked)


def _servers_total(asked: GeometryInput) -> Limit:
    """Judge the cluster against the smaller of two published sizes."""
    most = asked.release.warn_servers
    return judge(
        "servers_total_advised",
        asked.nodes,
        most,
        "nodes",
        text=f"IBM's cluster check accepts {most} ECE servers; confirm more with IBM",
        source=sources.OVERVIEW_CHECK,
        severity="warning",
        bound="most",
    )


def _block_on_flash(asked: GeometryInput) -> Iterator[Limit]:
    """Judge the block size against the advice for flash, where there is one for the code."""
    most = CODES[asked.code].flash_block_bytes
    if most is None:
        return
    yield judge(
        "block_on_flash",
        asked.block_bytes,
        most,
        "B",
        text=f"on flash IBM advises {format_binary(most)} or less for {asked.code.name}; "
        "a larger block must be defined with 32 KiB checksum granularity",
        source=sources.FLASH_ADVICE,
        severity="warning",
        bound="most",
    )


def _spares_for_a_node(group: RecoveryGroup) -> Limit:
    """Judge spare space against the drives of a node."""
    return judge(
        "spares_for_a_node",
        group.drives_per_node,
        group.spare_pdisks,
        "drives",
        text=f"{group.spare_pdisks} spare drives cover failed drives; re-creating the data of a whole node "
        f"without replacing it takes {group.drives_per_node}",
        source="derived: a node's data takes the space of its drives",
        severity="warning",
    )


def _racks(asked: GeometryInput) -> Limit:
    """Judge whether strips can be kept apart by rack."""
    release = asked.release
    without = f"release {release.version} spreads strips over nodes, not racks: a lost rack is the loss of its nodes"
    return judge(
        "rack_failure_domains",
        1,
        int(release.rack_failure_domains),
        YES_NO,
        text="strips can be spread over racks"
        if release.rack_failure_domains
        else f"{without} (rack failure domains come with 6.0.1.0)",
        source=sources.RACKS,
        severity="warning",
    )


def _recommended_nodes(asked: GeometryInput, group: RecoveryGroup) -> Limit:
    """Judge the node count against IBM's recommendation, and without one against a node for each strip."""
    name, start = asked.code.name, CODES[asked.code].advised_from_nodes
    named = ", ".join(recommended_codes(group.nodes)) or "replication only"
    rule, source = f"IBM recommends {name} from {start} nodes", sources.CODE_SELECTION
    if CODES[asked.code].recommended_from_nodes is None:
        rule, source = f"{sources.ONE_STRIP_A_NODE}; {name} has {start} strips", sources.ONE_STRIP_A_NODE
    return judge(
        "recommended_nodes",
        start,
        group.nodes,
        "nodes",
        text=f"{rule}; on {group.nodes} nodes IBM names {named}",
        source=source,
        severity="warning",
    )
