"""Explanations that depend on the request: named limits and stages, and the rows that values were taken from."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from kvplan.core.derivation import static_derivations
from kvplan.core.sizing.explained_stages import STAGE_DERIVATIONS
from kvplan.core.sizing.explained_workload import workload_derivations
from kvplan.schema.plan import Derivation, Plan

if TYPE_CHECKING:
    from kvplan.core.sizing.outcome import Outcome
    from kvplan.schema.base import Confidence

GUIDANCE_RANGE = "upper end of the published range; where that is open, the need itself"


def derivation_table(outcome: Outcome) -> dict[str, Derivation]:
    """Join the explanations in the field annotations with those that name this request's own sources.

    Parameters
    ----------
    outcome
        Everything that the engine computed.

    Returns
    -------
    dict of Derivation
        Explanations by path, list elements left open as in `candidates[].nodes`.

    Examples
    --------
    >>> "profile.usable_bytes" in static_derivations(Plan)
    True

    References
    ----------
    The sources stand in each entry; units are those of the fields, such as [B] or [B/s].
    """
    return {
        **static_derivations(Plan),
        **STAGE_DERIVATIONS,
        **_NAMED_LIMITS,
        **_from_rows(outcome),
        **_prefill(outcome),
        **_accountings(outcome),
        **workload_derivations(outcome),
    }


@lru_cache(maxsize=1024)
def _entry(formula: str, unit: str, *inputs: str, source: str = "", confidence: Confidence = "derived") -> Derivation:
    """Build one entry."""
    return Derivation(formula=formula, unit=unit, inputs=inputs, source=source, confidence=confidence)


_NAMED_LIMITS = {
    "candidates[].limits[gpus].need": _entry("request.gpus", "GPUs", "request.gpus"),
    "candidates[].limits[gpus].have": _entry(GUIDANCE_RANGE, "GPUs", source="IBM Redbook MD260021"),
    "candidates[].limits[model_parameters].need": _entry("model.params_class", "parameters", "model.params_class"),
    "candidates[].limits[model_parameters].have": _entry(GUIDANCE_RANGE, "parameters", source="IBM Redbook MD260021"),
    "candidates[].limits[read_bandwidth].need": _entry("read demand", "B/s", "demand.read_bytes_per_s"),
    "candidates[].limits[read_bandwidth].have": _entry("the candidate's read rate", "B/s"),
    "candidates[].limits[capacity].need": _entry("capacity demand", "B", "demand.capacity_bytes"),
    "candidates[].limits[capacity].have": _entry("the candidate's usable bytes", "B"),
}


def _from_rows(outcome: Outcome) -> dict[str, Derivation]:
    """Explain values taken as they are from catalogue rows or from the model's configuration."""
    inputs, drive = outcome.inputs, outcome.chosen.parts.drive
    model, spec = inputs.model, inputs.model.spec
    return {
        "hbm.gpu_memory_bytes": _entry(
            f"memory of {inputs.gpu.id}", "B", source=inputs.gpu.source, confidence=inputs.gpu.confidence
        ),
        "hbm.overhead_bytes_per_gpu": _entry(
            "activations, graphs and what loading adds to the weights",
            "B",
            "constants.hbm.overhead_bytes",
            confidence="assumed",
        ),
        "profile.drive_bytes": _entry(f"size of {drive.id}", "B", source=drive.source, confidence=drive.confidence),
        "profile.endurance.rated_drive_writes_per_day": _entry(
            f"rating of {drive.id}", "1/day", source=drive.source, confidence=drive.confidence
        ),
        "model.groups": _entry(
            "layer groups as the model's configuration gives them",
            "layers, heads, elements, tokens",
            source=spec.source,
            confidence=spec.confidence,
        ),
        "model.params_total": _entry(
            "all parameters", "count", source=model.params_source, confidence=model.params_confidence
        ),
        "model.params_active": _entry(
            "parameters used for one token", "count", source=model.params_source, confidence=model.params_confidence
        ),
        "model.weights_bytes": _entry(
            model.weights_source, "B", "model.params_total", source=spec.source, confidence=model.params_confidence
        ),
    }


def _prefill(outcome: Outcome) -> dict[str, Derivation]:
    """Explain the coefficients of a cold prefill by where they were taken from."""
    found = outcome.performance.prefill
    if found is None:
        return {}
    units = {"c0_s": "s", "a_s_per_token": "s/token", "b_s_per_token2": "s/token2"}
    return {
        f"performance.prefill.{name}": _entry(
            "of T(n) = derate x (c0 + a n + b n^2)", unit, source=found.source, confidence=found.confidence
        )
        for name, unit in units.items()
    }


def _accountings(outcome: Outcome) -> dict[str, Derivation]:
    """Explain each accounting by its own substituted sum."""
    entries: dict[str, Derivation] = {}
    inputs = {
        "minimal": ("request.context_tokens",),
        "vllm_gpu": ("request.context_tokens", "request.tp", "request.block_tokens"),
        "external_tier": ("request.context_tokens", "request.tp", "request.chunk_tokens", "request.checkpoint_tokens"),
    }
    for name, fields in inputs.items():
        accounting = getattr(outcome.kv.accounting, name)
        formula = "; ".join(accounting.formula)
        source = f"{accounting.rule}; {outcome.inputs.model.spec.source}"
        for field, unit in (("bytes_per_token", "B/token"), ("fixed_bytes", "B"), ("context_bytes", "B")):
            entries[f"kv.accounting.{name}.{field}"] = _entry(formula, unit, *fields, source=source)
    return entries
