"""A whole fleet at work: fetches first, then engines, with the shared tier and without it."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from kvplan.core.fleet.engines import serve
from kvplan.core.fleet.flows import Flows
from kvplan.core.fleet.network import carry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.core.fleet.engines import EngineTimes, Served
    from kvplan.core.fleet.flows import Epoch
    from kvplan.core.fleet.jobs import Job
    from kvplan.core.fleet.topology import Topology


@dataclass(frozen=True, slots=True)
class Fleet:
    """What serves: the way to the tier and what it carries when, the bytes of a cached token [B/token], the engines."""

    way: Topology
    epochs: tuple[Epoch, ...]
    loaded_bytes_per_token: float
    times: EngineTimes


@dataclass(frozen=True, slots=True)
class Run:
    """What came of the jobs.

    `fetch_s` is how long each fetch took [s], `fetch_bytes` what it read [B], both by the order of `fetching`, the jobs
    that read from the tier; `lost` counts places in it. `read_bytes` is what was read by each mark [B].
    """

    jobs: Sequence[Job]
    with_tier: Served
    without_tier: Served
    from_tier: list[bool]
    fetching: list[int]
    fetch_s: list[float]
    fetch_bytes: list[float]
    lost: frozenset[int]
    read_bytes: tuple[float, ...]


def run_fleet(jobs: Sequence[Job], fleet: Fleet, marks_s: Sequence[float] = (), seed: int = 0) -> Run:
    r"""Let a fleet serve requests, with the shared tier and without it.

    .. math:: \mathrm{TTFT} = \text{fetch} + \text{queue} + W + L

    Parameters
    ----------
    jobs
        The requests at their engines, by arrival [s].
    fleet
        What serves them.
    marks_s
        Moments [s], rising, by which what was read is counted.
    seed
        What the storage node of a prompt follows from, where it lies on one [1].

    Returns
    -------
    Run
        Time to the first token of each request [s], with the tier and without it, and its fetches.

    Notes
    -----
    A fetch begins when its request comes, for engines load beside computing, so that the tier does not wait for GPUs.
    What is lost on the way is computed instead. An engine never chooses to compute what it could read.

    References
    ----------
    `kvplan.core.fleet.network.carry` and `kvplan.core.fleet.engines.serve`.

    Examples
    --------
    >>> from kvplan.core.fleet.engines import EngineTimes
    >>> from kvplan.core.fleet.flows import Epoch
    >>> from kvplan.core.fleet.jobs import Job
    >>> from kvplan.core.fleet.topology import Topology
    >>> from kvplan.core.prediction.prefill import PrefillModel
    >>> from kvplan.core.prediction.warm import EngineCost
    >>> times = EngineTimes(PrefillModel(0.0, 1e-4, 0.0, 1.0, "assumed", ""), EngineCost(0.1, 0.0, 0.0, 0), 1.0)
    >>> fleet = Fleet(Topology(1, 1, 0, 50e9), (Epoch(0.0, (80e9, 100e9)),), 1e6, times)
    >>> ran = run_fleet([Job(0.0, 0, 20_000, 0, 10_000)], fleet)
    >>> ran.with_tier.first_token_s, ran.without_tier.first_token_s
    ([1.3], [2.0])
    """
    random = Random(seed)  # noqa: S311 - a simulation, not a secret
    nodes = fleet.way.storage_nodes
    fetching = [index for index, job in enumerate(jobs) if job.tier_tokens]
    starts = [jobs[index].arrival_s for index in fetching]
    sizes = [jobs[index].tier_tokens * fleet.loaded_bytes_per_token for index in fetching]
    kinds = [fleet.way.kind(jobs[index].engine, random.randrange(nodes) if nodes else 0) for index in fetching]
    carried = carry(Flows(starts, sizes, kinds), fleet.way.paths(), fleet.epochs, marks_s)
    arrivals = [job.arrival_s for job in jobs]
    ready, found = list(arrivals), [False] * len(jobs)
    for place, index in enumerate(fetching):
        ready[index] = carried.finishes_s[place]
        found[index] = place not in carried.lost
    return Run(
        jobs=jobs,
        with_tier=serve(jobs, ready, found, fleet.times, fleet.way.engines),
        without_tier=serve(jobs, arrivals, [False] * len(jobs), fleet.times, fleet.way.engines),
        from_tier=found,
        fetching=fetching,
        fetch_s=[finish - start for start, finish in zip(starts, carried.finishes_s, strict=True)],
        fetch_bytes=sizes,
        lost=carried.lost,
        read_bytes=carried.marks_bytes,
    )
