"""What a simulation needs beside the Plan, looked up: prefills, the cost of a hit, the rate of an engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.catalogue.prefills import prefill_table
from kvplan.core.fleet.engines import EngineTimes
from kvplan.core.fleet.jobs import Arrival
from kvplan.core.fleet.simulation import SimulationInputs
from kvplan.core.prediction.contention import data_path, stream_rate
from kvplan.core.prediction.prefill import PrefillModel
from kvplan.core.prediction.prefill_choice import prefill_model
from kvplan.core.prediction.prefill_fallback import PrefillEngine
from kvplan.core.prediction.warm import EngineCost
from kvplan.errors import InputError, Problem, Problems
from kvplan.schema.model import ModelSpec

if TYPE_CHECKING:
    from kvplan.catalogue.loader import Catalogue
    from kvplan.schema.plan import Plan
    from kvplan.schema.simulating import SimulationRequest
    from kvplan.schema.software import CacheBackend
    from kvplan.traces.records import Trace


def simulation_inputs(
    plan: Plan, request: SimulationRequest, trace: Trace | None, catalogue: Catalogue
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
    problems.found.extend(_contradictions(request, trace))
    with problems.kept():
        prefill = _prefill(plan, request, catalogue)
    problems.raise_any()
    backend = catalogue.backend(plan.request.cache_backend)
    constants = catalogue.constants()
    steps = backend.load_steps.steps if backend.load_steps else 0
    hit = EngineCost(
        constants["warm.first_s"].value, constants["warm.token_s"].value, constants["warm.step_s"].value, steps
    )
    known = trace is not None and trace.block_tokens is not None
    return SimulationInputs(
        plan=plan,
        request=request,
        times=EngineTimes(prefill, hit, constants["simulate.decode_interference"].value),
        stream_bytes_per_s=request.stream_bytes_per_s or _stream(plan, backend, catalogue),
        arrivals=_arrivals(trace) if trace is not None else None,
        block_tokens=trace.block_tokens if trace is not None else None,
        source=f"trace {trace.name}" if trace is not None else "requests at random",
        notes=() if known or trace is None else trace.unknown,
    )


def _contradictions(request: SimulationRequest, trace: Trace | None) -> list[Problem]:
    """Find what is missing, and what a trace says itself."""
    if trace is None:
        if request.requests_per_s is None:
            what = "neither a trace nor a rate says how many requests come"
            return [Problem("--rate", what, allowed="requests a second, such as 20; or --trace FILE")]
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


def _arrivals(trace: Trace) -> tuple[Arrival, ...]:
    """Take the requests of a trace that have a prompt."""
    return tuple(
        Arrival(request.time_s, request.input_tokens, request.blocks or ())
        for request in trace.requests
        if request.input_tokens
    )


def _stream(plan: Plan, backend: CacheBackend, catalogue: Catalogue) -> float:
    """Return the most that one engine reads with its back end [B/s]; nobody promises GPUDirect, so through the host."""
    bounce = catalogue.constants()["tier.bounce_bytes_per_s"].value * plan.request.tp
    path = data_path(backend, gpudirect=False)
    return stream_rate(plan.buys.engine_read_bytes_per_s, backend, path, bounce)


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
