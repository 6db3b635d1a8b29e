"""A Plan's fleet simulated: what comes, what it is served by, and the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kvplan.core.fleet.arrivals import Shares, burst, shared_out
from kvplan.core.fleet.engines import work
from kvplan.core.fleet.replay import Caches, replay
from kvplan.core.fleet.run import Fleet, run_fleet
from kvplan.core.fleet.timeline import quantile, timeline, ttft
from kvplan.core.fleet.topology import epoch, topology
from kvplan.core.prediction.prefill import cold_seconds
from kvplan.schema.simulating import FetchTimes, FleetShape, Side, SimulationReport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.core.fleet.engines import EngineTimes, Served
    from kvplan.core.fleet.jobs import Arrival, Job
    from kvplan.core.fleet.run import Run
    from kvplan.schema.plan import Plan
    from kvplan.schema.simulating import SimulationRequest

SPANS: Final = 60
"""Spans of time that the report tells apart."""
_LOADED: Final = 0.95
"""From this load on the queues of a simulation of minutes say little [1]."""


@dataclass(frozen=True, slots=True)
class SimulationInputs:
    """All that a simulation needs.

    `arrivals` come within `duration_s` [s], with blocks of `block_tokens` [tokens], or without where that is None.
    `workload` names what the request was filled up from.
    `stream_bytes_per_s` is the most that one engine reads with its back end [B/s].
    """

    plan: Plan
    request: SimulationRequest
    times: EngineTimes
    stream_bytes_per_s: float
    arrivals: tuple[Arrival, ...]
    duration_s: float
    source: str
    workload: str | None = None
    block_tokens: int | None = None
    notes: tuple[str, ...] = ()


def simulate_fleet(inputs: SimulationInputs) -> SimulationReport:
    """Simulate the fleet of a Plan, with its shared tier and without it.

    Parameters
    ----------
    inputs
        The Plan, what comes, and what an engine takes.

    Returns
    -------
    SimulationReport
        Times to the first token [s], fetches [s], how busy tier and engines are [1], and what happened when.

    Notes
    -----
    Exact for its model: engines compute one prompt after the other, fetches share the network max-min fairly. Decoding
    is a factor on prefills, writes are a mean rate, and requests come whether or not earlier ones were answered.

    References
    ----------
    `kvplan.core.fleet.run.run_fleet`.
    """
    request, plan = inputs.request, inputs.plan
    way = topology(
        plan, engines=request.engines, placement=request.placement, stream_bytes_per_s=inputs.stream_bytes_per_s
    )
    duration = inputs.duration_s
    jobs = _jobs(inputs, way.engines)
    new_tokens = sum(job.tokens - job.local_tokens - job.tier_tokens for job in jobs)
    writes = new_tokens * plan.kv.stored_bytes_per_token / duration
    changes = sorted(request.fails, key=lambda failure: failure.at_s)
    epochs = (
        epoch(plan, way, "nothing", 0.0, writes),
        *(epoch(plan, way, failure.lost, failure.at_s, writes) for failure in changes),
    )
    fleet = Fleet(way, epochs, plan.kv.loaded_bytes_per_token, inputs.times)
    marks = [duration * place / SPANS for place in range(SPANS + 1)]
    run = run_fleet(jobs, fleet, marks, request.seed)
    return _report(inputs, run, fleet, marks, writes)


def _jobs(inputs: SimulationInputs, engines: int) -> list[Job]:
    """Send everything to engines, the burst included, by arrival."""
    request, plan = inputs.request, inputs.plan
    hit_share = request.hit_share
    if hit_share is None:
        hit_share = plan.constants["guidance.hit_share"].value
    if inputs.block_tokens is None:
        shares = Shares(
            hit_share, request.tier_share, request.reuse_gap_s, request.start == "cold", request.shared_share
        )
        jobs = shared_out(inputs.arrivals, shares, engines, sticky=request.routing == "sticky", seed=request.seed)
    else:
        jobs = replay(inputs.arrivals, _caches(inputs, engines), request.routing, request.seed)
    if request.burst is not None:
        tokens = request.prompt_tokens or plan.request.context_tokens
        jobs += burst(request.burst.requests, request.burst.at_s, tokens, hit_share, engines)
    return sorted(jobs, key=lambda job: job.arrival_s)


def _caches(inputs: SimulationInputs, engines: int) -> Caches:
    """Count the blocks that each engine and the shared tier hold."""
    plan, block_tokens = inputs.plan, inputs.block_tokens or 1
    tier_tokens = plan.profile.usable_bytes / plan.kv.stored_bytes_per_token
    return Caches(
        engines=engines,
        block_tokens=block_tokens,
        local_blocks=local_tokens(inputs) // block_tokens,
        tier_blocks=int(tier_tokens) // block_tokens,
        warm=inputs.request.start == "warm",
    )


def local_tokens(inputs: SimulationInputs) -> int:
    """Return the tokens that each engine caches itself: as asked, else what GPU memory leaves for KV [tokens]."""
    if inputs.request.local_tokens is not None:
        return inputs.request.local_tokens
    each = inputs.plan.kv.accounting.vllm_gpu.bytes_per_token
    return int(inputs.plan.hbm.kv_bytes_per_gpu / each) if each else 0


def _report(
    inputs: SimulationInputs, run: Run, fleet: Fleet, marks: Sequence[float], writes: float
) -> SimulationReport:
    """Sum everything up."""
    duration = marks[-1]
    normal = fleet.epochs[0]
    read = sum(run.fetch_bytes)
    warm, cold = _sides(run, fleet, duration)
    tier_share = read / duration / fleet.way.shared_bytes_per_s(normal)
    return SimulationReport(
        plan_sha256=inputs.plan.sha256,
        source=inputs.source,
        workload=inputs.workload,
        request=inputs.request,
        requests=len(run.jobs),
        duration_s=duration,
        mean_prompt_tokens=sum(job.tokens for job in run.jobs) / len(run.jobs),
        fleet=_shape(inputs, fleet, writes),
        with_tier=warm,
        without_tier=cold,
        mean_speedup=cold.ttft.mean_s / warm.ttft.mean_s,
        fetches=_fetches(run, fleet),
        tier_busy_share=tier_share,
        timeline=timeline(run, marks, fleet),
        notes=(*inputs.notes, *_notes(run, (warm, cold), tier_share)),
    )


def _sides(run: Run, fleet: Fleet, duration: float) -> tuple[Side, Side]:
    """Sum up the fleet with the tier, and the one without it."""
    tokens = sum(job.tokens for job in run.jobs)
    local = sum(job.local_tokens for job in run.jobs)
    far = sum(run.jobs[index].tier_tokens for index in run.fetching if run.from_tier[index])

    def side(served: Served, found: Sequence[bool], cached: int) -> Side:
        held = sum(work(fleet.times, job, from_tier=here)[0] for job, here in zip(run.jobs, found, strict=True))
        return Side(
            ttft=ttft(served.first_token_s),
            cached_share=cached / tokens,
            engine_busy_share=held / (fleet.way.engines * duration),
        )

    nothing = [False] * len(run.jobs)
    return side(run.with_tier, run.from_tier, local + far), side(run.without_tier, nothing, local)


def _fetches(run: Run, fleet: Fleet) -> FetchTimes:
    """Sum up the fetches that arrived."""
    arrived = sorted(time for place, time in enumerate(run.fetch_s) if place not in run.lost)
    read = sum(size for place, size in enumerate(run.fetch_bytes) if place not in run.lost)
    normal = fleet.epochs[0].capacities_bytes_per_s
    alone = min(fleet.way.stream_bytes_per_s, normal[0], fleet.way.shared_bytes_per_s(fleet.epochs[0]))
    count = max(len(arrived), 1)
    return FetchTimes(
        count=len(run.fetching),
        lost=len(run.lost),
        bytes=read,
        alone_s=read / count / alone,
        mean_s=sum(arrived) / count,
        p99_s=quantile(arrived, 0.99) if arrived else 0.0,
    )


def _shape(inputs: SimulationInputs, fleet: Fleet, writes: float) -> FleetShape:
    """Tell what was simulated."""
    prefill, tokens = inputs.times.prefill, inputs.plan.request.context_tokens
    return FleetShape(
        engines=fleet.way.engines,
        tp=inputs.plan.request.tp,
        engines_behind_a_nic=fleet.way.engines_in_group,
        nic_bytes_per_s=fleet.epochs[0].capacities_bytes_per_s[0],
        stream_bytes_per_s=fleet.way.stream_bytes_per_s,
        shared_bytes_per_s=fleet.way.shared_bytes_per_s(fleet.epochs[0]),
        write_bytes_per_s=writes,
        local_tokens=local_tokens(inputs),
        loaded_bytes_per_token=fleet.loaded_bytes_per_token,
        prefill_source=prefill.source,
        prefill_confidence=prefill.confidence,
        cold_tokens_per_s=tokens / cold_seconds(prefill, tokens),
    )


def _notes(run: Run, sides: tuple[Side, Side], tier_share: float) -> tuple[str, ...]:
    """Say what the figures do not say themselves."""
    loads = (
        ("with the tier the engines", sides[0].engine_busy_share),
        ("without the tier the engines", sides[1].engine_busy_share),
        ("the tier", tier_share),
    )
    notes = [
        f"{who} would be {100 * share:.0f} % busy: queues grow as long as requests come, and times with the duration"
        for who, share in loads
        if share >= _LOADED
    ]
    if run.lost:
        notes.append(f"{len(run.lost)} fetches found no tier and were computed instead")
    if sides[0].ttft.mean_s > sides[1].ttft.mean_s:
        notes.append("recomputing is faster than fetching here: the tier makes the mean first token later")
    return tuple(notes)
