"""What the reuse engine has to agree with: caches written as plainly as can be, and prompts to run through them."""

from __future__ import annotations

import json
import lzma
from collections import OrderedDict
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from generated_traces import generated_trace
from public_traces import mooncake_trace

from kvplan.core.reuse.prompt import Prompt

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

CONVERSATION: Final = "conversation"
SYNTHETIC: Final = "synthetic"


@cache
def real_prompts(name: str) -> list[Prompt]:
    """Return the prompts of one of Mooncake's traces."""
    with lzma.open(mooncake_trace(name), "rt") as lines:
        return prompts_of([json.loads(line) for line in lines])


def prompts_of(trace: Sequence[dict[str, Any]]) -> list[Prompt]:
    """Turn requests in Mooncake's form into prompts."""
    return [Prompt(row["timestamp"] / 1_000, tuple(row["hash_ids"]), row["input_length"]) for row in trace]


def generated_prompts(requests: int, seed: int = 0, block_tokens: int = 512) -> list[Prompt]:
    """Generate prompts."""
    return prompts_of(generated_trace(requests, seed=seed, block_tokens=block_tokens))


def _hits(held: Container[int], blocks: Sequence[int]) -> int:
    hits = 0
    for block in blocks:
        if block not in held:
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
    held: OrderedDict[int, None] = OrderedDict()
    found = []
    for prompt in prompts:
        found.append(_hits(held, prompt.blocks))
        # What is there is pinned before anything new comes in.
        for block in reversed(prompt.blocks):
            if block in held:
                held.move_to_end(block)
        new = 0
        for block in reversed(prompt.blocks):
            if block not in held:
                new += 1
                if len(held) >= capacity:
                    for _ in range(len(held) - (capacity - 1 if low is None else low)):
                        held.popitem(last=False)
            held[block] = None
            held.move_to_end(block)
    return found


def fifo_hits(prompts: Sequence[Prompt], capacity: int) -> int:
    """Return what all prompts find in a cache that drops what was written first."""
    held: OrderedDict[int, None] = OrderedDict()
    found = 0
    for prompt in prompts:
        hits = _hits(held, prompt.blocks)
        found += hits
        for block in prompt.blocks[hits:]:
            if block not in held:
                held[block] = None
                if len(held) > capacity:
                    held.popitem(last=False)
    return found


def belady_hits(prompts: Sequence[Prompt], capacity: int) -> int:
    """Return what all prompts find in a cache that keeps the blocks that are asked for next."""
    held: set[int] = set()
    found = 0
    for request, prompt in enumerate(prompts):
        found += _hits(held, prompt.blocks)
        ahead: dict[int, tuple[int, int]] = {}
        for later in range(len(prompts) - 1, request, -1):
            for position, block in enumerate(prompts[later].blocks):
                ahead[block] = (later, position)
        wanted = [block for block in held | set(prompt.blocks) if block in ahead]
        held = set(sorted(wanted, key=ahead.__getitem__)[:capacity])
    return found


def most_hits(prompts: Sequence[Prompt], capacity: int) -> int:
    """Return the most that any policy could find, by trying them all; for very short traces."""
    states: dict[frozenset[int], int] = {frozenset(): 0}
    for prompt in prompts:
        after: dict[frozenset[int], int] = {}
        for held, found in states.items():
            total = found + _hits(held, prompt.blocks)
            for kept in _subsets(sorted(held | set(prompt.blocks)), capacity):
                after[kept] = max(after.get(kept, 0), total)
        states = after
    return max(states.values())


def _subsets(blocks: Sequence[int], size: int) -> list[frozenset[int]]:
    subsets = [frozenset[int]()]
    for block in blocks:
        subsets += [subset | {block} for subset in subsets if len(subset) < size]
    return subsets
