"""The real traces: what was counted in them before, by other programs."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest
from public_traces import TRACES
from reuse_oracles import CONVERSATION, SYNTHETIC, real_prompts

from kvplan.core.reuse.belady import belady
from kvplan.core.reuse.curve import capacity_for, spread_capacities, tier_hits
from kvplan.core.reuse.distances import Distances, stack_distances
from kvplan.core.reuse.lifetimes import Lifetimes
from kvplan.core.reuse.policies import fifo, purged, second_touch
from kvplan.core.reuse.rates import rates
from kvplan.core.reuse.routing import random_local_share, route
from kvplan.core.reuse.sampling import hot_blocks, sample, sampled_curve

if TYPE_CHECKING:
    from collections.abc import Callable

BLOCK = 512
SHARES = (0.01, 0.03, 0.1, 0.2, 0.5)

pytestmark = pytest.mark.skipif(not TRACES.is_dir(), reason="the real traces are not here")


@cache
def distances(name: str) -> Distances:
    return stack_distances(real_prompts(name), BLOCK)


def percent(name: str, hit_blocks: Callable[[int], int]) -> list[float]:
    """Return hit ratios [%] at shares of the unique blocks."""
    found = distances(name)
    return [100 * hit_blocks(round(share * found.unique_blocks)) / found.whole.blocks for share in SHARES]


@pytest.mark.parametrize(
    ("name", "requests", "accesses", "unique", "ratio", "for_90", "for_99"),
    [
        (CONVERSATION, 12_031, 288_500, 182_790, 0.374, 16.1e6, 43.6e6),
        (SYNTHETIC, 3_993, 121_877, 43_924, 0.651, 10.4e6, 17.4e6),
    ],
)
def test_what_the_traces_hold(
    name: str, requests: int, accesses: int, unique: int, ratio: float, for_90: float, for_99: float
) -> None:
    found = distances(name)
    assert found.chained
    assert (len(found.blocks), found.whole.blocks, found.unique_blocks) == (requests, accesses, unique)
    assert found.whole.reused_tokens / found.whole.tokens == pytest.approx(ratio, abs=0.000_5)
    assert capacity_for(found.whole, 0.9) * BLOCK == pytest.approx(for_90, abs=0.05e6)
    assert capacity_for(found.whole, 0.99) * BLOCK == pytest.approx(for_99, abs=0.05e6)


def test_the_warm_half_is_what_kvcache_simulator_counts() -> None:
    warm = distances(CONVERSATION).warm
    found = [100 * warm.hit_tokens(blocks) / warm.tokens for blocks in (1_817, 5_465, 18_240, 36_480, 91_200)]
    assert found == pytest.approx([5.43, 12.56, 29.34, 36.62, 39.09], abs=0.005)
    assert 100 * warm.reused_tokens / warm.tokens == pytest.approx(39.81, abs=0.005)


@pytest.mark.parametrize(
    ("name", "lru", "written_first", "best"),
    [
        (CONVERSATION, [5.3, 12.6, 27.9, 34.5, 36.3], [5.1, 11.8, 24.8, 31.3, 35.5], [24.6, 34.8, 36.6, 36.6, 36.6]),
        (SYNTHETIC, [3.8, 10.7, 26.2, 39.3, 58.9], [3.6, 9.9, 24.6, 37.0, 55.0], [18.5, 31.4, 50.6, 60.8, 64.0]),
    ],
)
def test_policies_hit_what_was_counted_before(
    name: str, lru: list[float], written_first: list[float], best: list[float]
) -> None:
    assert percent(name, distances(name).whole.hit_blocks) == pytest.approx(lru, abs=0.06)
    assert percent(name, lambda size: fifo(real_prompts(name), BLOCK, size).hit_blocks) == pytest.approx(
        written_first, abs=0.08
    )
    assert percent(name, lambda size: belady(distances(name), size).hit_blocks) == pytest.approx(best, abs=0.06)


@pytest.mark.parametrize(
    ("name", "low_share", "published"),
    [
        (CONVERSATION, 0.8, [5.0, 11.0, 26.5, 33.4, 36.1]),
        (CONVERSATION, 0.5, [4.7, 8.9, 24.4, 31.6, 36.1]),
        (SYNTHETIC, 0.8, [3.2, 9.3, 23.4, 37.2, 56.7]),
        (SYNTHETIC, 0.5, [2.9, 8.3, 21.1, 33.3, 54.2]),
    ],
)
def test_purges_hit_what_was_counted_before(name: str, low_share: float, published: list[float]) -> None:
    # When exactly a purge falls due decides what it takes; the figures to compare with purge between requests.
    found = percent(name, lambda size: purged(distances(name), size, low_share).hit_blocks)
    assert found == pytest.approx(published, abs=0.65)


@pytest.mark.parametrize(("name", "hits", "saved"), [(CONVERSATION, 21.3, 0.76), (SYNTHETIC, 49.0, 0.58)])
def test_write_on_second_touch_trades_hits_for_writes(name: str, hits: float, saved: float) -> None:
    whole = distances(name)
    found = second_touch(real_prompts(name), whole)
    assert 100 * found.whole.reused_blocks / found.whole.blocks == pytest.approx(hits, abs=0.05)
    assert 1 - found.unique_blocks / whole.unique_blocks == pytest.approx(saved, abs=0.005)


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        (
            CONVERSATION,
            {60: (10.3, 10.0), 120: (19.2, 19.1), 300: (28.8, 28.7), 600: (34.3, 34.3), 1_800: (36.35, 36.35)},
        ),
        (SYNTHETIC, {60: (32.2, 30.8), 120: (43.7, 43.2), 300: (58.4, 57.8), 600: (63.4, 63.1), 1_800: (64.0, 63.9)}),
    ],
)
def test_a_time_to_live_hits_what_a_cache_of_its_mean_occupancy_hits(
    name: str, rows: dict[int, tuple[float, float]]
) -> None:
    found = distances(name).whole
    lived = Lifetimes(distances(name))
    for time_to_live_s, (hit, lru) in rows.items():
        assert 100 * lived.hit_blocks(time_to_live_s) / found.blocks == pytest.approx(hit, abs=0.06)
        size = round(lived.mean_blocks(time_to_live_s))
        assert 100 * found.hit_blocks(size) / found.blocks == pytest.approx(lru, abs=0.45)


@pytest.mark.parametrize(
    ("name", "read", "write", "peak"), [(CONVERSATION, 0.56, 0.95, 2.7), (SYNTHETIC, 1.4, 0.77, 3.3)]
)
def test_rates_are_those_of_the_trace(name: str, read: float, write: float, peak: float) -> None:
    found = rates(distances(name))
    assert found.read.mean_tokens_per_s * 36_864 / 1e9 == pytest.approx(read, abs=0.05)
    assert found.write.mean_tokens_per_s * 36_864 / 1e9 == pytest.approx(write, abs=0.006)
    assert found.read.peak_tokens_per_s / found.read.mean_tokens_per_s == pytest.approx(peak, abs=0.1)


@pytest.mark.parametrize(("instances", "scattered"), [(4, 15.4), (8, 10.3), (16, 7.4)])
def test_sticky_routing_pools_private_caches_and_round_robin_scatters_them(instances: int, scattered: float) -> None:
    found = distances(CONVERSATION)
    local = int(0.2 * found.unique_blocks / instances)
    pooled = 100 * found.whole.hit_tokens(local * instances) / found.whole.tokens
    sticky = route(real_prompts(CONVERSATION), BLOCK, instances, local)
    assert 100 * sticky.local_tokens / sticky.tokens == pytest.approx(pooled, abs=1.0)
    assert sticky.imbalance < 1.05
    random = route(real_prompts(CONVERSATION), BLOCK, instances, local, routing="round-robin")
    # The published figures count blocks, these count tokens.
    assert 100 * random.local_tokens / random.tokens == pytest.approx(scattered, abs=0.4)
    # The closed rule with the one block that all prompts share, which carries 11.4 % of all hits.
    rule = random_local_share(pooled, 0.114 * 37.4, instances)
    assert rule == pytest.approx(100 * random.local_tokens / random.tokens, abs=4.0)


def test_tiers_split_the_curve() -> None:
    found = distances(CONVERSATION)
    local, tier = tier_hits(found.whole, (int(0.2 * found.unique_blocks), found.unique_blocks))
    assert 100 * local.hit_blocks / found.whole.blocks == pytest.approx(34.5, abs=0.05)
    assert 100 * tier.hit_blocks / found.whole.blocks == pytest.approx(2.1, abs=0.05)


@pytest.mark.parametrize(("name", "hot"), [(CONVERSATION, 1), (SYNTHETIC, 0)])
def test_a_sample_is_as_good_as_it_says(name: str, hot: int) -> None:
    found = distances(name).whole
    assert len(hot_blocks(real_prompts(name), 0.01)) == hot
    sizes = [size for size in spread_capacities(found.deepest_blocks, 60) if size >= 1_000]
    points = sampled_curve(sample(real_prompts(name), BLOCK, 10).whole, sizes)
    errors = [abs(point.hit_ratio - found.hit_blocks(point.capacity_blocks) / found.blocks) for point in points]
    stated = max(point.standard_error for point in points)
    assert sum(errors) / len(errors) < 0.003
    assert max(errors) < 4 * stated
    tokens = [abs(point.token_hit_ratio - found.hit_tokens(point.capacity_blocks) / found.tokens) for point in points]
    assert sum(tokens) / len(tokens) < 0.003
    assert max(tokens) < 4 * max(point.token_standard_error for point in points)
