"""The reuse engine against caches written as plainly as can be, on traces that hypothesis makes up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st
from reuse_oracles import belady_hits, fifo_hits, head_tokens, lru_hits, most_hits

from kvplan.core.reuse.belady import belady
from kvplan.core.reuse.distances import stack_distances
from kvplan.core.reuse.lifetimes import Lifetimes
from kvplan.core.reuse.policies import fifo, purged, second_touch
from kvplan.core.reuse.prompt import Prompt
from kvplan.core.reuse.rates import hit_tokens_by_request, rates
from kvplan.core.reuse.routing import route

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.core.reuse.routing import Routing

BLOCK = 16
some = settings(max_examples=40)


@st.composite
def chained(draw: st.DrawFn, most: int = 25, longest: int = 8) -> list[Prompt]:
    """Draw prompts over few tokens, so that prefixes are shared, in ids that stand for prefixes."""
    texts = draw(st.lists(st.lists(st.integers(0, 2), min_size=0, max_size=longest), max_size=most))
    scatter = draw(st.booleans())
    ids: dict[tuple[int, ...], int] = {}
    prompts = []
    time_s = 0.0
    for text in texts:
        time_s += draw(st.sampled_from([0.0, 1.0, 7.0]))
        short = draw(st.booleans()) and bool(text)
        keys = [tuple(text[: end + 1]) for end in range(len(text))]
        if short:
            # The last block is a partial one, and so another block than the whole one of the same tokens.
            keys[-1] = (*keys[-1], -1)
        numbers = [ids.setdefault(key, len(ids)) for key in keys]
        # Hashes come in no order.
        blocks = tuple(number * 7_919 % 100_003 if scatter else number for number in numbers)
        prompts.append(Prompt(time_s, blocks, len(text) * BLOCK - (5 if short else 0)))
    return prompts


loose = st.lists(
    st.lists(st.integers(0, 12), max_size=8).map(tuple).map(lambda blocks: Prompt(0.0, blocks, len(blocks) * BLOCK)),
    max_size=25,
)
"""Prompts whose ids stand for nothing but themselves."""


def tokens(prompts: Sequence[Prompt], hits: Sequence[int]) -> int:
    return sum(head_tokens(prompt, found, BLOCK) for prompt, found in zip(prompts, hits, strict=True))


@some
@given(chained())
def test_every_capacity_hits_what_a_plain_lru_cache_hits(prompts: list[Prompt]) -> None:
    found = stack_distances(prompts, BLOCK)
    assert found.chained
    assert found.unique_blocks == len({block for prompt in prompts for block in prompt.blocks})
    for capacity in range(1, found.unique_blocks + 2):
        hits = lru_hits(prompts, capacity)
        assert found.whole.hit_blocks(capacity) == sum(hits)
        assert found.whole.hit_tokens(capacity) == tokens(prompts, hits) == sum(hit_tokens_by_request(found, capacity))
        assert found.warm.hit_blocks(capacity) == sum(hits[found.warm_from :])
    assert found.whole.reused_blocks == found.whole.hit_blocks(found.unique_blocks)


@some
@given(loose)
def test_ids_that_are_not_chained_count_up_to_the_first_miss(prompts: list[Prompt]) -> None:
    found = stack_distances(prompts, BLOCK)
    for capacity in range(1, found.unique_blocks + 2):
        # A prompt may repeat a block; a cache that holds it hits it each time.
        assert found.whole.hit_blocks(capacity) == sum(_independent_hits(prompts, capacity))


def _independent_hits(prompts: Sequence[Prompt], capacity: int) -> list[int]:
    stack: list[int] = []
    found = []
    for prompt in prompts:
        held = set(stack[:capacity])
        hits = next((at for at, block in enumerate(prompt.blocks) if block not in held), len(prompt.blocks))
        found.append(hits)
        for block in reversed(prompt.blocks):
            if block in stack:
                stack.remove(block)
            stack.insert(0, block)
    return found


@some
@given(chained())
def test_the_smallest_cache_for_a_target_reaches_it_and_the_next_smaller_one_does_not(prompts: list[Prompt]) -> None:
    found = stack_distances(prompts, BLOCK).whole
    for target in range(1, found.reused_tokens + 1, 7):
        capacity = found.capacity_for_tokens(target)
        assert capacity is not None
        assert found.hit_tokens(capacity - 1) < target <= found.hit_tokens(capacity)
    assert found.capacity_for_tokens(found.reused_tokens + 1) is None


@some
@given(chained(), st.integers(1, 20))
def test_fifo_is_a_plain_queue(prompts: list[Prompt], capacity: int) -> None:
    assert fifo(prompts, BLOCK, capacity).hit_blocks == fifo_hits(prompts, capacity)


@some
@given(chained(), st.integers(16, 30), st.sampled_from([0.5, 0.8, 1.0]))
def test_a_purge_leaves_the_top_of_the_stack(prompts: list[Prompt], capacity: int, low_share: float) -> None:
    # A purge always leaves more than one prompt here, so that none cuts into the very prompt that made it due.
    hits = lru_hits(prompts, capacity, min(int(capacity * low_share), capacity - 1))
    outcome = purged(stack_distances(prompts, BLOCK), capacity, low_share)
    assert (outcome.hit_blocks, outcome.hit_tokens) == (sum(hits), tokens(prompts, hits))
    assert outcome.written_blocks == sum(len(prompt.blocks) for prompt in prompts) - sum(hits)


@some
@given(chained(), st.integers(1, 12))
def test_belady_by_runs_is_belady_by_blocks_and_above_every_policy(prompts: list[Prompt], capacity: int) -> None:
    found = stack_distances(prompts, BLOCK)
    best = belady(found, capacity).hit_blocks
    assert best == belady_hits(prompts, capacity)
    assert found.whole.hit_blocks(capacity) <= best <= found.whole.reused_blocks
    assert fifo(prompts, BLOCK, capacity).hit_blocks <= best


@some
@given(chained(most=5, longest=3), st.integers(1, 3))
def test_belady_is_the_most_that_any_choice_could_hit(prompts: list[Prompt], capacity: int) -> None:
    assert belady(stack_distances(prompts, BLOCK), capacity).hit_blocks == most_hits(prompts, capacity)


@some
@given(chained(), st.integers(1, 20))
def test_write_on_second_touch_is_a_cache_that_never_sees_first_touches(prompts: list[Prompt], capacity: int) -> None:
    seen: set[int] = set()
    known = []
    for prompt in prompts:
        blocks = tuple(block for block in prompt.blocks if block in seen)
        known.append(prompt._replace(blocks=blocks))
        seen.update(prompt.blocks)
    found = second_touch(prompts, stack_distances(prompts, BLOCK))
    assert found.whole.hit_blocks(capacity) == sum(lru_hits(known, capacity))
    assert found.unique_blocks == len({block for prompt in known for block in prompt.blocks})
    assert found.whole.blocks == sum(len(prompt.blocks) for prompt in prompts)


@some
@given(chained(), st.sampled_from([0.0, 1.0, 5.0, 9.0, 1_000.0]))
def test_a_time_to_live_is_a_clock_for_each_block(prompts: list[Prompt], time_to_live_s: float) -> None:
    last_s: dict[int, float] = {}
    hits, peak = 0, 0
    for prompt in prompts:
        hits += sum(prompt.time_s - last_s.get(block, -1e9) <= time_to_live_s for block in prompt.blocks)
        last_s |= dict.fromkeys(prompt.blocks, prompt.time_s)
        peak = max(peak, sum(prompt.time_s - then < time_to_live_s for then in last_s.values()))
    lived = Lifetimes(stack_distances(prompts, BLOCK))
    assert lived.hit_blocks(time_to_live_s) == hits
    if time_to_live_s:
        assert lived.peak_blocks(time_to_live_s) == peak


@some
@given(chained(), st.integers(1, 4), st.integers(1, 12), st.sampled_from(["sticky", "round-robin"]))
def test_private_caches_and_the_tier_serve_together_what_they_hold(
    prompts: list[Prompt], instances: int, local: int, routing: Routing
) -> None:
    found = stack_distances(prompts, BLOCK)
    endless = route(prompts, BLOCK, instances, local, routing=routing)
    assert endless.local_tokens + endless.shared_tokens == found.whole.reused_tokens
    if routing == "round-robin":
        own = [prompts[number::instances] for number in range(instances)]
        assert endless.local_tokens == sum(tokens(part, lru_hits(part, local)) for part in own)
    single = route(prompts, BLOCK, 1, local, routing=routing, shared_blocks=local + 3)
    assert single.local_tokens == found.whole.hit_tokens(local)
    assert single.local_tokens + single.shared_tokens == found.whole.hit_tokens(local + 3)


@some
@given(chained(), st.integers(1, 20))
def test_what_is_not_read_is_written(prompts: list[Prompt], capacity: int) -> None:
    found = stack_distances(prompts, BLOCK)
    rate = rates(found, capacity)
    moved = (rate.read.mean_tokens_per_s + rate.write.mean_tokens_per_s) * max(found.span_s, 10.0)
    assert abs(moved - sum(prompt.tokens for prompt in prompts)) < 1e-6
    assert rate.read.mean_tokens_per_s <= rates(found).read.mean_tokens_per_s + 1e-9
