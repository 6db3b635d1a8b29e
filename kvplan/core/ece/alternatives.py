"""What would survive more: another code on the same nodes, or the same code on more nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.ece.codes import CODES, ErasureCode
from kvplan.core.ece.strips import further_device_failures, node_failures, survival_words
from kvplan.schema.ece import Alternative

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def alternatives(code: ErasureCode, nodes: int) -> tuple[Alternative, ...]:
    """List what survives more than a code does over so many nodes.

    A pair (node failures, further device failures) is more than another when its nodes are more, or equal with more
    devices.

    Parameters
    ----------
    code
        Erasure code.
    nodes
        Nodes of the recovery group [nodes].

    Returns
    -------
    tuple of Alternative
        Codes on the same nodes, the most efficient first, then the same code on the fewest nodes [nodes] that let it
        survive more.

    Notes
    -----
    Codes are those that IBM recommends for the node count, and 16+2P and 16+3P, for which it publishes no row, where
    each strip has a node of its own. A code that another one beats in both tolerance and capacity is left out.

    References
    ----------
    https://www.ibm.com/docs/en/storage-scale-ece/5.2.3?topic=selection-recommendations

    Examples
    --------
    >>> for alternative in alternatives(ErasureCode(8, 2), 8):
    ...     print(alternative.text)
    8+3P survives one node and one drive for 7 points of capacity
    4+2P survives two nodes for 13 points of capacity
    4+3P survives three nodes for 23 points of capacity
    8+2P survives two nodes from 10 nodes in the recovery group
    """
    others = (_other_code(code, other, nodes) for other in _codes_that_survive_more(code, nodes))
    return (*others, *_more_nodes(code, nodes))


def _survived(code: ErasureCode, nodes: int) -> tuple[int, int]:
    """Pair node failures and further device failures; pairs compare as tolerance does."""
    return node_failures(code, nodes), further_device_failures(code, nodes)


def _codes_that_survive_more(code: ErasureCode, nodes: int) -> list[ErasureCode]:
    """List advised codes that survive more, the most efficient first, each a trade the ones before do not beat."""
    advised = (other for other, facts in CODES.items() if nodes >= facts.advised_from_nodes)
    by_efficiency = sorted(advised, key=lambda other: other.efficiency, reverse=True)
    return list(_rising(by_efficiency, nodes, _survived(code, nodes)))


def _rising(codes: Iterable[ErasureCode], nodes: int, survived: tuple[int, int]) -> Iterator[ErasureCode]:
    """Yield each code that survives more than everything before it."""
    for code in codes:
        if _survived(code, nodes) > survived:
            survived = _survived(code, nodes)
            yield code


def _alternative(code: ErasureCode, nodes: int, text: str) -> Alternative:
    """Fill in the counts of an alternative."""
    return Alternative(
        erasure_code=code.name,
        nodes=nodes,
        node_failures=node_failures(code, nodes),
        further_device_failures=further_device_failures(code, nodes),
        code_efficiency=code.efficiency,
        text=text,
    )


def _other_code(code: ErasureCode, other: ErasureCode, nodes: int) -> Alternative:
    """Describe another code on the same nodes, with what it costs or gains in capacity."""
    points = round(100 * (code.efficiency - other.efficiency))
    price = f"for {points} points of capacity" if points > 0 else f"and has {-points} points more capacity"
    return _alternative(other, nodes, f"{other.name} survives {survival_words(*_survived(other, nodes))} {price}")


def _more_nodes(code: ErasureCode, nodes: int) -> Iterator[Alternative]:
    """Yield the fewest nodes with which the same code survives more, if any; one strip per node is the end of it."""
    now = _survived(code, nodes)
    for more in range(nodes + 1, code.width + 1):
        if _survived(code, more) > now:
            words = survival_words(*_survived(code, more))
            yield _alternative(code, more, f"{code.name} survives {words} from {more} nodes in the recovery group")
            return
