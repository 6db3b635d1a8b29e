"""Strips of a stripe over nodes: the worst-case count of failures that an erasure code survives."""

from __future__ import annotations

from typing import Final

from kvplan.core.arithmetic import ceil_div
from kvplan.core.ece.codes import CODES, ErasureCode

_NUMBERS: Final = ("no", "one", "two", "three")


def strips_per_node(code: ErasureCode, nodes: int) -> int:
    """Count the strips of one stripe on the fullest node: s = ceil((d + p) / n).

    Parameters
    ----------
    code
        Erasure code.
    nodes
        Nodes of the recovery group [nodes].

    Returns
    -------
    int
        Strips [strips].

    Notes
    -----
    Equal nodes without rack failure domains.

    References
    ----------
    Derived; with `node_failures` it reproduces the rows printed in
    https://www.ibm.com/docs/en/storage-scale-ece/5.2.3?topic=selection-recommendations

    Examples
    --------
    >>> strips_per_node(ErasureCode(8, 2), 8), strips_per_node(ErasureCode(8, 2), 10)
    (2, 1)
    """
    return ceil_div(code.width, nodes)


def node_failures(code: ErasureCode, nodes: int) -> int:
    """Count the node failures survived at the same time: floor(p / s).

    Parameters
    ----------
    code
        Erasure code.
    nodes
        Nodes of the recovery group [nodes].

    Returns
    -------
    int
        Node failures [nodes].

    Notes
    -----
    Before anything was rebuilt. Three node failures may further be capped by the copies of the recovery-group
    descriptor, which no public text settles.

    References
    ----------
    Derived; reproduces the rows printed in
    https://www.ibm.com/docs/en/storage-scale-ece/5.2.3?topic=selection-recommendations

    Examples
    --------
    >>> node_failures(ErasureCode(8, 2), 4), node_failures(ErasureCode(8, 2), 8), node_failures(ErasureCode(16, 3), 19)
    (0, 1, 3)
    """
    return code.parity // strips_per_node(code, nodes)


def further_device_failures(code: ErasureCode, nodes: int) -> int:
    """Count the device failures still survived when the node failures have happened: p - floor(p / s) x s.

    Parameters
    ----------
    code
        Erasure code.
    nodes
        Nodes of the recovery group [nodes].

    Returns
    -------
    int
        Device failures [drives].

    Notes
    -----
    Before anything was rebuilt.

    References
    ----------
    Derived; reproduces the rows printed in
    https://www.ibm.com/docs/en/storage-scale-ece/5.2.3?topic=selection-recommendations

    Examples
    --------
    >>> further_device_failures(ErasureCode(8, 2), 8), further_device_failures(ErasureCode(8, 3), 8)
    (0, 1)
    """
    return code.parity % strips_per_node(code, nodes)


def recommended_codes(nodes: int) -> tuple[str, ...]:
    """Name the codes that IBM's published table recommends for a recovery group of so many nodes.

    Parameters
    ----------
    nodes
        Nodes of the recovery group [nodes].

    Returns
    -------
    tuple of str
        Names of codes.

    Notes
    -----
    On three nodes IBM recommends replication only. It publishes no row for 16+2P and 16+3P, so neither is ever named.

    References
    ----------
    https://www.ibm.com/docs/en/storage-scale-ece/5.2.3?topic=selection-recommendations and its 5.2.2 predecessor as
    quoted in wutz/k8s-in-action storage/gpfs-ece/day-0.md

    Examples
    --------
    >>> recommended_codes(4), recommended_codes(8), recommended_codes(32)
    (('4+3P',), ('4+2P', '4+3P', '8+3P'), ('4+2P', '4+3P', '8+2P', '8+3P'))
    """
    starts = ((code.name, facts.recommended_from_nodes) for code, facts in CODES.items())
    return tuple(name for name, start in starts if start is not None and nodes >= start)


def survival_words(nodes: int, devices: int) -> str:
    """Say in words what is survived.

    Parameters
    ----------
    nodes
        Node failures [nodes].
    devices
        Further device failures [drives].

    Returns
    -------
    str
        Words such as "one node and one drive".

    Notes
    -----
    Both are at most three: no code has more parity.

    References
    ----------
    Wording of this project; no source beyond `node_failures` and `further_device_failures`.

    Examples
    --------
    >>> survival_words(1, 0), survival_words(1, 1), survival_words(0, 3), survival_words(3, 0)
    ('one node', 'one node and one drive', 'three drives but no node', 'three nodes')
    """
    node_words = f"{_NUMBERS[nodes]} node{'s' if nodes > 1 else ''}"
    device_words = f"{_NUMBERS[devices]} drive{'s' if devices > 1 else ''}"
    if nodes == 0:
        return f"{device_words} but no node"
    return f"{node_words} and {device_words}" if devices else node_words
