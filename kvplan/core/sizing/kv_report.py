"""The KV calculator on its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kvplan.core.kv.external import external_accounting
from kvplan.core.kv.vllm_log import predict_log
from kvplan.core.sizing.hbm import Fleet, MemoryBudget, hbm_check
from kvplan.core.sizing.kv import accountings
from kvplan.core.sizing.setup import MAX_TP, Setup, fewest_gpus, holds_one_context, setup_of
from kvplan.core.sizing.versions import mismatches
from kvplan.schema.reports import KvReport

if TYPE_CHECKING:
    from kvplan.core.kv.vllm import VllmSetup
    from kvplan.core.sizing.inputs import ModelFacts, Stack
    from kvplan.schema.hardware import Gpu
    from kvplan.schema.kv import VllmLog
    from kvplan.schema.model import ModelSpec
    from kvplan.schema.plan import PlanHbm
    from kvplan.schema.reports import KvRequest


@dataclass(frozen=True, slots=True)
class KvInputs:
    """A calculator request with its names replaced by rows; parameter counts only where a GPU was named."""

    request: KvRequest
    spec: ModelSpec
    facts: ModelFacts | None
    stack: Stack
    gpu: Gpu | None
    overhead_bytes: int


def kv_report(inputs: KvInputs) -> KvReport:
    """Count a context three ways and say what GPU memory holds and what vLLM prints.

    Parameters
    ----------
    inputs
        The request and the rows it names.

    Returns
    -------
    KvReport
        Accountings [B], the GPU memory check where a GPU is named, vLLM's log lines where memory is given.

    Examples
    --------
    >>> from kvplan import load_catalogue
    >>> from kvplan.resolve import resolve_kv
    >>> from kvplan.schema.reports import KvRequest
    >>> request = KvRequest(model="gpt-oss-120b", context_tokens=130_000, concurrency=28)
    >>> kv_report(resolve_kv(request, load_catalogue())).volume_bytes / 1e9
    268.4

    References
    ----------
    The three accountings and their sources are documented in `kvplan.core.kv`.
    """
    request, groups = inputs.request, inputs.spec.groups
    setup = _setup(inputs)
    engine = _engine(request, setup)
    external = external_accounting(groups, request.kv_dtype, request.context_tokens, setup.external)
    accounting = accountings(groups, request.kv_dtype, request.context_tokens, engine, external)
    return KvReport(
        model=inputs.spec.id,
        model_source=f"{inputs.spec.source} ({inputs.spec.confidence})",
        context_tokens=request.context_tokens,
        concurrency=request.concurrency,
        tp=setup.tp,
        kv_dtype=request.kv_dtype,
        software=inputs.stack.software.id,
        cache_backend=inputs.stack.backend.id,
        chunk_tokens=setup.chunk_tokens,
        checkpoint_tokens=setup.checkpoint_tokens,
        vllm_version=engine.version,
        accounting=accounting,
        loaded_bytes_per_token=external.loaded_bytes_per_token,
        context_loaded_bytes=external.context_loaded_bytes,
        volume_bytes=request.concurrency * external.accounting.context_bytes,
        gpu=inputs.gpu.id if inputs.gpu else None,
        hbm=_memory(inputs, setup.tp, accounting.vllm_gpu.context_bytes),
        vllm_log=_log(inputs, engine),
        notes=(*external.notes, *_notes(inputs, setup)),
    )


def _engine(request: KvRequest, setup: Setup) -> VllmSetup:
    """Return the engine's setup beside its cache back end."""
    return replace(setup.vllm, max_batched_tokens=request.max_batched_tokens)


def _setup(inputs: KvInputs) -> Setup:
    """Fill in the defaults; without `--tp` the fewest GPUs, in powers of two, that hold weights and one context."""
    request = inputs.request
    if request.tp is not None or inputs.gpu is None or inputs.facts is None:
        return setup_of(request, inputs.stack, request.tp or 1, inputs.spec.groups)
    facts, budget = inputs.facts, _budget(inputs, inputs.gpu)

    def with_gpus(tp: int) -> Setup:
        return setup_of(request, inputs.stack, tp, facts.spec.groups)

    return with_gpus(
        fewest_gpus(MAX_TP, lambda tp: holds_one_context(facts, request, budget, _engine(request, with_gpus(tp))))
    )


def _budget(inputs: KvInputs, gpu: Gpu) -> MemoryBudget:
    """Return the memory of one GPU."""
    return MemoryBudget(gpu.memory_bytes, inputs.request.gpu_memory_utilisation, inputs.overhead_bytes)


def _memory(inputs: KvInputs, tp: int, context_bytes_per_gpu: int) -> PlanHbm | None:
    """Check GPU memory where a GPU is named."""
    if inputs.gpu is None or inputs.facts is None:
        return None
    fleet = Fleet(tp, tp, inputs.request.concurrency)
    return hbm_check(_budget(inputs, inputs.gpu), fleet, inputs.facts.weights_bytes, context_bytes_per_gpu)


def _log(inputs: KvInputs, engine: VllmSetup) -> VllmLog | None:
    """Predict vLLM's log lines where the available memory is given.

    A version given by hand stands for a plain engine, without a KV connector, as published logs come from.
    """
    request = inputs.request
    if request.available_bytes is None:
        return None
    if request.vllm_version is not None:
        engine = replace(engine, hybrid_manager=request.hybrid_manager)
    longest = request.max_model_len or request.context_tokens
    return predict_log(inputs.spec.groups, request.kv_dtype, request.available_bytes, longest, engine)


def _notes(inputs: KvInputs, setup: Setup) -> tuple[str, ...]:
    """Say what the numbers alone do not: versions and heads that do not fit, and how the log differs."""
    request, backend = inputs.request, setup.stack.backend
    notes = list(mismatches(setup.stack.software, backend))
    if inputs.spec.attention_heads % setup.tp:
        notes.append(f"{inputs.spec.attention_heads} attention heads do not divide over TP {setup.tp}: vLLM refuses it")
    if request.available_bytes is not None and request.vllm_version is not None:
        notes.append("the log lines are those of an engine without a KV connector; the accountings count one with it")
    return (*notes, *((inputs.spec.note,) if inputs.spec.note else ()))
