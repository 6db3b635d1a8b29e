"""Hit ratios over the size of the cache, the size that a hit target needs, and how tiers split the hits."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kvplan.core.reuse.histogram import Histogram


class CurvePoint(NamedTuple):
    """What a cache of one size hits.

    Attributes
    ----------
    capacity_blocks
        Size of the cache [blocks].
    capacity_tokens
        Size of the cache [tokens].
    hit_ratio
        Hits among the blocks looked up [1].
    token_hit_ratio
        Hits among the tokens looked up [1].
    """

    capacity_blocks: int
    capacity_tokens: int
    hit_ratio: float
    token_hit_ratio: float


class TierHits(NamedTuple):
    """What one tier of a stack of tiers serves.

    Attributes
    ----------
    hit_blocks
        Blocks that this tier holds and none above it [blocks].
    hit_tokens
        Tokens that this tier holds and none above it [tokens].
    token_share
        These tokens among all hits of a cache without an end [1].
    """

    hit_blocks: int
    hit_tokens: int
    token_share: float


def curve(histogram: Histogram, capacities_blocks: Iterable[int]) -> tuple[CurvePoint, ...]:
    """Return the hit ratios of LRU caches of some sizes.

    Parameters
    ----------
    histogram
        Reuse of the requests that count: `whole` or `warm` of `Distances`.
    capacities_blocks
        Sizes [blocks].

    Returns
    -------
    tuple[CurvePoint, ...]
        Ratios [1] in the order of the sizes.

    Examples
    --------
    >>> from kvplan.core.reuse.histogram import Histogram
    >>> found = Histogram([(10, 5, 0), (2, 3, 12)], 16, blocks=20, tokens=308)
    >>> curve(found, (5,))
    (CurvePoint(capacity_blocks=5, capacity_tokens=80, hit_ratio=0.15, token_hit_ratio=0.117),)
    """
    return tuple(
        CurvePoint(
            capacity,
            capacity * histogram.block_tokens,
            _share(histogram.hit_blocks(capacity), histogram.blocks),
            _share(histogram.hit_tokens(capacity), histogram.tokens),
        )
        for capacity in capacities_blocks
    )


def capacity_for(histogram: Histogram, share: float) -> int:
    r"""Return the smallest LRU cache that hits a share of what a cache without an end would hit.

    .. math:: C = \min \{ c : H(c) \ge share \cdot H(\infty) \}

    Parameters
    ----------
    histogram
        Reuse of the requests that count.
    share
        Share of the achievable token hits, 0 to 1 [1].

    Returns
    -------
    int
        Size of the cache [blocks], 0 where nothing is ever asked for again.

    Notes
    -----
    A trace cannot show reuse after gaps longer than itself; see `Lifetimes`.

    Examples
    --------
    >>> from kvplan.core.reuse.histogram import Histogram
    >>> found = Histogram([(10, 5, 0), (2, 3, 12)], 16, blocks=20, tokens=308)
    >>> capacity_for(found, 0.3), capacity_for(found, 1.0)
    (5, 15)
    """
    found = histogram.capacity_for_tokens(min(share, 1.0) * histogram.reused_tokens)
    return histogram.deepest_blocks if found is None else found


def spread_capacities(largest_blocks: int, points: int) -> tuple[int, ...]:
    """Return sizes from one block to the largest, each about the same factor above the one before.

    Parameters
    ----------
    largest_blocks
        The last size [blocks].
    points
        How many sizes at most; small ones may fall together [1].

    Returns
    -------
    tuple[int, ...]
        Sizes, all different [blocks].

    Examples
    --------
    >>> spread_capacities(1_000, 4), spread_capacities(3, 9), spread_capacities(0, 4)
    ((1, 10, 100, 1000), (1, 2, 3), ())
    """
    if largest_blocks < 1:
        return ()
    steps = range(points)
    return tuple(sorted({round(largest_blocks ** (step / max(points - 1, 1))) for step in steps} | {largest_blocks}))


def tier_hits(histogram: Histogram, capacities_blocks: Sequence[int]) -> tuple[TierHits, ...]:
    """Split the hits over tiers that lie below each other, the fastest first.

    Parameters
    ----------
    histogram
        Reuse of the requests that count.
    capacities_blocks
        Size of each tier [blocks]; for private tiers and sticky routing that of all instances together.

    Returns
    -------
    tuple[TierHits, ...]
        Hits of each tier, in the same order.

    Notes
    -----
    Holds where what falls out of a tier lies in the next, so that the tiers make up one LRU stack of their summed
    size. With tiers that hold copies of those above, give each only what it adds.

    References
    ----------
    Inclusion of LRU stacks: Mattson et al. 1970.

    Examples
    --------
    >>> from kvplan.core.reuse.histogram import Histogram
    >>> found = Histogram([(10, 5, 0), (2, 3, 12)], 16, blocks=20, tokens=308)
    >>> [tier.hit_tokens for tier in tier_hits(found, (4, 100))]
    [32, 84]
    """
    bounds = list(accumulate(capacities_blocks, initial=0))
    return tuple(
        TierHits(
            histogram.hit_blocks(lower) - histogram.hit_blocks(upper),
            tokens := histogram.hit_tokens(lower) - histogram.hit_tokens(upper),
            _share(tokens, histogram.reused_tokens),
        )
        for upper, lower in pairwise(bounds)
    )


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
