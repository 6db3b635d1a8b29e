"""The defaults that decide: engine, cache back end, chunk length and tensor parallelism of a request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kvplan.core.kv.external import ExternalSetup
from kvplan.core.kv.vllm import VllmSetup, vllm_accounting
from kvplan.core.sizing.hbm import MemoryBudget, kv_bytes_per_gpu
from kvplan.core.sizing.versions import release_key

if TYPE_CHECKING:
    from kvplan.core.sizing.inputs import SizingInputs, Stack
    from kvplan.schema.reports import KvRequest
    from kvplan.schema.request import Request
    from kvplan.schema.software import CacheBackend

MAX_TP = 1024
CHECKPOINT_TOKENS = 256
"""Least default spacing of recurrent checkpoints: the chunk length that vLLM's and LMCache's file tiers use."""


@dataclass(frozen=True, slots=True)
class Setup:
    """How the engine and its cache back end are run."""

    stack: Stack
    tp: int
    chunk_tokens: int
    checkpoint_tokens: int
    hybrid_manager: bool

    @property
    def vllm(self) -> VllmSetup:
        """The engine's side of the set-up."""
        software = self.stack.software
        return VllmSetup(
            version=software.vllm,
            tp=self.tp,
            hybrid_manager=self.hybrid_manager,
            block_tokens=software.block_tokens,
        )

    @property
    def external(self) -> ExternalSetup:
        """The cache back end's side of the set-up."""
        return ExternalSetup(
            backend=self.stack.backend,
            tp=self.tp,
            chunk_tokens=self.chunk_tokens,
            checkpoint_tokens=self.checkpoint_tokens,
            hybrid_manager=self.hybrid_manager,
        )


def setup_of(request: Request | KvRequest, stack: Stack, tp: int) -> Setup:
    """Fill in what the request leaves open, for one software stack.

    The chunk length is the request's, else the software set's when its own back end is used, else the back end's
    default; recurrent states are checkpointed once a chunk, but not more often than every 256 tokens, unless asked
    otherwise; the hybrid manager follows the software set and is off where the back end cannot work with it.
    """
    software, backend = stack.software, stack.backend
    default_chunk = software.chunk_tokens if backend.id == software.cache_backend else backend.default_chunk_tokens
    chunk_tokens = request.chunk_tokens or default_chunk
    wanted = software.hybrid_manager if request.hybrid_manager is None else request.hybrid_manager
    return Setup(
        stack=stack,
        tp=tp,
        chunk_tokens=chunk_tokens,
        checkpoint_tokens=request.checkpoint_tokens or max(chunk_tokens, CHECKPOINT_TOKENS),
        hybrid_manager=wanted and _allows_hybrid_manager(backend, software.vllm),
    )


def _allows_hybrid_manager(backend: CacheBackend, vllm: str) -> bool:
    """Tell whether a back end works with the hybrid manager of a vLLM release."""
    since = backend.hybrid_manager_since_vllm
    return backend.hybrid_manager and (not since or release_key(vllm) >= release_key(since))


def tensor_parallelism(inputs: SizingInputs, budget: MemoryBudget) -> int:
    """Choose the fewest GPUs, in powers of two, whose memory holds the weights and one context.

    When no count up to the GPUs at hand does, the largest power of two among them is returned and the HBM check
    reports that nothing fits.
    """
    request = inputs.request
    if request.tp is not None:
        return request.tp
    tp = 1
    while tp * 2 <= min(request.gpus, MAX_TP):
        if _holds_one_context(inputs, budget, tp):
            return tp
        tp *= 2
    return tp


def _holds_one_context(inputs: SizingInputs, budget: MemoryBudget, tp: int) -> bool:
    """Tell whether one engine of `tp` GPUs holds a whole context beside its weights."""
    request = inputs.request
    setup = setup_of(request, inputs.stack, tp)
    groups = inputs.model.spec.groups
    free_bytes = kv_bytes_per_gpu(budget, inputs.model.weights_bytes, tp)
    if free_bytes <= 0:
        return False
    need = vllm_accounting(groups, request.kv_dtype, request.context_tokens, setup.vllm)
    return need.context_bytes <= free_bytes
