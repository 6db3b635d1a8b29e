"""Findings about the cache back end: what it shares, keeps, evicts, and how it treats this model's layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.kv.widths import state_bytes
from kvplan.core.sizing.inputs import PARAMS_FROM_NAME
from kvplan.core.sizing.versions import outside
from kvplan.schema.model import Recurrent
from kvplan.schema.plan import PlanWarning
from kvplan.units import format_binary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.core.sizing.outcome import Outcome


def _private_files(outcome: Outcome) -> Iterator[PlanWarning]:
    """Say so when engines cannot read each other's blocks."""
    backend = outcome.setup.stack.backend
    if not backend.shared_between_engines:
        text = f"{backend.id} keeps one private file per worker: nothing is shared between engines"
        text += "" if backend.survives_restart else ", nothing survives a restart"
        yield PlanWarning(id="backend-private", severity="warning", text=text, source=backend.source)


def _unreleased(outcome: Outcome) -> Iterator[PlanWarning]:
    """Say so when the back end is in no release."""
    backend = outcome.setup.stack.backend
    if not backend.released:
        text = f"{backend.id} is in no released package; it needs an image supplied by NVIDIA or built from a branch"
        yield PlanWarning(id="backend-unreleased", severity="warning", text=text, source=backend.source)


def _no_eviction(outcome: Outcome) -> Iterator[PlanWarning]:
    """Say so when nobody deletes old blocks."""
    backend = outcome.setup.stack.backend
    if backend.eviction == "none":
        text = f"{backend.id} never deletes a block: an evictor (Storage Scale ILM policy) must be deployed with it"
        yield PlanWarning(id="backend-no-eviction", severity="info", text=text, source=backend.source)


def _version_mismatch(outcome: Outcome) -> Iterator[PlanWarning]:
    """Say so when the back end does not work with the software set's versions."""
    software, backend = outcome.setup.stack.software, outcome.setup.stack.backend
    for name, version, allowed in (
        ("Dynamo", software.dynamo, backend.dynamo),
        ("vLLM", software.vllm, backend.vllm),
    ):
        reason = outside(version, allowed.first, allowed.last)
        if reason:
            text = f"{backend.id} needs {name} {reason}; software set '{software.id}' has {version}"
            yield PlanWarning(id="backend-version", severity="warning", text=text, source=backend.source)


def _hybrid_manager_off(outcome: Outcome) -> Iterator[PlanWarning]:
    """Say so when the hybrid manager was asked for and stays off."""
    setup = outcome.setup
    if outcome.inputs.request.hybrid_manager and not setup.hybrid_manager:
        software, backend = setup.stack.software, setup.stack.backend
        text = f"the hybrid manager stays off: {backend.id} does not work with it on vLLM {software.vllm}"
        yield PlanWarning(id="hybrid-manager-off", severity="warning", text=text, source=backend.source)


def _windows_in_full(outcome: Outcome) -> Iterator[PlanWarning]:
    """Say so when window layers are stored in full."""
    stored = outcome.kv.context_stored_bytes
    minimal = outcome.kv.accounting.minimal.context_bytes
    kinds = {group.kind for group in outcome.inputs.model.spec.groups}
    if kinds & {"sliding", "chunked"} and stored > 1.1 * minimal:
        text = (
            f"window layers are stored in full: {stored / minimal:.2f} times the minimal accounting "
            f"({outcome.setup.stack.backend.id}, hybrid manager {'on' if outcome.setup.hybrid_manager else 'off'})"
        )
        yield PlanWarning(
            id="windows-in-full", severity="warning", text=text, source=outcome.setup.stack.backend.source
        )


def _latent_copies(outcome: Outcome) -> Iterator[PlanWarning]:
    """Say so when every rank of an engine stores its own copy of the same latent vectors."""
    backend, tp = outcome.setup.stack.backend, outcome.setup.tp
    kinds = {group.kind for group in outcome.inputs.model.spec.groups}
    if tp > 1 and backend.latent_copies == "every-rank" and kinds & {"latent", "compressed"}:
        text = (
            f"{backend.id} lets each of the {tp} ranks store its own copy of the same latent vectors: {tp} times the "
            "bytes; the lmcache back ends store them once"
        )
        yield PlanWarning(id="latent-copies", severity="warning", text=text, source=backend.source)


def _recurrent_state(outcome: Outcome) -> Iterator[PlanWarning]:
    """Say what recurrent layers mean for a prefix store."""
    recurrent = [group for group in outcome.inputs.model.spec.groups if isinstance(group, Recurrent)]
    if not recurrent:
        return
    backend = outcome.setup.stack.backend
    state = sum(group.layers * state_bytes(group) for group in recurrent)
    per_token = state / outcome.setup.checkpoint_tokens
    text = (
        f"recurrent layers keep {format_binary(state)} of state; one checkpoint every "
        f"{outcome.setup.checkpoint_tokens:,} tokens adds {per_token:,.0f} B to each stored token"
    )
    severity = "warning" if per_token > outcome.kv.accounting.minimal.bytes_per_token else "info"
    yield PlanWarning(id="recurrent-state", severity=severity, text=text, source="computed: slope + state / spacing")
    if not backend.stores_recurrent_state or not outcome.setup.hybrid_manager:
        text = (
            f"{backend.id} {'does not store recurrent state' if not backend.stores_recurrent_state else 'runs here'}"
            f"{'' if not backend.stores_recurrent_state else ' without the hybrid manager'}: restored prefixes of this "
            "model would be wrong or refused"
        )
        yield PlanWarning(id="recurrent-unsupported", severity="error", text=text, source=backend.source)


def _params_from_name(outcome: Outcome) -> Iterator[PlanWarning]:
    """Say so when the parameter count was read from the model's name."""
    model = outcome.inputs.model
    if model.params_source.startswith(PARAMS_FROM_NAME):
        text = f"{model.params_total / 1e9:,.0f}B parameters are {model.params_source}; confirm with --params"
        yield PlanWarning(id="params-from-name", severity="info", text=text, source=model.params_source)


FINDINGS = (
    _recurrent_state,
    _private_files,
    _unreleased,
    _version_mismatch,
    _hybrid_manager_off,
    _windows_in_full,
    _latent_copies,
    _no_eviction,
    _params_from_name,
)
