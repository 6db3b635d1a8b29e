"""Findings about the request: gaps of the guidance, rule against physics, memory that suffices, short contexts."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from kvplan.core.sizing.candidates import broken, physical_choice
from kvplan.core.sizing.guidance import AXES, MODEL_AXIS, guidance_gaps
from kvplan.schema.model import CrossAttention
from kvplan.schema.plan import PlanWarning
from kvplan.units import format_bytes, format_duration, format_percent, format_rate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.core.sizing.outcome import Outcome

GUIDANCE = "IBM Redbook MD260021, sizing guidance"


def _gaps(outcome: Outcome) -> Iterator[PlanWarning]:
    """Say where the guidance is silent and was closed upward."""
    inputs = outcome.inputs
    profiles = [parts.profile for parts in inputs.profiles]
    for text in guidance_gaps(profiles, inputs.request.gpus, inputs.model.params_class):
        yield PlanWarning(id="guidance-gap", severity="info", text=text, source=GUIDANCE)


def _rule_oversizes(outcome: Outcome) -> Iterator[PlanWarning]:
    """Say so when bandwidth, capacity and tolerance are met by a smaller tier than the guidance's axes ask for."""
    share = outcome.inputs.constant("guidance.planned_read_share")
    index = physical_choice(outcome.limits, share)
    if index is None or outcome.tiers[index].nodes >= outcome.chosen.nodes or outcome.chosen.forced:
        return
    smaller = outcome.tiers[index]
    axes = [limit for limit in broken(outcome.limits[index]) if limit.name in AXES]
    named = " and ".join(limit.title for limit in axes)
    text = (
        f"by {named} the guidance asks for {outcome.chosen.name}; bandwidth and capacity are met by "
        f"{smaller.name} ({smaller.nodes} nodes read {format_rate(smaller.rates.read_bytes_per_s)}, "
        f"{format_percent(share, 0)} of it covers the {format_rate(outcome.demand.read_bytes_per_s)} asked, and hold "
        f"{smaller.geometry.usable_bytes // outcome.kv.context_stored_bytes:,} contexts)"
    )
    if any(limit.name == MODEL_AXIS for limit in axes):
        text += f"; a token of this model is {outcome.kv.stored_bytes_per_token:,.0f} B in the tier"
    yield PlanWarning(id="rule-oversizes", severity="warning", text=text, source=f"{GUIDANCE}, against computed rates")


def _rule_undersizes(outcome: Outcome) -> Iterator[PlanWarning]:
    """Say so when the guidance plans read bandwidth that should stay in reserve."""
    share = outcome.inputs.constant("guidance.planned_read_share")
    need, have = outcome.demand.read_bytes_per_s, outcome.chosen.rates.read_bytes_per_s
    if have * share < need <= have:
        nodes = ceil(need / share / (have / outcome.chosen.nodes))
        text = (
            f"the {format_rate(need)} asked are {format_percent(need / have, 0)} of what {outcome.chosen.name} reads; "
            f"with {format_percent(1 - share, 0)} kept for writes, bursts and rebuild it would take {nodes} nodes"
        )
        source = f"{GUIDANCE}, against {outcome.inputs.constants['guidance.planned_read_share'].source}"
        yield PlanWarning(id="rule-undersizes", severity="warning", text=text, source=source)


def _slow_hits(outcome: Outcome) -> Iterator[PlanWarning]:
    """Say so when the guidance's rate returns a whole context to an engine only every few seconds."""
    inputs = outcome.inputs
    per_gpu = inputs.constant("guidance.read_bytes_per_s_per_gpu")
    hits = per_gpu * outcome.setup.tp / outcome.kv.context_loaded_bytes
    if hits < inputs.constant("guidance.low_hits_per_s_per_engine"):
        text = (
            f"the guidance's {format_rate(per_gpu)} per GPU is {hits:.2f} hits per second and "
            f"engine: one whole context of {inputs.request.context_tokens:,} tokens is "
            f"{format_bytes(outcome.kv.context_loaded_bytes)} and takes {1 / hits:.1f} s of an engine's share"
        )
        yield PlanWarning(id="slow-hits", severity="warning", text=text, source=f"{GUIDANCE}, against KV bytes")


def _memory_suffices(outcome: Outcome) -> Iterator[PlanWarning]:
    """Say so when GPU memory holds the contexts in flight, so that a tier pays only for reuse."""
    if not outcome.hbm.needs_shared_tier:
        text = (
            f"GPU memory holds {outcome.hbm.contexts_that_fit:,} whole contexts per engine, "
            f"{outcome.concurrency} are in flight: a shared tier does not pay off for capacity here, only for prefixes "
            "reused across engines or restarts"
        )
        yield PlanWarning(id="memory-suffices", severity="warning", text=text, source="computed from GPU memory")


def _weights_too_large(outcome: Outcome) -> Iterator[PlanWarning]:
    """Say so when an engine of the fleet cannot hold the weights and one context."""
    if outcome.hbm.contexts_that_fit == 0:
        text = (
            f"{outcome.setup.tp} x {outcome.inputs.gpu.id} do not hold the weights "
            f"({format_bytes(outcome.inputs.model.weights_bytes)}) and one context of "
            f"{outcome.inputs.request.context_tokens:,} tokens: this fleet cannot serve the request as it stands"
        )
        yield PlanWarning(id="engine-too-small", severity="error", text=text, source="computed from GPU memory")


def _short_context(outcome: Outcome) -> Iterator[PlanWarning]:
    """Say so when computing such a short context is faster than fetching it."""
    predicted, asked = outcome.performance, outcome.inputs.request.context_tokens
    least = predicted.break_even_tokens
    if predicted.prefill is None or (least is not None and asked >= least):
        return
    which = "contexts" if least is None else f"contexts below about {least:,.0f} tokens"
    text = f"{which} are computed faster than fetched (predicted): a shared tier does not pay off for this length"
    yield PlanWarning(id="short-context", severity="warning", text=text, source=predicted.prefill.source)


def _storm_slower(outcome: Outcome) -> Iterator[PlanWarning]:
    """Say so when the whole fleet at once is served later than it would have computed."""
    predicted = outcome.performance
    if predicted.cold_ttft_s is not None and predicted.storm_s > predicted.cold_ttft_s:
        text = (
            f"when every engine asks at once the tier takes {format_duration(predicted.storm_s)}, computing "
            f"{format_duration(predicted.cold_ttft_s)}: beyond {predicted.break_even_gpus or 0:,.0f} GPUs at once an "
            "engine does better to compute"
        )
        yield PlanWarning(id="storm-slower", severity="warning", text=text, source="predicted; see performance.storm_s")


def _beyond_maximum(outcome: Outcome) -> Iterator[PlanWarning]:
    """Say so when the context exceeds what the model accepts."""
    maximum = outcome.inputs.model.spec.max_position_tokens
    if maximum is not None and outcome.inputs.request.context_tokens > maximum:
        text = (
            f"{outcome.inputs.request.context_tokens:,} tokens exceed the model's maximum of {maximum:,}; "
            "counted all the same because --beyond-max was given"
        )
        yield PlanWarning(id="beyond-max", severity="warning", text=text, source=outcome.inputs.model.spec.source)


def _uneven_heads(outcome: Outcome) -> Iterator[PlanWarning]:
    """Say so when the attention heads do not divide over the ranks, which vLLM refuses."""
    heads, tp = outcome.inputs.model.spec.attention_heads, outcome.setup.tp
    if heads and heads % tp:
        text = f"{heads} attention heads do not divide over TP {tp}: vLLM does not start so"
        yield PlanWarning(id="uneven-heads", severity="error", text=text, source="vLLM, tensor parallelism")


def _unknown_source(outcome: Outcome) -> Iterator[PlanWarning]:
    """Say so when cross-attention is counted without a source."""
    groups = outcome.inputs.model.spec.groups
    if any(isinstance(group, CrossAttention) and not group.source_tokens for group in groups):
        text = "cross-attention layers are counted with 0 source tokens: the model's row or file names no length"
        yield PlanWarning(id="unknown-source", severity="warning", text=text, source=outcome.inputs.model.spec.source)


def _idle_gpus(outcome: Outcome) -> Iterator[PlanWarning]:
    """Say so when the fleet is not a multiple of an engine's GPUs."""
    idle = outcome.inputs.request.gpus % outcome.setup.tp
    if idle:
        text = f"{idle} of {outcome.inputs.request.gpus} GPUs are left over by engines of {outcome.setup.tp}"
        yield PlanWarning(id="idle-gpus", severity="info", text=text, source="computed")


def _by_guidance(outcome: Outcome) -> Iterator[PlanWarning]:
    """Collect what is to be said where the published guidance chose the tier."""
    if outcome.workload is None:
        for finding in (_rule_oversizes, _rule_undersizes, _slow_hits, _gaps):
            yield from finding(outcome)


def _by_workload(outcome: Outcome) -> Iterator[PlanWarning]:
    """Say what would make a smaller tier do where this one is larger than any that was published."""
    planned, tier = outcome.workload, outcome.chosen
    if planned is None:
        return
    largest = max(parts.profile.nodes.start for parts in outcome.inputs.profiles)
    if tier.nodes > largest:
        text = (
            f"{largest} nodes are not enough for this workload, {tier.nodes} are chosen: {planned.largest_relief.text}"
        )
        yield PlanWarning(id="beyond-published", severity="warning", text=text, source="predicted; see workload.relief")


FINDINGS = (
    _weights_too_large,
    _by_guidance,
    _by_workload,
    _memory_suffices,
    _short_context,
    _storm_slower,
    _beyond_maximum,
    _uneven_heads,
    _unknown_source,
    _idle_gpus,
)
