"""The hit curve of a very long trace from a sample of its blocks, with the error that sampling makes."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from math import sqrt
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Final, NamedTuple

from kvplan.core.reuse.histogram import Histogram
from kvplan.core.reuse.prompt import REPORT_EVERY
from kvplan.core.reuse.stack import ChainedStack

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kvplan.core.reuse.prompt import Progress, Prompt

SAMPLE_ABOVE_BLOCKS: Final = 100_000_000
"""Accesses up to which a trace is counted whole [blocks]."""
HOT_SHARE: Final = 0.000_5
"""Share of all accesses from which a block is counted itself [1]: one system prompt can carry a tenth of all hits."""
REPLICATES: Final = 4
"""Samples that are drawn of one trace; how far they differ is the error."""
_COUNTED_BLOCKS: Final = 2_000_000
_WORD: Final = (1 << 64) - 1
_GOLDEN: Final = 0x9E37_79B9_7F4A_7C15
_MIXED: Final = 0xBF58_476D_1CE4_E5B9


class SampledPoint(NamedTuple):
    """An estimate of what a cache of one size hits.

    Attributes
    ----------
    capacity_blocks
        Size of the cache [blocks].
    hit_ratio
        Hits among the blocks looked up, mean of the samples [1].
    standard_error
        Standard error of that mean [1].
    """

    capacity_blocks: int
    hit_ratio: float
    standard_error: float


def sample_every(block_accesses: int) -> int:
    """Return how many blocks one sampled block must stand for, so that no more than the limit are followed.

    Parameters
    ----------
    block_accesses
        Accesses of the whole trace [blocks].

    Returns
    -------
    int
        Blocks for each sampled one [blocks]; 1 means that no sample is needed.

    Examples
    --------
    >>> sample_every(100_000_000), sample_every(2_400_000_000)
    (1, 24)
    """
    return max(-(-block_accesses // SAMPLE_ABOVE_BLOCKS), 1)


def hot_blocks(prompts: Sequence[Prompt], share: float = HOT_SHARE) -> frozenset[int]:
    """Return the blocks that carry at least a share of all accesses, counted in every so many prompts.

    Parameters
    ----------
    prompts
        The requests, with chained ids.
    share
        Share of all accesses [1].

    Returns
    -------
    frozenset[int]
        Their ids. With any block it holds all blocks before it, which are in at least as many prompts.

    Examples
    --------
    >>> from kvplan.core.reuse.prompt import Prompt
    >>> sorted(hot_blocks([Prompt(float(turn), (0, 1, 10 + turn), 48) for turn in range(9)], 0.2))
    [0, 1]
    """
    accesses = sum(len(prompt.blocks) for prompt in prompts)
    some = prompts[:: max(accesses // _COUNTED_BLOCKS, 1)]
    counts = Counter(chain.from_iterable(prompt.blocks for prompt in some))
    least = share * counts.total()
    return frozenset(block for block, count in counts.items() if count >= least)


def sampled_curve(
    prompts: Sequence[Prompt],
    block_tokens: int,
    capacities_blocks: Iterable[int],
    every: int,
    *,
    first: int = 0,
    progress: Progress | None = None,
) -> tuple[SampledPoint, ...]:
    """Estimate the hit ratios of LRU caches from one block in so many.

    Parameters
    ----------
    prompts
        The requests in order of arrival, with chained ids.
    block_tokens
        Tokens of a whole block [tokens].
    capacities_blocks
        Sizes [blocks].
    every
        Blocks that a sampled block stands for [blocks].
    first
        The first request that counts; those before it fill the cache.
    progress
        Told now and then how many prompts are done, over all samples.

    Returns
    -------
    tuple[SampledPoint, ...]
        Ratios and their standard errors [1], in the order of the sizes.

    Raises
    ------
    NotChainedError
        Where an id was seen after another block.

    Notes
    -----
    Hot blocks, which begin prompts, are followed themselves. Behind them every so-many-th block of a prompt is, from
    a start that depends on the first block that is not hot, so that all prompts of one prefix sample the same blocks.
    The error shows the choice of blocks only, not that another day would have brought other prompts. Sizes below some
    hundred times `every` are blurred.

    References
    ----------
    C. A. Waldspurger et al., Efficient MRC construction with SHARDS, FAST '15: distances in a spatial sample, scaled.

    Examples
    --------
    >>> from kvplan.core.reuse.prompt import Prompt
    >>> trace = [Prompt(float(turn), tuple(range(64)), 1024) for turn in range(4)]
    >>> sampled_curve(trace, 16, (64,), 4)
    (SampledPoint(capacity_blocks=64, hit_ratio=0.75, standard_error=0.0),)
    """
    hot = hot_blocks(prompts)
    capacities = tuple(capacities_blocks)
    ratios = []
    for salt in range(REPLICATES):
        done = salt * len(prompts)
        found = _sample(prompts, block_tokens, every, hot, salt=salt, first=first, done=done, progress=progress)
        ratios.append([found.hit_blocks(capacity) / max(found.blocks, 1) for capacity in capacities])
    if progress:
        progress(REPLICATES * len(prompts), REPLICATES * len(prompts))
    return tuple(
        SampledPoint(capacity, fmean(found), stdev(found) / sqrt(REPLICATES))
        for capacity, found in zip(capacities, zip(*ratios, strict=True), strict=True)
    )


def _sample(
    prompts: Sequence[Prompt],
    block_tokens: int,
    every: int,
    hot: frozenset[int],
    *,
    salt: int,
    first: int,
    done: int,
    progress: Progress | None,
) -> Histogram:
    stack = ChainedStack(every)
    runs = []
    for request, prompt in enumerate(prompts):
        blocks = prompt.blocks
        head = _hot_head(blocks, hot)
        start = head + _mix(blocks[head], salt) % every if head < len(blocks) else head
        found = stack.touch([*blocks[:head], *blocks[start::every]], head)
        if request >= first:
            runs += [(run.depth, run.length, 0) for run in found]
        if progress and not request % REPORT_EVERY:
            progress(done + request, REPLICATES * len(prompts))
    counted = prompts[first:]
    return Histogram(
        runs,
        block_tokens,
        blocks=sum(len(prompt.blocks) for prompt in counted),
        tokens=sum(prompt.tokens for prompt in counted),
    )


def _hot_head(blocks: Sequence[int], hot: frozenset[int]) -> int:
    """Return how many blocks at the head of a prompt are hot."""
    head = 0
    while head < len(blocks) and blocks[head] in hot:
        head += 1
    return head


def _mix(block: int, salt: int) -> int:
    """Return a number that looks random and is the same for the same block and salt."""
    # The finishing step of SplitMix64: neighbouring ids must not start neighbouring samples.
    word = (block + (salt + 1) * _GOLDEN) & _WORD
    word = (word ^ word >> 30) * _MIXED & _WORD
    return word ^ word >> 27
