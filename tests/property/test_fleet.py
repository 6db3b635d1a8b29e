"""What must hold of every fleet, whatever comes."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvplan.core.fleet.arrivals import Shares, poisson_arrivals, shared_out
from kvplan.core.fleet.engines import EngineTimes, serve
from kvplan.core.fleet.flows import Paths
from kvplan.core.fleet.jobs import Job
from kvplan.core.fleet.lru import PrefixCache
from kvplan.core.fleet.maxmin import max_min_rates
from kvplan.core.fleet.network import Network
from kvplan.core.fleet.onetier import OneTier
from kvplan.core.prediction.prefill import PrefillModel
from kvplan.core.prediction.warm import EngineCost

FETCHES = st.lists(
    st.tuples(st.floats(0, 10), st.floats(1e6, 50e9)).map(lambda pair: (round(pair[0], 3), pair[1])),
    min_size=1,
    max_size=30,
).map(sorted)
TIMES = EngineTimes(PrefillModel(0.03, 2e-5, 3e-10, 1.15, "assumed", ""), EngineCost(0.125, 2.3e-6, 0.02, 1), 1.15)


@settings(max_examples=40)
@given(FETCHES, st.floats(1e9, 60e9), st.floats(1e9, 300e9))
def test_a_network_of_one_class_is_one_tier(fetches: list[tuple[float, float]], stream: float, tier: float) -> None:
    starts, sizes = zip(*fetches, strict=True)
    alone, network = OneTier(stream, tier), Network(Paths(((0,),), stream), (tier,))
    alone.advance(starts, sizes, math.inf)
    network.advance(starts, sizes, [0] * len(starts), math.inf)
    assert network.finishes_s == pytest.approx(alone.finishes_s)


@settings(max_examples=40)
@given(FETCHES, st.floats(1e9, 60e9), st.floats(1e9, 300e9))
def test_no_fetch_is_faster_than_alone_nor_the_tier_than_its_rate(
    fetches: list[tuple[float, float]], stream: float, tier: float
) -> None:
    starts, sizes = zip(*fetches, strict=True)
    way = OneTier(stream, tier)
    way.advance(starts, sizes, math.inf)
    for start, size, finish in zip(starts, sizes, way.finishes_s, strict=True):
        assert finish - start >= size / min(stream, tier) * (1 - 1e-6) - 1e-6
    assert max(way.finishes_s) - starts[0] >= sum(sizes) / tier * (1 - 1e-6) - 1e-6


@settings(max_examples=40)
@given(FETCHES, st.floats(0, 12))
def test_bytes_are_neither_made_nor_lost_while_time_stops_between(
    fetches: list[tuple[float, float]], stop: float
) -> None:
    starts, sizes = zip(*fetches, strict=True)
    begun = [start for start in starts if start <= stop]
    whole, halves = OneTier(20e9, 50e9), OneTier(20e9, 50e9)
    whole.advance(starts, sizes, math.inf)
    halves.advance(begun, sizes[: len(begun)], stop)
    assert 0 <= halves.in_flight_bytes() <= sum(sizes[: len(begun)]) * (1 + 1e-9)
    halves.advance(starts[len(begun) :], sizes[len(begun) :], math.inf)
    assert halves.finishes_s == pytest.approx(whole.finishes_s)


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.sets(st.integers(0, 4), min_size=1)), min_size=1, max_size=12),
    st.lists(st.floats(1e9, 100e9), min_size=5, max_size=5),
    st.floats(1e9, 60e9),
)
def test_fair_rates_fill_links_and_never_more(
    classes: list[tuple[int, set[int]]], capacities: list[float], stream: float
) -> None:
    counts, paths = [count for count, _ in classes], [tuple(links) for _, links in classes]
    rates = max_min_rates(counts, paths, capacities, stream)
    load = [
        sum(n * rate for n, rate, path in zip(counts, rates, paths, strict=True) if link in path) for link in range(5)
    ]
    assert all(carried <= capacity * (1 + 1e-9) for carried, capacity in zip(load, capacities, strict=True))
    for count, rate, path in zip(counts, rates, paths, strict=True):
        stopped = rate == stream or any(load[link] >= capacities[link] * (1 - 1e-6) for link in path)
        assert not count or stopped


@settings(max_examples=40)
@given(st.integers(0, 99), st.floats(0, 1), st.booleans())
def test_equal_seeds_make_equal_requests_and_never_more_hits_than_tokens(seed: int, share: float, cold: bool) -> None:  # noqa: FBT001 - drawn
    arrivals = poisson_arrivals(2.0, 50.0, 4_000, 0.7, seed)
    shares = Shares(share, 0.5, 20.0, cold=cold)
    first, again = (shared_out(arrivals, shares, 4, sticky=False, seed=seed) for _ in range(2))
    assert first == again
    assert all(0 <= job.local_tokens + job.tier_tokens <= job.tokens for job in first)


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(st.floats(0, 20), st.integers(0, 2), st.integers(1, 50_000), st.floats(0, 1)), min_size=1, max_size=30
    )
)
def test_engines_work_off_all_and_one_at_a_time(asked: list[tuple[float, int, int, float]]) -> None:
    jobs = sorted(Job(time, engine, tokens, 0, int(share * tokens)) for time, engine, tokens, share in asked)
    served = serve(jobs, [job.arrival_s for job in jobs], [True] * len(jobs), TIMES, 3)
    assert all(time > 0 for time in served.first_token_s)
    for engine in range(3):
        spans = sorted(
            (served.begins_s[index], served.ends_s[index]) for index, job in enumerate(jobs) if job.engine == engine
        )
        assert all(before[1] <= after[0] for before, after in pairwise(spans))


@settings(max_examples=40)
@given(
    st.lists(st.integers(0, 3).map(lambda kind: [kind * 10 + depth for depth in range(4)]), max_size=40),
    st.integers(1, 9),
)
def test_a_cache_holds_whole_beginnings_only(prompts: list[list[int]], capacity: int) -> None:
    cache = PrefixCache(capacity)
    for prompt in prompts:
        cache.touch(prompt)
        held = cache.hits(prompt)
        assert held == min(capacity, 4)
