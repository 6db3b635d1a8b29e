"""Fault tolerance of an erasure code over nodes, and whether it meets a requirement."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from kvplan.core.ece.alternatives import alternatives
from kvplan.core.ece.strips import further_device_failures, node_failures, recommended_codes, strips_per_node
from kvplan.schema.ece import FaultTolerance

if TYPE_CHECKING:
    from kvplan.core.ece.codes import ErasureCode
    from kvplan.schema.request import Survive

SURVIVED_BY: Final[dict[Survive, tuple[int, int]]] = {
    "node": (1, 0),
    "node+drive": (1, 1),
    "2-nodes": (2, 0),
    "3-nodes": (3, 0),
}
"""Node failures and further device failures that each requirement asks for; two nodes cover a node and a drive."""


@lru_cache(maxsize=1024)
def fault_tolerance(code: ErasureCode, nodes_in_smallest_group: int) -> FaultTolerance:
    """Judge a code over a recovery group: what it survives, what IBM recommends, and what would survive more.

    s = ceil((d + p) / n), node failures = floor(p / s), further device failures = p - node failures x s

    Parameters
    ----------
    code
        Erasure code.
    nodes_in_smallest_group
        Nodes of the smallest recovery group [nodes], which decides for all.

    Returns
    -------
    FaultTolerance
        The counts [nodes, drives] with recommended codes and alternatives.

    Notes
    -----
    Worst case before rebuild.

    References
    ----------
    https://www.ibm.com/docs/en/storage-scale-ece/5.2.3?topic=selection-recommendations

    Examples
    --------
    >>> from kvplan.core.ece.codes import ErasureCode
    >>> tolerance = fault_tolerance(ErasureCode(8, 2), 8)
    >>> tolerance.node_failures, tolerance.further_device_failures, tolerance.ibm_recommended
    (1, 0, False)
    """
    nodes = nodes_in_smallest_group
    recommended = recommended_codes(nodes)
    return FaultTolerance(
        strips_per_node=strips_per_node(code, nodes),
        node_failures=node_failures(code, nodes),
        further_device_failures=further_device_failures(code, nodes),
        ibm_recommended=code.name in recommended,
        ibm_codes=recommended,
        alternatives=alternatives(code, nodes),
    )


def satisfies(tolerance: FaultTolerance, survive: Survive | None) -> bool:
    """Tell whether a tolerance meets a requirement.

    Parameters
    ----------
    tolerance
        What is survived, as node failures [nodes] and further device failures [drives].
    survive
        node, node+drive, 2-nodes or 3-nodes; absent asks for nothing.

    Returns
    -------
    bool
        True when every failure asked for is survived, all at the same time.

    Notes
    -----
    Two nodes cover a node and a drive, because the drive lies in some node.

    References
    ----------
    Derived from https://www.ibm.com/docs/en/storage-scale-ece/5.2.3?topic=selection-recommendations

    Examples
    --------
    >>> from kvplan.core.ece.codes import ErasureCode
    >>> satisfies(fault_tolerance(ErasureCode(8, 2), 8), "node+drive")
    False
    >>> satisfies(fault_tolerance(ErasureCode(8, 2), 10), "node+drive")
    True
    """
    if survive is None:
        return True
    return (tolerance.node_failures, tolerance.further_device_failures) >= SURVIVED_BY[survive]


def survivable(code: ErasureCode, survive: Survive | None) -> bool:
    """Tell whether a code meets a requirement on any number of nodes.

    With one strip per node, the best case, p nodes may fail.

    Parameters
    ----------
    code
        Erasure code.
    survive
        node, node+drive, 2-nodes or 3-nodes; absent asks for nothing.

    Returns
    -------
    bool
        False when no node count will do, so that none needs to be tried [1].

    Notes
    -----
    `satisfies` judges a given node count.

    References
    ----------
    Derived from https://www.ibm.com/docs/en/storage-scale-ece/5.2.3?topic=selection-recommendations

    Examples
    --------
    >>> from kvplan.core.ece.codes import ErasureCode
    >>> survivable(ErasureCode(8, 2), "3-nodes"), survivable(ErasureCode(8, 3), "3-nodes")
    (False, True)
    """
    return survive is None or (code.parity, 0) >= SURVIVED_BY[survive]
