"""How often blocks were found at which depth of the LRU stack, and with that the hits of a cache of any size."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Histogram:
    r"""Reuse depths of some requests, as runs: a cache of C blocks hits min(max(C - depth, 0), length) of a run.

    .. math::
        H(C) = \sum_i \min(\max(C - D_i, 0), L_i)
        = \sum_{D_i < C} (C - D_i) - \sum_{D_i + L_i < C} (C - D_i - L_i)

    Both sums follow from sorted bounds and their running totals, so a capacity costs two binary searches.

    Parameters
    ----------
    runs
        Depth, length [blocks] and tokens that the last block falls short of a whole one [tokens], of each run.
    block_tokens
        Tokens of a whole block [tokens].
    blocks
        Blocks looked up by these requests [blocks].
    tokens
        Tokens looked up by these requests [tokens].

    Attributes
    ----------
    block_tokens
        Tokens of a whole block [tokens].
    blocks
        Blocks looked up [blocks].
    tokens
        Tokens looked up [tokens].
    reused_blocks
        Blocks that a cache without an end hits [blocks].
    reused_tokens
        Tokens that a cache without an end hits [tokens].
    deepest_blocks
        Capacity from which nothing more is hit [blocks].

    Notes
    -----
    Exact for a cache that looks up the longest prefix it holds when a request arrives, and then touches the whole
    prompt, last block first.

    References
    ----------
    R. L. Mattson et al., Evaluation techniques for storage hierarchies, IBM Systems Journal 9 (1970): an LRU cache
    holds what any smaller one holds, so one pass gives the hits of every size.

    Examples
    --------
    >>> found = Histogram([(10, 5, 0), (2, 3, 12)], 16, blocks=20, tokens=308)
    >>> found.hit_blocks(2), found.hit_blocks(4), found.hit_blocks(12), found.reused_blocks
    (0, 2, 5, 8)
    >>> found.hit_tokens(4), found.hit_tokens(5)
    (32, 36)
    """

    __slots__ = (
        "_missing",
        "_missing_sums",
        "_starts",
        "_starts_sums",
        "_stops",
        "_stops_sums",
        "block_tokens",
        "blocks",
        "deepest_blocks",
        "reused_blocks",
        "reused_tokens",
        "tokens",
    )

    def __init__(self, runs: Iterable[tuple[int, int, int]], block_tokens: int, *, blocks: int, tokens: int) -> None:
        rows = list(runs)
        self.block_tokens = block_tokens
        self.blocks = blocks
        self.tokens = tokens
        self._starts = sorted([depth for depth, _, _ in rows])
        self._stops = sorted([depth + length for depth, length, _ in rows])
        short = sorted((depth + length, missing) for depth, length, missing in rows if missing)
        self._missing = [depth for depth, _ in short]
        self._starts_sums = _running(self._starts)
        self._stops_sums = _running(self._stops)
        self._missing_sums = _running([missing for _, missing in short])
        self.deepest_blocks = self._stops[-1] if self._stops else 0
        self.reused_blocks = self.hit_blocks(self.deepest_blocks)
        self.reused_tokens = self.hit_tokens(self.deepest_blocks)

    def hit_blocks(self, capacity_blocks: int) -> int:
        """Return how many blocks an LRU cache hits.

        Parameters
        ----------
        capacity_blocks
            Size of the cache [blocks].

        Returns
        -------
        int
            Hits [blocks].
        """
        begun = bisect_left(self._starts, capacity_blocks)
        ended = bisect_left(self._stops, capacity_blocks)
        return capacity_blocks * (begun - ended) - self._starts_sums[begun] + self._stops_sums[ended]

    def hit_tokens(self, capacity_blocks: int) -> int:
        """Return how many tokens an LRU cache hits; a last block counts with the tokens it has.

        Parameters
        ----------
        capacity_blocks
            Size of the cache [blocks].

        Returns
        -------
        int
            Hits [tokens].
        """
        missing = self._missing_sums[bisect_right(self._missing, capacity_blocks)]
        return self.hit_blocks(capacity_blocks) * self.block_tokens - missing

    def capacity_for_tokens(self, hit_tokens: float) -> int | None:
        """Return the smallest LRU cache that hits so many tokens, or None where none does.

        Parameters
        ----------
        hit_tokens
            Hits asked for [tokens].

        Returns
        -------
        int | None
            Size of the cache [blocks].

        Examples
        --------
        >>> found = Histogram([(10, 5, 0), (2, 3, 12)], 16, blocks=20, tokens=308)
        >>> found.capacity_for_tokens(36), found.capacity_for_tokens(37), found.capacity_for_tokens(1_000)
        (5, 11, None)
        """
        if hit_tokens > self.reused_tokens:
            return None
        return bisect_left(range(self.deepest_blocks + 1), hit_tokens, key=self.hit_tokens)


def _running(values: list[int]) -> list[int]:
    return list(accumulate(values, initial=0))
