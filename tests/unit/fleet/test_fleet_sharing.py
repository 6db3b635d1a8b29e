"""Fetches share the tier as queueing theory and max-min fairness have it."""

from __future__ import annotations

import math
from collections import Counter
from functools import cache
from random import Random

import pytest

from kvplan.core.fleet.flows import Epoch, Flows, Paths
from kvplan.core.fleet.maxmin import max_min_rates
from kvplan.core.fleet.network import Network, carry
from kvplan.core.fleet.onetier import OneTier
from kvplan.core.prediction.storm import storm_seconds

TIER, STREAM, FETCH = 315e9, 22.5e9, 8.85e9
"""Eight nodes, a NIC of 200 Gb/s at nine tenths, 120,000 tokens of gpt-oss-120b [B/s, B/s, B]."""
SERVER_NIC, UPLINK, NODE = 45e9, 180e9, 39.375e9


def erlang_mean_s(utilisation: float) -> float:
    """Return S/r (1 + EC(k, k rho) / (k (1 - rho))) for the fetches above."""
    servers = round(TIER / STREAM)
    offered = servers * utilisation
    below = sum(offered**busy / math.factorial(busy) for busy in range(servers))
    full = offered**servers / math.factorial(servers) / (1 - utilisation)
    return FETCH / STREAM * (1 + full / (below + full) / (servers * (1 - utilisation)))


@cache
def sojourns(utilisation: float, *, exponential: bool, batch: int = 1) -> list[float]:
    """Fetch at random moments, and return how long each fetch took."""
    random, now = Random(1), 0.0  # noqa: S311 - a simulation
    starts: list[float] = []
    # The fuller the tier, the longer one crowd is remembered.
    count = 60_000 if utilisation < 0.8 else 150_000 if utilisation < 0.9 else 500_000
    while len(starts) < count:
        now += random.expovariate(utilisation * TIER / FETCH / batch)
        starts += [now] * batch
    sizes = [random.expovariate(1 / FETCH) if exponential else FETCH for _ in starts]
    tier = OneTier(STREAM, TIER)
    tier.advance(starts, sizes, math.inf)
    return sorted(finish - start for start, finish in zip(starts, tier.finishes_s, strict=True))


@pytest.mark.parametrize("exponential", [False, True], ids=["equal", "exponential"])
@pytest.mark.parametrize("utilisation", [0.5, 0.7, 0.8, 0.9])
def test_mean_fetch_is_that_of_erlang(utilisation: float, exponential: bool) -> None:  # noqa: FBT001 - parametrised
    times = sojourns(utilisation, exponential=exponential)
    assert sum(times) / len(times) == pytest.approx(erlang_mean_s(utilisation), rel=0.02)


@pytest.mark.parametrize(
    ("utilisation", "exponential", "p99_s"),
    [
        (0.5, False, 0.42),
        (0.7, False, 0.58),
        (0.8, False, 0.83),
        (0.9, False, 1.48),
        (0.7, True, 1.9),
        (0.9, True, 3.1),
    ],
)
def test_p99_is_that_of_the_note(utilisation: float, exponential: bool, p99_s: float) -> None:  # noqa: FBT001 - parametrised
    times = sojourns(utilisation, exponential=exponential)
    assert times[int(0.99 * len(times))] == pytest.approx(p99_s, rel=0.06)


@pytest.mark.parametrize(("utilisation", "p99_s"), [(0.5, 5.7), (0.7, 11.3)])
def test_p99_of_arrivals_in_crowds_is_that_of_the_note(utilisation: float, p99_s: float) -> None:
    times = sojourns(utilisation, exponential=True, batch=32)
    assert times[int(0.99 * len(times))] == pytest.approx(p99_s, rel=0.1)


@pytest.mark.parametrize(
    ("engines", "context_bytes", "seconds"), [(256, 8.85e9, 7.2), (256, 4.42e9, 3.6), (64, 8.85e9, 1.8)]
)
def test_a_storm_takes_as_long_as_its_bound(engines: int, context_bytes: float, seconds: float) -> None:
    tier = OneTier(STREAM, TIER)
    tier.advance([0.0] * engines, [context_bytes] * engines, math.inf)
    assert max(tier.finishes_s) == pytest.approx(storm_seconds(engines, context_bytes, STREAM, TIER))
    assert max(tier.finishes_s) == pytest.approx(seconds, rel=0.01)


def fleet_of(storage_nodes_of: list[int]) -> tuple[list[int], list[tuple[int, ...]], list[float]]:
    """Put one flow on each GPU, four GPUs behind a NIC, sixteen NICs behind an uplink, each prompt on one node."""
    servers, leaves = len(storage_nodes_of) // 4, max(len(storage_nodes_of) // 64, 1)
    capacities = [SERVER_NIC] * servers + [UPLINK] * leaves + [NODE] * 8
    paths: list[tuple[int, ...]] = [
        (gpu // 4, servers + gpu // 64, servers + leaves + node) for gpu, node in enumerate(storage_nodes_of)
    ]
    return [1] * len(paths), paths, capacities


def test_striped_prompts_share_all_nodes_evenly() -> None:
    paths = [(gpu // 4, 64 + gpu // 64, 68) for gpu in range(256)]
    rates = max_min_rates([1] * 256, paths, [SERVER_NIC] * 64 + [UPLINK] * 4 + [8 * NODE], STREAM)
    assert {round(rate / 1e9, 2) for rate in rates} == {1.23}


def test_prompts_on_one_node_each_are_as_slow_as_the_node_with_most_of_them() -> None:
    # 41 prompts on the busiest node and 26 on the least busy, as in a random draw.
    nodes = [node for node, count in enumerate([41, 26, 32, 32, 30, 31, 32, 32]) for _ in range(count)]
    Random(0).shuffle(nodes)  # noqa: S311 - a simulation
    counts, paths, capacities = fleet_of(nodes)
    rates = max_min_rates(counts, paths, capacities, STREAM)
    assert min(rates) / 1e9 == pytest.approx(0.96, abs=0.005)
    assert max(rates) / 1e9 == pytest.approx(1.52, abs=0.01)
    network = Network(Paths(tuple(paths), STREAM), capacities)
    network.advance([0.0] * 256, [FETCH] * 256, list(range(256)), math.inf)
    assert max(network.finishes_s) == pytest.approx(9.2, rel=0.01)
    assert max(network.finishes_s) / (256 * FETCH / (8 * NODE)) == pytest.approx(1.28, abs=0.01)


def test_nobody_takes_what_another_with_less_could_have() -> None:
    counts, paths, capacities = fleet_of([random % 5 for random in range(64)])
    rates = max_min_rates(counts, paths, capacities, STREAM)
    load = Counter[int]()
    for rate, path in zip(rates, paths, strict=True):
        for link in path:
            load[link] += rate  # type: ignore[assignment]
    full = {link for link, total in load.items() if total > capacities[link] * (1 - 1e-9)}
    assert all(total <= capacities[link] * (1 + 1e-9) for link, total in load.items())
    for rate, path in zip(rates, paths, strict=True):
        others = [
            [other for other, way in zip(rates, paths, strict=True) if link in way] for link in path if link in full
        ]
        assert rate == STREAM or any(rate >= max(rivals) * (1 - 1e-9) for rivals in others)


def test_what_is_under_way_is_lost_with_the_tier_and_later_fetches_find_it_again() -> None:
    flows = Flows([0.0, 0.5, 2.0, 4.0], [10e9] * 4, [0] * 4)
    epochs = (Epoch(0.0, (20e9,)), Epoch(1.0, (0.0,)), Epoch(3.0, (20e9,)))
    done = carry(flows, Paths(((0,),), 10e9), epochs, (0.5, 1.0, 3.0, 5.0))
    assert done.finishes_s == [1.0, 1.0, 2.0, 5.0]
    assert done.lost == {1, 2}
    assert done.marks_bytes == (5e9, 15e9, 15e9, 25e9)


def test_several_classes_are_lost_with_the_tier() -> None:
    flows = Flows([0.0, 0.0], [10e9, 40e9], [0, 1])
    paths = Paths(((0, 2), (1, 2)), 10e9)
    epochs = (Epoch(0.0, (20e9, 20e9, 40e9)), Epoch(2.0, (20e9, 20e9, 0.0)))
    done = carry(flows, paths, epochs, (2.0,))
    assert done.finishes_s == [1.0, 2.0]
    assert done.lost == {1}
    assert done.marks_bytes == (30e9,)


def test_half_a_tier_takes_twice_as_long() -> None:
    paths = Paths(((0, 2), (1, 2)), 50e9)
    whole, half = (Epoch(0.0, (50e9, 50e9, total)) for total in (40e9, 20e9))
    flows = Flows([0.0] * 8, [10e9] * 8, [0, 1] * 4)
    took = [max(carry(flows, paths, (state,), ()).finishes_s) for state in (whole, half)]
    assert took == pytest.approx([2.0, 4.0])
