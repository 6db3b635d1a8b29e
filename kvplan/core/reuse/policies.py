"""What other policies than LRU would change: expiry by age of writing, purges at a watermark, write on second touch."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from kvplan.core.reuse.distances import stack_distances
from kvplan.core.reuse.outcome import Outcome
from kvplan.core.reuse.prompt import Prompt, tokens_of_head

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kvplan.core.reuse.distances import Distances
    from kvplan.core.reuse.prompt import Progress


def fifo(prompts: Iterable[Prompt], block_tokens: int, capacity_blocks: int, *, first: int = 0) -> Outcome:
    """Run a cache that drops what was written first, however often it was read.

    Parameters
    ----------
    prompts
        The requests in order of arrival.
    block_tokens
        Tokens of a whole block [tokens].
    capacity_blocks
        Size of the cache [blocks].
    first
        The first request that counts; those before it fill the cache.

    Returns
    -------
    Outcome
        Hits and writes.

    Notes
    -----
    This is what expiry by the time of writing (mtime) does. A block is of use only if all before it are there. Blocks
    are written first block first, and a block that is still there is not written again.

    Examples
    --------
    >>> trace = [Prompt(0.0, (1, 2), 32), Prompt(1.0, (1, 2, 3), 48), Prompt(2.0, (1, 2, 3), 48)]
    >>> fifo(trace, 16, 3)
    Outcome(hit_blocks=5, hit_tokens=80, written_blocks=3)
    """
    hit_blocks = hit_tokens = written_blocks = 0
    number: dict[int, int] = {}
    count = 0
    never = -capacity_blocks - 1
    for request, prompt in enumerate(prompts):
        hits = 0
        for block in prompt.blocks:
            if number.get(block, never) < count - capacity_blocks:
                break
            hits += 1
        before = count
        for block in prompt.blocks[hits:]:
            if number.get(block, never) < count - capacity_blocks:
                number[block] = count
                count += 1
        if request >= first:
            hit_blocks += hits
            hit_tokens += tokens_of_head(prompt, hits, block_tokens)
            written_blocks += count - before
    return Outcome(hit_blocks, hit_tokens, written_blocks)


def purged(distances: Distances, capacity_blocks: int, low_share: float, *, first: int = 0) -> Outcome:
    """Run an LRU cache that, when full, is emptied down to a share of its size.

    Parameters
    ----------
    distances
        Every reuse of the trace.
    capacity_blocks
        Size at which a purge begins [blocks].
    low_share
        Share of it that a purge leaves, below 1 [1].
    first
        The first request that counts; those before it fill the cache.

    Returns
    -------
    Outcome
        Hits and writes.

    Notes
    -----
    The cache is always the top of the LRU stack: hits reorder it, misses make it deeper, a purge cuts it. So its size
    is all there is to follow. It behaves like a plain LRU cache of little more than what a purge leaves.

    References
    ----------
    Storage Scale's ILM threshold rules migrate or delete from a high down to a low occupancy.

    Examples
    --------
    >>> trace = [Prompt(0.0, (1, 2), 32), Prompt(1.0, (3, 4), 32), Prompt(2.0, (1, 2), 32)]
    >>> purged(stack_distances(trace, 16), 4, 0.5), purged(stack_distances(trace, 16), 3, 0.34)
    (Outcome(hit_blocks=2, hit_tokens=32, written_blocks=4), Outcome(hit_blocks=0, hit_tokens=0, written_blocks=6))
    """
    low = min(int(capacity_blocks * low_share), capacity_blocks - 1)
    if low < 0:
        return Outcome(0, 0, 0)
    hit_blocks = hit_tokens = written_blocks = held = 0
    runs = groupby(distances.runs(), itemgetter(0))
    run_request, rows = next(runs, (-1, iter(())))
    for request, blocks in enumerate(distances.blocks):
        hits = tokens = 0
        if request == run_request:
            for _, _, depth, length, missing in rows:
                found = min(max(held - depth, 0), length)
                hits += found
                tokens += found * distances.block_tokens - (missing if found == length else 0)
            run_request, rows = next(runs, (-1, iter(())))
        held = _filled(held, blocks - hits, capacity_blocks, low)
        if request >= first:
            hit_blocks += hits
            hit_tokens += tokens
            written_blocks += blocks - hits
    return Outcome(hit_blocks, hit_tokens, written_blocks)


def _filled(held: int, new: int, capacity: int, low: int) -> int:
    """Return what the cache holds after so many new blocks, which a purge makes room for whenever it is full."""
    if held + new <= capacity:
        return held + new
    # After the first purge, each further one comes when the room above the low mark is full again.
    return low + (new - (capacity - held) - 1) % (capacity - low) + 1


def second_touch(prompts: Sequence[Prompt], distances: Distances, *, progress: Progress | None = None) -> Distances:
    """Return the reuse that is left if a block is written only when it is asked for the second time.

    Parameters
    ----------
    prompts
        The requests in order of arrival.
    distances
        What `stack_distances` found in them.
    progress
        Told now and then how many prompts are done.

    Returns
    -------
    Distances
        Reuse from the third touch on, among all blocks and tokens of the trace; `unique_blocks` are those written by
        a cache without an end.

    Notes
    -----
    Touches of the first kind leave the cache alone, so the LRU stack is that of the prompts without their unseen
    ends. Which blocks were seen once is remembered for ever.

    Examples
    --------
    >>> trace = [Prompt(0.0, (1, 2), 32), Prompt(1.0, (1, 3), 32), Prompt(2.0, (1, 2), 32)]
    >>> found = second_touch(trace, stack_distances(trace, 16))
    >>> found.whole.reused_blocks, found.whole.blocks, found.unique_blocks
    (1, 6, 2)
    """
    known = [0] * len(prompts)
    for request, length in zip(distances.requests, distances.lengths, strict=True):
        known[request] += length
    seen = [
        Prompt(prompt.time_s, prompt.blocks[:blocks], min(prompt.tokens, blocks * distances.block_tokens))
        for prompt, blocks in zip(prompts, known, strict=True)
    ]
    found = stack_distances(seen, distances.block_tokens, progress=progress)
    return replace(found, warm_from=distances.warm_from, blocks=distances.blocks, tokens=distances.tokens)
