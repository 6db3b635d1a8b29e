"""Other back ends for the shared tier, brought to the usable capacity of a Plan."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from kvplan.schema.alternative import BackendComparison

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvplan.schema.alternative import StorageAlternative
    from kvplan.schema.plan import Plan


def usable_share(row: StorageAlternative) -> float | None:
    r"""Return the share of raw space that may be filled with data.

    .. math:: \eta = \frac{k}{k + m} f

    Parameters
    ----------
    row
        k data strips, m parity strips [strips], and the share f of what is left that may be filled [1].

    Returns
    -------
    float or None
        Share [1]; None where the layout is not published.

    Notes
    -----
    Metadata, logs and spare space are left out unless f covers them. A Plan's own usable share leaves out less.

    References
    ----------
    The row's own source.

    Examples
    --------
    >>> from kvplan import load_catalogue
    >>> [round(usable_share(row) or 0, 3) for row in load_catalogue().rows("alternatives") if row.data_strips]
    [0.637, 0.618, 0.8, 0.8]
    """
    if row.data_strips is None or row.parity_strips is None:
        return None
    return row.data_strips / (row.data_strips + row.parity_strips) * (row.fill_share or 1)


def nodes_needed(row: StorageAlternative, usable_bytes: int, node_bytes: int) -> int | None:
    r"""Return the fewest nodes that hold so much.

    .. math:: n = \max(\lceil U / (\eta B) \rceil, k + m)

    Parameters
    ----------
    row
        k data and m parity strips [strips], which give the usable share eta [1].
    usable_bytes
        Usable capacity U [B].
    node_bytes
        Raw space B of a node [B].

    Returns
    -------
    int or None
        Nodes [nodes]; None where the layout is not published or the product brings its own hardware.

    Notes
    -----
    The bound k + m holds where each strip must have a node of its own. To rebuild after a loss takes one more.

    References
    ----------
    Definition of the failure domain.

    Examples
    --------
    >>> from kvplan import load_catalogue
    >>> ceph, daos = (load_catalogue().row("alternatives", name) for name in ("ceph-6-2", "daos"))
    >>> nodes_needed(ceph, 744 * 10**12, 123 * 10**12), nodes_needed(daos, 100 * 10**12, 123 * 10**12)
    (10, 10)
    """
    share = usable_share(row)
    if share is None or row.own_hardware or row.data_strips is None or row.parity_strips is None:
        return None
    fewest = row.data_strips + row.parity_strips if row.strips_over == "nodes" else 1
    return max(ceil(usable_bytes / (share * node_bytes)), fewest)


def comparisons(plan: Plan, rows: Iterable[StorageAlternative]) -> tuple[BackendComparison, ...]:
    """Bring every alternative to the usable capacity of a Plan.

    Parameters
    ----------
    plan
        The Plan, with its usable capacity [B] and what a node of it holds [B].
    rows
        The alternatives; the one marked `from_plan` shows what the Plan has.

    Returns
    -------
    tuple of BackendComparison
        Raw space [B], nodes [nodes], losses survived [nodes] and read rate [B/s], each absent where not known.

    Notes
    -----
    Read rates were published for the hardware that `read_source` names and are multiplied by the nodes needed; what
    the planned node would reach with that software nobody has published.

    References
    ----------
    The rows' own sources.

    Examples
    --------
    >>> from kvplan import load_catalogue
    >>> from kvplan.reference import PLAN
    >>> found = {item.id: item for item in comparisons(PLAN, load_catalogue().rows("alternatives"))}
    >>> found["storage-scale-ece"].nodes, found["ceph-6-2"].nodes, found["ddn-ai400x3m"].nodes
    (8, 10, None)
    """
    return tuple(_planned(plan, row) if row.from_plan else _compared(plan, row) for row in rows)


def _planned(plan: Plan, row: StorageAlternative) -> BackendComparison:
    """Show what the Plan has."""
    profile = plan.profile
    survived = profile.fault_tolerance.node_failures
    return _comparison(
        row,
        scheme=f"{profile.erasure_code}, {row.scheme}",
        usable_share=profile.usable_fraction,
        usable_bytes=profile.usable_bytes,
        raw_bytes=profile.raw_bytes,
        nodes=profile.nodes,
        serves_without=survived,
        keeps_without=survived,
        read_bytes_per_s=profile.read_bytes_per_s,
    )


def _compared(plan: Plan, row: StorageAlternative) -> BackendComparison:
    """Bring one alternative to the Plan's usable capacity."""
    usable, node_bytes = plan.profile.usable_bytes, plan.profile.drives_per_node * plan.profile.drive_bytes
    share, nodes = usable_share(row), nodes_needed(row, plan.profile.usable_bytes, node_bytes)
    keeps = row.parity_strips if row.strips_over == "nodes" else None
    rate = row.read_bytes_per_s_per_node
    return _comparison(
        row,
        scheme=row.scheme,
        usable_share=share,
        usable_bytes=usable,
        raw_bytes=None if share is None else ceil(usable / share),
        nodes=nodes,
        serves_without=None if keeps is None else keeps - row.serving_margin,
        keeps_without=keeps,
        read_bytes_per_s=None if rate is None or nodes is None else nodes * rate,
    )


def _comparison(row: StorageAlternative, **figures: object) -> BackendComparison:
    """Put figures and the words of the row together."""
    words = row.model_dump(
        include={
            "id", "title", "read_source", "gpudirect", "supported_by", "integration", "node_loss", "confidence",
            "source", "note",
        }
    )  # fmt: skip
    return BackendComparison.model_validate({**words, **figures})
