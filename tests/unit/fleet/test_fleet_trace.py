"""The fleet replays the public conversation trace as others do."""

from __future__ import annotations

from functools import cache

import pytest
from public_traces import mooncake_trace

from kvplan.core.fleet.engines import EngineTimes
from kvplan.core.fleet.flows import Epoch
from kvplan.core.fleet.jobs import Arrival
from kvplan.core.fleet.replay import Caches, Routing, replay
from kvplan.core.fleet.run import Fleet, run_fleet
from kvplan.core.fleet.timeline import ttft
from kvplan.core.fleet.topology import Topology
from kvplan.core.prediction.prefill import PrefillModel
from kvplan.core.prediction.warm import EngineCost
from kvplan.traces.reading import read_trace

TRACE = mooncake_trace("conversation")
H200 = PrefillModel(0.036, 17.3e-6, 0.313e-9, 1.0, "derived", "aiconfigurator 0.12.0, gpt-oss-120b on one GPU")
UNIQUE_BLOCKS = 182_790
pytestmark = pytest.mark.skipif(not TRACE.is_file(), reason="the real traces are not here")


@cache
def arrivals() -> tuple[Arrival, ...]:
    """Read the trace."""
    return tuple(Arrival(one.time_s, one.input_tokens, one.blocks or ()) for one in read_trace(TRACE).requests)


def fleet(hit: EngineCost, stream: float) -> Fleet:
    """Build four H200 with gpt-oss-120b, whose prefills decoding slows by 15 %, over a tier that is never full."""
    return Fleet(Topology(4, 4, 0, stream), (Epoch(0.0, (1e12, 1e12)),), 73_728, EngineTimes(H200, hit, 1.15))


@pytest.fixture(scope="module")
def round_robin() -> Fleet:
    return fleet(EngineCost(0.0, 0.0, 0.0, 0), 10e9)


def test_times_without_a_tier_are_those_of_aisimulate(round_robin: Fleet) -> None:
    jobs = replay(arrivals(), Caches(4, 512, 3_000), "round-robin", seed=0)
    found = ttft(run_fleet(jobs, round_robin).without_tier.first_token_s)
    assert found.mean_s == pytest.approx(0.854, rel=0.03)
    assert found.p50_s == pytest.approx(0.416, rel=0.03)
    assert found.p90_s == pytest.approx(2.03, rel=0.1)
    assert found.p99_s == pytest.approx(6.12, rel=0.12)


def test_times_with_a_tier_are_those_of_aisimulate(round_robin: Fleet) -> None:
    jobs = replay(arrivals(), Caches(4, 512, 3_000), "round-robin", seed=0)
    found = ttft(run_fleet(jobs, round_robin).with_tier.first_token_s)
    assert found.mean_s == pytest.approx(0.664, rel=0.1)
    assert found.p90_s == pytest.approx(1.45, rel=0.1)
    assert sum(job.local_tokens + job.tier_tokens for job in jobs) / sum(job.tokens for job in jobs) == pytest.approx(
        0.374, abs=0.001
    )


@pytest.mark.parametrize(
    ("engines", "routing", "local", "tier"),
    [
        (4, "sticky", 34.5, 2.1),
        (16, "sticky", 34.5, 2.2),
        (4, "round-robin", 15.4, 21.3),
        (8, "round-robin", 10.3, 26.4),
        (16, "round-robin", 7.4, 29.3),
    ],
)
def test_routing_decides_where_hits_are_found(engines: int, routing: Routing, local: float, tier: float) -> None:
    caches = Caches(engines, 512, UNIQUE_BLOCKS // 5 // engines)
    jobs = replay(arrivals(), caches, routing, seed=0)
    tokens = sum(job.tokens for job in jobs)
    assert 100 * sum(job.local_tokens for job in jobs) / tokens == pytest.approx(local, abs=0.6)
    assert 100 * sum(job.tier_tokens for job in jobs) / tokens == pytest.approx(tier, abs=0.8)
    computed = [0] * engines
    for job in jobs:
        computed[job.engine] += job.tokens - job.local_tokens
    assert max(computed) / (sum(computed) / engines) < (1.05 if routing == "sticky" else 1.2)
