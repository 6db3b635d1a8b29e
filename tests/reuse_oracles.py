"""Caches written as plainly as can be, which the reuse engine has to agree with."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from generated_traces import generated_trace

from kvplan.core.reuse.prompt import Prompt

if TYPE_CHECKING:
    from collections.abc import Sequence


def prompts_of(trace: Sequence[dict]) -> list[Prompt]:
    """Turn requests in Mooncake's form into prompts."""
    return [Prompt(row["timestamp"] / 1_000, tuple(row["hash_ids"]), row["input_length"]) for row in trace]


def generated_prompts(requests: int, seed: int = 0, block_tokens: int = 512) -> list[Prompt]:
    """Generate prompts."""
    return prompts_of(generated_trace(requests, seed=seed, block_tokens=block_tokens))


def _hits(cache: object, blocks: Sequence[int]) -> int:
    hits = 0
    for block in blocks:
        if block not in cache:  # type: ignore[operator]
            break
        hits += 1
    return hits


def head_tokens(prompt: Prompt, blocks: int, block_tokens: int) -> int:
    """Count the tokens of the first blocks of a prompt."""
    return min(blocks * block_tokens, prompt.tokens)


def lru_hits(prompts: Sequence[Prompt], capacity: int, low: int | None = None) -> list[int]:
    """Return what each prompt finds in an LRU cache that looks up first and then touches the last block first.

    With a low mark it drops down to that whenever it is full and one more comes.
    """
    cache: OrderedDict[int, None] = OrderedDict()
    found = []
    for prompt in prompts:
        found.append(_hits(cache, prompt.blocks))
        # What is there is pinned before anything new comes in.
        for block in reversed(prompt.blocks):
            if block in cache:
                cache.move_to_end(block)
        new = 0
        for block in reversed(prompt.blocks):
            if block not in cache:
                new += 1
                if len(cache) >= capacity:
                    for _ in range(len(cache) - (capacity - 1 if low is None else low)):
                        cache.popitem(last=False)
            cache[block] = None
            cache.move_to_end(block)
    return found


def fifo_hits(prompts: Sequence[Prompt], capacity: int) -> int:
    """Return what all prompts find in a cache that drops what was written first."""
    cache: OrderedDict[int, None] = OrderedDict()
    found = 0
    for prompt in prompts:
        hits = _hits(cache, prompt.blocks)
        found += hits
        for block in prompt.blocks[hits:]:
            if block not in cache:
                cache[block] = None
                if len(cache) > capacity:
                    cache.popitem(last=False)
    return found


def belady_hits(prompts: Sequence[Prompt], capacity: int) -> int:
    """Return what all prompts find in a cache that keeps the blocks that are asked for next."""
    cache: set[int] = set()
    found = 0
    for request, prompt in enumerate(prompts):
        found += _hits(cache, prompt.blocks)
        ahead: dict[int, tuple[int, int]] = {}
        for later in range(len(prompts) - 1, request, -1):
            for position, block in enumerate(prompts[later].blocks):
                ahead[block] = (later, position)
        wanted = [block for block in cache | set(prompt.blocks) if block in ahead]
        cache = set(sorted(wanted, key=ahead.__getitem__)[:capacity])
    return found


def most_hits(prompts: Sequence[Prompt], capacity: int) -> int:
    """Return the most that any policy could find, by trying them all; for very short traces."""
    states: dict[frozenset[int], int] = {frozenset(): 0}
    for prompt in prompts:
        after: dict[frozenset[int], int] = {}
        for cache, found in states.items():
            total = found + _hits(cache, prompt.blocks)
            for kept in _subsets(sorted(cache | set(prompt.blocks)), capacity):
                after[kept] = max(after.get(kept, 0), total)
        states = after
    return max(states.values())


def _subsets(blocks: Sequence[int], size: int) -> list[frozenset[int]]:
    subsets = [frozenset[int]()]
    for block in blocks:
        subsets += [subset | {block} for subset in subsets if len(subset) < size]
    return subsets
