"""The most that any policy could hit at a given size: drop what is asked for again last."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

from kvplan.core.reuse.outcome import Outcome

if TYPE_CHECKING:
    from kvplan.core.reuse.distances import Distances


def belady(distances: Distances, capacity_blocks: int, *, first: int = 0) -> Outcome:
    """Run the cache that knows the future; no policy hits more.

    Parameters
    ----------
    distances
        Every reuse of the trace.
    capacity_blocks
        Size of the cache [blocks].
    first
        The first request that counts; those before it fill the cache.

    Returns
    -------
    Outcome
        Hits, and the writes it makes: only of blocks that it means to hit.

    Notes
    -----
    A run is asked for as a whole by its next request, so a cache that knows the future treats it as one entry: it
    keeps the head of the run and gives up its tail first, the run of the farthest request before all others, and
    takes in nothing that would be the next to go. What it holds is closed under prefixes, because no block is asked
    for later than one behind it. Where ids are not chained it bounds block by block.

    References
    ----------
    L. A. Belady, A study of replacement algorithms for a virtual-storage computer, IBM Systems Journal 5 (1966).

    Examples
    --------
    >>> from kvplan.core.reuse.distances import stack_distances
    >>> from kvplan.core.reuse.prompt import Prompt
    >>> trace = [Prompt(float(i), (block,), 16) for i, block in enumerate((1, 2, 3, 1, 4, 2))]
    >>> found = stack_distances(trace, 16)
    >>> belady(found, 1).hit_blocks, belady(found, 2).hit_blocks, found.whole.hit_blocks(2)
    (1, 2, 0)
    """
    hit_blocks = hit_tokens = written_blocks = held = 0
    kept = [0] * len(distances.requests)
    # The farthest request comes off first, and of its runs the last.
    heap: list[int] = []
    asked_later = _by_owner(distances)
    due = 0
    for request in range(len(distances.blocks)):
        counts = request >= first
        present = 0
        while due < len(kept) and distances.requests[due] == request:
            found = kept[due]
            present += found
            held -= found
            hit_blocks += found * counts
            missing = distances.missing[due] if found == distances.lengths[due] else 0
            hit_tokens += (found * distances.block_tokens - missing) * counts
            kept[due] = 0
            due += 1
        for run in asked_later[request]:
            kept[run] = distances.lengths[run]
            held += kept[run]
            heappush(heap, -run)
        while held > capacity_blocks:
            run = -heap[0]
            dropped = min(kept[run], held - capacity_blocks)
            kept[run] -= dropped
            held -= dropped
            if not kept[run]:
                heappop(heap)
        if counts:
            stays = sum(kept[run] for run in asked_later[request])
            written_blocks += max(stays - present, 0)
    return Outcome(hit_blocks, hit_tokens, written_blocks)


def _by_owner(distances: Distances) -> list[list[int]]:
    """Return, for each request, the runs of later ones that ask for its blocks again."""
    runs: list[list[int]] = [[] for _ in distances.blocks]
    for run, owner in enumerate(distances.owners):
        runs[owner].append(run)
    return runs
