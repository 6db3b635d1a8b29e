"""Spare space of a declustered array, in whole pdisks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class _SpareRule:
    """Spares grow in proportion to the nodes, from `least` to `most_per_drive` x drives at `full_nodes` nodes."""

    least: int
    most_per_drive: int
    full_nodes: int


def _rule(drives_per_node: int) -> _SpareRule:
    """Pick the rule for so many drives per node."""
    if drives_per_node == 1:
        return _SpareRule(least=2, most_per_drive=4, full_nodes=24)
    if drives_per_node < 5:  # noqa: PLR2004 - boundary of the published rule
        return _SpareRule(least=2, most_per_drive=2, full_nodes=16)
    return _SpareRule(least=3, most_per_drive=2, full_nodes=4 * drives_per_node)


def default_spare_pdisks(nodes: int, drives_per_node: int) -> int:
    """Count the pdisks of spare space that a recovery group gets by default.

    spares = max(least, floor(most x min(n, n_full) / n_full)), which for 5 or more drives per node is
    max(3, floor(n / 2)) up to n = 4 x drives per node.

    Parameters
    ----------
    nodes
        Servers of the recovery group [nodes].
    drives_per_node
        Drives per server [drives].

    Returns
    -------
    int
        Spare space [drives].

    Notes
    -----
    Covers drive failures, not the re-creation of a whole server, for which the space of all its drives is needed.
    IBM's estimator subtracts the half spare of an odd node count but prints whole ones; spares are whole here. Where
    that half drive matters (fewer than 12 drives per node), capacities differ by up to 4 %. The default of 6.0.0.1
    itself is not published.

    References
    ----------
    IBM SpectrumScaleTools gnr_capacity_estimator 1.3, default number of spares.

    Examples
    --------
    >>> [default_spare_pdisks(nodes, 16) for nodes in (4, 8, 16, 32)]
    [3, 4, 8, 16]
    """
    rule = _rule(drives_per_node)
    most = rule.most_per_drive * drives_per_node
    return max(rule.least, most * min(nodes, rule.full_nodes) // rule.full_nodes)
