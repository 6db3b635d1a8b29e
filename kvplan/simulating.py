"""What a simulation needs beside the Plan, looked up: prefills, the cost of a hit, the rate of an engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from pydantic import ValidationError

from kvplan.catalogue.loader import load_catalogue
from kvplan.catalogue.prefills import prefill_table
from kvplan.core.fleet.arrivals import poisson_arrivals
from kvplan.core.fleet.engines import EngineTimes
from kvplan.core.fleet.jobs import Arrival
from kvplan.core.fleet.served_workload import simulated_workload
from kvplan.core.fleet.simulation import SimulationInputs, simulate_fleet
from kvplan.core.prediction.contention import host_stream_rate
from kvplan.core.prediction.prefill import PrefillModel
from kvplan.core.prediction.prefill_choice import prefill_model
from kvplan.core.prediction.prefill_fallback import PrefillEngine
from kvplan.core.prediction.warm import engine_cost
from kvplan.core.sizing.workload import Served
from kvplan.errors import InputError, Problem, Problems
from kvplan.inputs.validation import problems_of
from kvplan.schema.model import ModelSpec
from kvplan.schema.simulating import SimulationRequest

if TYPE_CHECKING:
    from kvplan.catalogue.loader import Catalogue
    from kvplan.schema.plan import Plan
    from kvplan.schema.simulating import SimulationReport
    from kvplan.schema.workload import Workload
    from kvplan.traces.records import Trace

DURATION_S: Final = 600.0
"""How long requests come when nobody says otherwise [s]."""
_OF_A_TRACE: Final = ("requests_per_s", "prompt_tokens", "prompt_sigma")
"""What every trace says itself."""
MOST_REQUESTS: Final = 5_000_000
"""More would take minutes, and memory in gigabytes."""


class NamedWorkload(NamedTuple):
    """A workload and what it is called."""

    name: str
    workload: Workload


def simulate_plan(
    plan: Plan,
    request: SimulationRequest,
    *,
    trace: Trace | None = None,
    workload: NamedWorkload | None = None,
    catalogue: Catalogue | None = None,
) -> SimulationReport:
    """Simulate the fleet of a Plan, with its shared tier and without it.

    Parameters
    ----------
    plan
        The Plan.
    request
        What comes [1/s, tokens], what is lost when [s], how requests are routed.
    trace
        Requests to replay; None lets them come at random.
    workload
        Says what the request does not set; the one that the Plan was sized for when absent.
    catalogue
        Tables to use; the built-in ones when absent.

    Returns
    -------
    SimulationReport
        Times to the first token [s], fetches [s], and what happened when.

    Raises
    ------
    InputError
        With everything that the request lacks, or when no request comes.

    Examples
    --------
    >>> from kvplan.reference import PLAN
    >>> from kvplan.schema.simulating import SimulationRequest
    >>> asked = SimulationRequest(requests_per_s=0.5, prompt_tokens=57_000, hit_share=0.95, start="warm")
    >>> report = simulate_plan(PLAN, asked)
    >>> round(report.with_tier.ttft.p50_s, 2), round(report.without_tier.ttft.p50_s, 2)
    (0.7, 5.04)
    """
    return simulate_fleet(simulation_inputs(plan, request, trace, catalogue or load_catalogue(), workload))


def simulation_inputs(
    plan: Plan,
    request: SimulationRequest,
    trace: Trace | None,
    catalogue: Catalogue,
    workload: NamedWorkload | None = None,
) -> SimulationInputs:
    """Look up what a simulation needs.

    Parameters
    ----------
    plan
        The Plan.
    request
        What is asked.
    trace
        Requests to replay; None lets them come at random.
    catalogue
        Tables.
    workload
        Says what the request does not set; the one that the Plan was sized for when absent.

    Returns
    -------
    SimulationInputs
        What is simulated.

    Raises
    ------
    InputError
        With everything that the request lacks, that contradicts the trace, or that nothing is known of.
    """
    problems = Problems()
    if workload is None and plan.workload is not None:
        workload = NamedWorkload(plan.workload.name, plan.workload.given)
    problems.found.extend(_contradictions(request, trace, workload))
    with problems.kept():
        prefill = _prefill(plan, request, catalogue)
    problems.raise_any()
    if workload is not None:
        request = _filled(plan, request, trace, workload, prefill)
    backend = catalogue.backend(plan.request.cache_backend)
    constants = catalogue.constants()
    arrivals, duration = _traced(request, trace) if trace is not None else _random(plan, request)
    if not arrivals and request.burst is None:
        what = f"no request comes within {duration:g} s"
        raise InputError.single(where="--duration", what=what, allowed="a longer time, or more requests a second")
    known = trace is not None and trace.block_tokens is not None
    return SimulationInputs(
        plan=plan,
        request=request,
        times=EngineTimes(prefill, engine_cost(backend, constants), constants["simulate.decode_interference"].value),
        stream_bytes_per_s=request.stream_bytes_per_s
        or host_stream_rate(plan.buys.engine_read_bytes_per_s, backend, plan.request.tp, constants),
        arrivals=arrivals,
        duration_s=duration,
        block_tokens=trace.block_tokens if trace is not None else None,
        source=f"trace {trace.name}" if trace is not None else "requests at random",
        workload=workload.name if workload is not None else None,
        notes=() if known or trace is None else trace.unknown,
    )


def _filled(
    plan: Plan, request: SimulationRequest, trace: Trace | None, workload: NamedWorkload, prefill: PrefillModel
) -> SimulationRequest:
    """Let a workload say what the request does not set, and a trace not say itself."""
    given = {field: getattr(request, field) for field in request.model_fields_set}
    tp = plan.request.tp
    served = Served(prefill, tp, plan.kv.stored_bytes_per_token, plan.kv.loaded_bytes_per_token)
    gpus = request.engines * tp if request.engines else plan.request.gpus
    said = simulated_workload(workload.workload, served, gpus, tier_share_given="tier_share" in given)
    for field in _OF_A_TRACE if trace is not None else ():
        del said[field]
    if trace is not None and trace.block_tokens is not None and request.burst is None:
        del said["hit_share"]
    try:
        return SimulationRequest(**(said | given))
    except ValidationError as error:
        raise InputError(problems_of(error, lambda loc: f"workload {workload.name}: {loc[0]}")) from error


def _contradictions(request: SimulationRequest, trace: Trace | None, workload: NamedWorkload | None) -> list[Problem]:
    """Find what is missing, and what a trace says itself."""
    if trace is None:
        if request.requests_per_s is None and workload is None:
            what = "neither a trace nor a rate says how many requests come"
            allowed = "requests a second, such as 20; or --workload NAME, or --trace FILE"
            return [Problem("--rate", what, allowed=allowed)]
        said = {"--speed": request.speed != 1.0}
        return [
            Problem(option, "is for a trace only", allowed="--rate alone") for option, is_set in said.items() if is_set
        ]
    said = {"--rate": request.requests_per_s is not None, "--spread": bool(request.prompt_sigma)}
    if trace.block_tokens is not None:
        said["--hit-share"] = request.hit_share is not None and request.burst is None
    found = [
        Problem(name, "contradicts the trace, which says it itself", hint=f"leave {name} out")
        for name, is_set in said.items()
        if is_set
    ]
    if not trace.timed:
        found.append(
            Problem("--trace", f"{trace.name} does not say when requests come", allowed="a trace with arrivals")
        )
    return found


def _random(plan: Plan, request: SimulationRequest) -> tuple[tuple[Arrival, ...], float]:
    """Let requests come at random, and say for how long [s]."""
    duration, rate = request.duration_s or DURATION_S, request.requests_per_s or 0.0
    if rate * duration > MOST_REQUESTS:
        what = f"{rate * duration:,.0f} requests come within {duration:g} s"
        raise InputError.single(where="--rate", what=what, allowed=f"{MOST_REQUESTS:,} at most")
    tokens = request.prompt_tokens or plan.request.context_tokens
    return poisson_arrivals(rate, duration, tokens, request.prompt_sigma, request.seed), duration


def _traced(request: SimulationRequest, trace: Trace) -> tuple[tuple[Arrival, ...], float]:
    """Take the requests of a trace that have a prompt, and say for how long they come [s]."""
    asked = [one for one in trace.requests if one.input_tokens]
    # The last request counts too, so that the time ends a little behind it.
    ends = asked[-1].time_s / request.speed * (1 + 1 / len(asked)) if asked else 0.0
    duration = request.duration_s or max(ends, 1.0)
    arrivals = (Arrival(one.time_s / request.speed, one.input_tokens, one.blocks or ()) for one in asked)
    return tuple(arrival for arrival in arrivals if arrival.time_s < duration), duration


def _prefill(plan: Plan, request: SimulationRequest, catalogue: Catalogue) -> PrefillModel:
    """Return how long an engine computes: as given, else by the table of prefills."""
    table = prefill_table(catalogue)
    derate = request.derate or table.constants["prefill.derate"].value
    given = request.prefill
    if given is not None:
        units = given.c0_ms * 1e-3, given.a_us_per_token * 1e-6, given.b_ns_per_token2 * 1e-9
        return PrefillModel(*units, derate, "assumed", "--prefill")
    spec = _spec(plan, catalogue)
    engine = PrefillEngine(
        spec=spec,
        params_total=plan.model.params_total,
        params_active=plan.model.params_active,
        weights=spec.weights_dtype,
        gpu=catalogue.gpu(plan.request.gpu),
        tp=plan.request.tp,
    )
    found = prefill_model(table, engine, derate=request.derate)
    if found is None:
        what = f"nobody knows how long {plan.model.id} computes a prompt on {plan.request.gpu}"
        allowed = "c0 [ms], a [us/token], b [ns/token^2], such as 36,17.3,0.313"
        raise InputError.single(where="--prefill", what=what, allowed=allowed)
    return found


def _spec(plan: Plan, catalogue: Catalogue) -> ModelSpec:
    """Return the model's row; of one that has none what the Plan knows, to which attention heads do not belong."""
    if plan.model.id in catalogue.ids("models"):
        return catalogue.model(plan.model.id)
    return ModelSpec(
        id=plan.model.id,
        model_type=plan.model.model_type,
        groups=plan.model.groups,
        params_total=plan.model.params_total,
        params_active=plan.model.params_active,
        weights_bytes=plan.model.weights_bytes,
        source=plan.model.source,
        confidence=plan.model.confidence,
    )
