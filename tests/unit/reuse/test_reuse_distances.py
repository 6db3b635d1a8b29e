"""The pass over a trace: what it takes for a prefix, what it reports, where it begins to count."""

from __future__ import annotations

import pytest
from reuse_oracles import generated_prompts

from kvplan.core.reuse.belady import belady
from kvplan.core.reuse.curve import capacity_for, curve
from kvplan.core.reuse.distances import stack_distances
from kvplan.core.reuse.lifetimes import Lifetimes
from kvplan.core.reuse.policies import fifo, purged, second_touch
from kvplan.core.reuse.prefix_tree import NotChainedError
from kvplan.core.reuse.prompt import Prompt
from kvplan.core.reuse.rates import rates
from kvplan.core.reuse.routing import route
from kvplan.core.reuse.sampling import sample


def prompts_from(*blocks: tuple[int, ...]) -> list[Prompt]:
    return [Prompt(float(number), ids, len(ids) * 16) for number, ids in enumerate(blocks)]


@pytest.mark.parametrize(
    "blocks",
    [
        ((1, 2, 3), (1, 9, 3)),
        ((1, 2, 3), (2, 3)),
        ((1, 2, 3), (4, 1)),
        ((1, 2, 3, 4, 5), (1, 7, 8, 4, 5)),
        ((1, 2, 3, 4, 5), (1, 3, 2, 4, 5)),
        ((5, 5),),
        ((1, 2), (1, 3), (1, 2, 3)),
    ],
)
def test_an_id_after_two_different_blocks_is_noticed(blocks: tuple[tuple[int, ...], ...]) -> None:
    assert not stack_distances(prompts_from(*blocks), 16).chained
    with pytest.raises(NotChainedError):
        route(prompts_from(*blocks), 16, 1, 4)


def test_ids_may_be_hashes_of_64_bits() -> None:
    small = generated_prompts(200)
    factor = 0x9E37_79B9_7F4A_7C15
    hashed = [prompt._replace(blocks=tuple((b + 1) * factor % 2**64 for b in prompt.blocks)) for prompt in small]
    found, expected = stack_distances(hashed, 512), stack_distances(small, 512)
    assert found.chained
    assert list(found.runs()) == list(expected.runs())
    signed = [prompt._replace(blocks=tuple(b - 2**63 for b in prompt.blocks)) for prompt in hashed]
    assert list(stack_distances(signed, 512).runs()) == list(expected.runs())


def test_smaller_blocks_of_the_same_prompts_find_no_less() -> None:
    coarse, fine = (stack_distances(generated_prompts(400, block_tokens=size), size).whole for size in (512, 16))
    assert coarse.tokens == fine.tokens
    assert coarse.reused_tokens <= fine.reused_tokens


def test_progress_comes_to_its_end() -> None:
    prompts = generated_prompts(50)
    seen: list[tuple[int, int]] = []
    stack_distances(prompts, 512, progress=lambda done, total: seen.append((done, total)))
    assert seen[0] == (0, 50)
    assert seen[-1] == (50, 50)
    sampled: list[tuple[int, int]] = []
    sample(prompts, 512, 2, progress=lambda done, total: sampled.append((done, total)))
    assert sampled == sorted(sampled)
    assert sampled[-1] == (200, 200)
    routed: list[tuple[int, int]] = []
    route(prompts, 512, 2, 10, progress=lambda done, total: routed.append((done, total)))
    assert routed == [(0, 50), (50, 50)]


def test_the_warm_window_begins_at_a_share_or_at_a_time() -> None:
    prompts = prompts_from(*[(1,)] * 10)
    assert stack_distances(prompts, 16).warm_from == 5
    assert stack_distances(prompts, 16, warm_share=0.2).warm_from == 8
    late = stack_distances(prompts, 16, warm_from_s=7.0)
    assert (late.warm_from, late.warm.blocks, late.warm.reused_blocks) == (7, 3, 3)
    assert late.whole.reused_blocks == 9


def test_nothing_comes_of_nothing() -> None:
    found = stack_distances([], 16)
    assert curve(found.whole, (1,))[0].token_hit_ratio == 0.0
    assert capacity_for(found.whole, 0.9) == 0
    assert belady(found, 4) == purged(found, 4, 0.8) == fifo([], 16, 4) == (0, 0, 0)
    assert rates(found).read == (0.0, 0.0)
    assert Lifetimes(found).mean_blocks(10.0) == 0.0
    assert Lifetimes(found).peak_blocks(10.0) == 0
    assert second_touch([], found).whole.blocks == 0
    assert route([], 16, 2, 4).imbalance == 1.0


def test_only_what_comes_later_counts_where_that_is_asked_for() -> None:
    prompts = generated_prompts(300)
    found = stack_distances(prompts, 512)
    size, first = found.unique_blocks // 5, found.warm_from
    for warm, whole in (
        (fifo(prompts, 512, size, first=first), fifo(prompts, 512, size)),
        (purged(found, size, 0.8, first=first), purged(found, size, 0.8)),
        (belady(found, size, first=first), belady(found, size)),
    ):
        assert all(late < all_of_it for late, all_of_it in zip(warm, whole, strict=True))
    assert route(prompts, 512, 1, size, first=first).local_tokens == found.warm.hit_tokens(size)


def test_belady_writes_what_it_hits_and_little_more() -> None:
    found = stack_distances(generated_prompts(300), 512)
    endless = belady(found, found.unique_blocks)
    assert endless.hit_blocks == found.whole.reused_blocks
    # Every block that is ever asked for again is written once.
    assert endless.written_blocks == second_touch(generated_prompts(300), found).unique_blocks


def test_a_cache_without_room_hits_nothing() -> None:
    prompts = prompts_from((1, 2), (1, 2))
    found = stack_distances(prompts, 16)
    assert purged(found, 0, 0.8).hit_blocks == fifo(prompts, 16, 0).hit_blocks == belady(found, 0).hit_blocks == 0
    assert found.whole.hit_blocks(0) == 0


def test_keeping_for_a_while_counts_tokens_and_copes_with_one_moment() -> None:
    lived = Lifetimes(stack_distances([Prompt(3.0, (1, 2), 20), Prompt(3.0, (1, 2), 20)], 16))
    assert (lived.hit_tokens(0.0), lived.mean_blocks(9.0), lived.peak_blocks(9.0)) == (20, 2.0, 2)
