"""The hit curve of a very long trace from a sample of its blocks, with the error that sampling makes."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from math import sqrt
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Final, NamedTuple

from kvplan.core.reuse.histogram import Histogram
from kvplan.core.reuse.prompt import REPORT_EVERY, last_block_missing
from kvplan.core.reuse.stack import ChainedStack

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kvplan.core.reuse.prompt import Progress, Prompt
    from kvplan.core.reuse.stack import Run

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
    token_hit_ratio
        Hits among the tokens looked up, mean of the samples [1].
    token_standard_error
        Standard error of that mean [1].
    """

    capacity_blocks: int
    hit_ratio: float
    standard_error: float
    token_hit_ratio: float
    token_standard_error: float


class Estimate(NamedTuple):
    """A mean over the samples and its standard error, both in the unit of what is estimated."""

    mean: float
    standard_error: float


class Sample(NamedTuple):
    """Reuse as the samples of a trace show it, scaled to all its blocks.

    Attributes
    ----------
    unique_blocks
        Different blocks of the trace [blocks].
    whole
        Reuse of all requests, one histogram for each sample.
    warm
        Reuse of the requests of the warm window alone, likewise.
    """

    unique_blocks: Estimate
    whole: tuple[Histogram, ...]
    warm: tuple[Histogram, ...]


def sample_every(block_accesses: int, most_accesses: int) -> int:
    """Return how many blocks one sampled block must stand for, so that no more than so many are followed.

    Parameters
    ----------
    block_accesses
        Accesses of the whole trace [blocks].
    most_accesses
        Accesses up to which a trace is counted whole [blocks].

    Returns
    -------
    int
        Blocks for each sampled one [blocks]; 1 means that no sample is needed.

    References
    ----------
    Row `trace.sampled_accesses` of the catalogue's constants, from which callers take the limit.

    Examples
    --------
    >>> sample_every(100_000_000, 100_000_000), sample_every(2_400_000_000, 100_000_000)
    (1, 24)
    """
    return max(-(-block_accesses // most_accesses), 1)


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


def sample(
    prompts: Sequence[Prompt],
    block_tokens: int,
    every: int,
    *,
    warm_from: int = 0,
    progress: Progress | None = None,
) -> Sample:
    """Follow one block in so many through LRU caches of every size, several times over.

    Parameters
    ----------
    prompts
        The requests in order of arrival, with chained ids.
    block_tokens
        Tokens of a whole block [tokens].
    every
        Blocks that a sampled block stands for [blocks].
    warm_from
        First request of the warm window; those before it fill the cache.
    progress
        Told now and then how many prompts are done, over all samples.

    Returns
    -------
    Sample
        Reuse in each of the samples [blocks].

    Raises
    ------
    NotChainedError
        Where an id was seen after another block.

    Notes
    -----
    Hot blocks, which begin prompts, are followed themselves. Behind them every so-many-th block of a prompt is, from
    a start that depends on the first block that is not hot, so that all prompts of one prefix sample the same blocks.
    Sizes below some hundred times `every` are blurred.

    References
    ----------
    C. A. Waldspurger et al., Efficient MRC construction with SHARDS, FAST '15: distances in a spatial sample, scaled.

    Examples
    --------
    >>> from kvplan.core.reuse.prompt import Prompt
    >>> trace = [Prompt(float(turn), tuple(range(64)), 1024) for turn in range(4)]
    >>> sample(trace, 16, 4).unique_blocks
    Estimate(mean=64.0, standard_error=0.0)
    """
    hot = hot_blocks(prompts)
    drawn = []
    for salt in range(REPLICATES):
        told = _later(progress, salt * len(prompts), REPLICATES * len(prompts)) if progress else None
        drawn.append(_draw(prompts, block_tokens, every, hot, salt=salt, warm_from=warm_from, progress=told))
    if progress:
        progress(REPLICATES * len(prompts), REPLICATES * len(prompts))
    unique, whole, warm = zip(*drawn, strict=True)
    return Sample(estimate(unique), whole, warm)


def sampled_curve(found: Sequence[Histogram], capacities_blocks: Iterable[int]) -> tuple[SampledPoint, ...]:
    r"""Estimate the hit ratios of LRU caches, and how far the choice of blocks may have moved them.

    .. math:: h = \frac{1}{k} \sum_i h_i, \qquad SE = \frac{s}{\sqrt{k}}

    Parameters
    ----------
    found
        Reuse in each of the k samples: `whole` or `warm` of `Sample`, two or more.
    capacities_blocks
        Sizes [blocks].

    Returns
    -------
    tuple[SampledPoint, ...]
        Ratios and their standard errors [1], in the order of the sizes.

    Notes
    -----
    s is the standard deviation of the samples. The error shows the choice of blocks only, not that another day would
    have brought other prompts.

    References
    ----------
    Standard error of a mean of independent samples.

    Examples
    --------
    >>> from kvplan.core.reuse.prompt import Prompt
    >>> trace = [Prompt(float(turn), tuple(range(64)), 1024) for turn in range(4)]
    >>> point = sampled_curve(sample(trace, 16, 4).whole, (64,))[0]
    >>> point.hit_ratio, point.token_hit_ratio, point.standard_error
    (0.75, 0.75, 0.0)
    """
    return tuple(
        SampledPoint(
            capacity,
            *estimate([one.hit_blocks(capacity) / max(one.blocks, 1) for one in found]),
            *estimate([one.hit_tokens(capacity) / max(one.tokens, 1) for one in found]),
        )
        for capacity in capacities_blocks
    )


def estimate(values: Sequence[float]) -> Estimate:
    """Return the mean of what the samples say, and its standard error.

    Parameters
    ----------
    values
        One value of each sample, two or more, in any one unit.

    Returns
    -------
    Estimate
        Mean and standard error, in that unit.

    References
    ----------
    Standard error of a mean of independent samples.

    Examples
    --------
    >>> estimate([1.0, 3.0])
    Estimate(mean=2.0, standard_error=1.0)
    """
    return Estimate(fmean(values), stdev(values) / sqrt(len(values)))


def _later(progress: Progress, done: int, total: int) -> Progress:
    """Count on from what earlier samples have done."""
    return lambda here, _: progress(done + here, total)


def _draw(
    prompts: Sequence[Prompt],
    block_tokens: int,
    every: int,
    hot: frozenset[int],
    *,
    salt: int,
    warm_from: int,
    progress: Progress | None,
) -> tuple[int, Histogram, Histogram]:
    """Follow one sample: different blocks, and reuse of all requests and of the warm ones."""
    stack = ChainedStack(every)
    runs: list[tuple[int, int, int]] = []
    warm_runs = 0
    for request, prompt in enumerate(prompts):
        if request == warm_from:
            warm_runs = len(runs)
        blocks = prompt.blocks
        head = _hot_head(blocks, hot)
        start = head + _mix(blocks[head], salt) % every if head < len(blocks) else head
        followed = [*blocks[:head], *blocks[start::every]]
        found = stack.touch(followed, head)
        runs += [(run.depth, run.length, 0) for run in found]
        if found and blocks and followed[-1] == blocks[-1]:
            runs[-1] = _end(found[-1], head, len(followed), every, _missing(prompt, block_tokens))
        if progress and not request % REPORT_EVERY:
            progress(request, len(prompts))

    def histogram(first: int, first_run: int) -> Histogram:
        counted = prompts[first:]
        looked_up = sum(len(prompt.blocks) for prompt in counted)
        return Histogram(runs[first_run:], block_tokens, blocks=looked_up, tokens=sum(one.tokens for one in counted))

    return stack.unique_blocks, histogram(0, 0), histogram(warm_from, warm_runs)


def _missing(prompt: Prompt, block_tokens: int) -> int:
    """Return how many tokens the last block of a prompt falls short of a whole one [tokens]."""
    return last_block_missing(len(prompt.blocks), prompt.tokens, block_tokens)


def _end(run: Run, head: int, followed: int, every: int, missing: int) -> tuple[int, int, int]:
    """Return the last run of a prompt whose last block is in the sample, which stands for many that are not whole."""
    stands_for = head + (followed - head) * every
    at_end = run.position + run.length == stands_for
    weight = every if followed > head else 1
    return run.depth, run.length, weight * missing if at_end else 0


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
