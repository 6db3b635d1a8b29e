"""Time the fleet simulation: fetches over one tier, fetches over a network, and a whole fleet; the same on every run.

::

    python benchmarks/fleet.py [--requests 1000000]
"""

from __future__ import annotations

import argparse
import math
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING

import kvplan
from kvplan.catalogue.loader import load_catalogue
from kvplan.core.fleet.flows import Paths
from kvplan.core.fleet.network import Network
from kvplan.core.fleet.onetier import OneTier
from kvplan.core.fleet.simulation import simulate_fleet
from kvplan.schema.simulating import SimulationRequest
from kvplan.simulating import simulation_inputs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TIER_BYTES_PER_S, STREAM_BYTES_PER_S, FETCH_BYTES = 315e9, 22.5e9, 8.85e9
"""Eight nodes, a 200 Gb/s NIC, 120,000 tokens of gpt-oss-120b."""
UTILISATION = 0.8
NIC_BYTES_PER_S, GROUPS = 80e9, 32
AIM_PER_S = 200_000


def fetches(count: int) -> tuple[list[float], list[float]]:
    """Make fetches at random moments, of exponential sizes [s, B]."""
    random, now = Random(0), 0.0  # noqa: S311 - a benchmark
    starts, sizes = [], []
    for _ in range(count):
        now += random.expovariate(UTILISATION * TIER_BYTES_PER_S / FETCH_BYTES)
        starts.append(now)
        sizes.append(random.expovariate(1 / FETCH_BYTES))
    return starts, sizes


def one_tier(count: int) -> float:
    """Return the seconds that fetches over one tier take to simulate."""
    starts, sizes = fetches(count)
    tier = OneTier(STREAM_BYTES_PER_S, TIER_BYTES_PER_S)
    return timed(lambda: tier.advance(starts, sizes, math.inf))


def network(count: int) -> float:
    """Return the seconds that fetches over the NICs of 32 servers and one tier take to simulate."""
    starts, sizes = fetches(count)
    paths = Paths(tuple((group, GROUPS) for group in range(GROUPS)), STREAM_BYTES_PER_S)
    shared = Network(paths, (*(NIC_BYTES_PER_S,) * GROUPS, TIER_BYTES_PER_S))
    classes = [place * 7 % GROUPS for place in range(count)]
    return timed(lambda: shared.advance(starts, sizes, classes, math.inf))


def fleet(count: int) -> float:
    """Return the seconds that a fleet of 256 engines takes to simulate, with the tier and without it."""
    plan = kvplan.size(kvplan.Request(model="gpt-oss-120b", context_tokens=57_000, gpus=256, gpu="h200"))
    asked = SimulationRequest(
        requests_per_s=60.0, prompt_sigma=0.5, hit_share=0.95, start="warm", duration_s=max(count / 60, 1.0)
    )
    inputs = simulation_inputs(plan, asked, None, load_catalogue())
    return timed(lambda: simulate_fleet(inputs))


def timed(run: Callable[[], object]) -> float:
    """Return the seconds that something takes."""
    began = perf_counter()
    run()
    return perf_counter() - began


def main(arguments: Sequence[str] | None = None) -> None:
    """Time all three, and print requests a second."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=1_000_000)
    count = parser.parse_args(arguments).requests
    for name, run, share in (("one tier", one_tier, 1), ("network", network, 20), ("fleet", fleet, 20)):
        took = run(count // share)
        aim = f", at least {AIM_PER_S:,} wanted" if run is one_tier else ""
        print(f"{name:<10}{count // share:>10,} requests in {took:6.2f} s: {count / share / took:>11,.0f}/s{aim}")


if __name__ == "__main__":
    main()
