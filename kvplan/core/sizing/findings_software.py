"""Findings about the cache back end: what it shares, keeps, evicts, and how it treats this model's layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.kv.vllm_groups import vllm_pool
from kvplan.core.kv.widths import state_bytes
from kvplan.core.sizing.inputs import PARAMS_FROM_NAME
from kvplan.core.sizing.versions import mismatches
from kvplan.schema.model import Recurrent
from kvplan.schema.plan import PlanWarning
from kvplan.units import format_binary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.core.sizing.outcome import Outcome


_EVICTORS = {
    "registry": "its registry hub, where it is set up to,",
    "private-pool": "its own pool in each worker",
}


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


def _eviction(outcome: Outcome) -> Iterator[PlanWarning]:
    """Say who deletes old blocks, and whether anybody else may."""
    stack = outcome.setup.stack
    backend = stack.backend
    if backend.eviction == "none":
        grace = ", which spares files that are still being read" if backend.external_delete == "with-grace" else ""
        text = f"{backend.id} never deletes a block: deploy an evictor with it (Storage Scale ILM policy){grace}"
        yield PlanWarning(id="backend-no-eviction", severity="info", text=text, source=backend.source)
    elif backend.external_delete == "unsafe":
        who = _EVICTORS[backend.eviction]
        text = f"{backend.id}: {who} evicts; no ILM policy or script may delete its files, its index would miss them"
        yield PlanWarning(id="backend-evicts-itself", severity="info", text=text, source=backend.source)


def _version_mismatch(outcome: Outcome) -> Iterator[PlanWarning]:
    """Say so when the back end does not work with the software set's versions."""
    stack = outcome.setup.stack
    for text in mismatches(stack.software, stack.backend):
        yield PlanWarning(id="backend-version", severity="warning", text=text, source=stack.backend.source)


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


def _recurrent_groups(outcome: Outcome) -> list[Recurrent]:
    """Return the model's recurrent layers."""
    return [group for group in outcome.inputs.model.spec.groups if isinstance(group, Recurrent)]


def _recurrent_state(outcome: Outcome) -> Iterator[PlanWarning]:
    """Say what the state of recurrent layers adds to each stored token."""
    state = sum(group.layers * state_bytes(group) for group in _recurrent_groups(outcome))
    if state:
        per_token = state / outcome.setup.checkpoint_tokens
        text = (
            f"recurrent layers keep {format_binary(state)} of state; one checkpoint every "
            f"{outcome.setup.checkpoint_tokens:,} tokens adds {per_token:,.0f} B to each stored token"
        )
        severity = "warning" if per_token > outcome.kv.accounting.minimal.bytes_per_token else "info"
        yield PlanWarning(id="recurrent-state", severity=severity, text=text, source="slope + state / spacing")


def _recurrent_chunks(outcome: Outcome) -> Iterator[PlanWarning]:
    """Say so when the chunk length does not fit the blocks that vLLM makes for a recurrent hybrid."""
    if not _recurrent_groups(outcome) or not outcome.setup.hybrid_manager:
        return
    groups, dtype = outcome.inputs.model.spec.groups, outcome.inputs.request.kv_dtype
    block_tokens = vllm_pool(groups, dtype, outcome.setup.vllm).block_tokens
    if outcome.setup.chunk_tokens % block_tokens:
        text = (
            f"vLLM grows its blocks to {block_tokens:,} tokens for this model; chunks of "
            f"{outcome.setup.chunk_tokens:,} tokens are no multiple of it: set --chunk-tokens {block_tokens}"
        )
        yield PlanWarning(id="chunk-not-multiple", severity="warning", text=text, source="LMCache/LMCache#5217")


def _recurrent_unsupported(outcome: Outcome) -> Iterator[PlanWarning]:
    """Say so when recurrent state would not survive the tier."""
    backend = outcome.setup.stack.backend
    if not _recurrent_groups(outcome) or (backend.stores_recurrent_state and outcome.setup.hybrid_manager):
        return
    lack = "runs here without the hybrid manager" if backend.stores_recurrent_state else "stores no recurrent state"
    text = f"{backend.id} {lack}: restored prefixes of this model would be wrong or refused"
    yield PlanWarning(id="recurrent-unsupported", severity="error", text=text, source=backend.source)


def _params_from_name(outcome: Outcome) -> Iterator[PlanWarning]:
    """Say so when the parameter count was read from the model's name."""
    model = outcome.inputs.model
    if model.params_source.startswith(PARAMS_FROM_NAME):
        text = f"{model.params_total / 1e9:,.0f}B parameters are {model.params_source}; confirm with --params"
        yield PlanWarning(id="params-from-name", severity="info", text=text, source=model.params_source)


FINDINGS = (
    _recurrent_unsupported,
    _recurrent_state,
    _recurrent_chunks,
    _private_files,
    _unreleased,
    _version_mismatch,
    _hybrid_manager_off,
    _windows_in_full,
    _latent_copies,
    _eviction,
    _params_from_name,
)
