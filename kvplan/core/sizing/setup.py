"""The defaults that decide: engine, cache back end, chunk length and tensor parallelism of a request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kvplan.core.kv.external import ExternalSetup
from kvplan.core.kv.vllm import VllmSetup, vllm_accounting
from kvplan.core.sizing.hbm import MemoryBudget, kv_bytes_per_gpu
from kvplan.core.sizing.versions import outside
from kvplan.schema.model import ChunkedAttention

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kvplan.core.sizing.inputs import ModelFacts, SizingInputs, Stack
    from kvplan.schema.model import LayerGroup
    from kvplan.schema.reports import KvRequest
    from kvplan.schema.request import Request
    from kvplan.schema.software import CacheBackend

MAX_TP = 1024
"""Most GPUs of one engine that are tried where no count was asked for."""
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
        """The engine's side of the setup."""
        software = self.stack.software
        return VllmSetup(
            version=software.vllm,
            tp=self.tp,
            hybrid_manager=self.hybrid_manager,
            block_tokens=software.block_tokens,
        )

    @property
    def external(self) -> ExternalSetup:
        """The cache back end's side of the setup."""
        return ExternalSetup(
            backend=self.stack.backend,
            tp=self.tp,
            chunk_tokens=self.chunk_tokens,
            checkpoint_tokens=self.checkpoint_tokens,
            hybrid_manager=self.hybrid_manager,
        )


def setup_of(request: Request | KvRequest, stack: Stack, tp: int, groups: Sequence[LayerGroup]) -> Setup:
    """Fill in what the request leaves open, for one software stack.

    The chunk length is the request's, else the software set's when its own back end is used, else the back end's
    default; recurrent states are checkpointed once a chunk, but not more often than every 256 tokens, unless asked
    otherwise; the hybrid manager follows the software set and is off where the back end cannot work with it, and for
    chunked attention, unless asked for.

    Parameters
    ----------
    request
        What was asked for.
    stack
        Software set and cache back end.
    tp
        GPUs of one engine [GPUs].
    groups
        The model's layer groups.

    Returns
    -------
    Setup
        Chunk length and checkpoint spacing [tokens], hybrid manager, tensor parallelism.

    References
    ----------
    The rows of the catalogue's software sets and cache back ends, which name their sources; vLLM `config/vllm.py`
    turns the hybrid manager off for chunked attention.

    Examples
    --------
    >>> from kvplan import Request, load_catalogue
    >>> from kvplan.core.sizing.inputs import Stack
    >>> tables = load_catalogue()
    >>> stack = Stack(tables.software("reference"), tables.backend("vllm-fs"))
    >>> setup = setup_of(Request(model="m", context_tokens=130_000, gpus=8), stack, 1, groups=())
    >>> setup.chunk_tokens == stack.backend.default_chunk_tokens
    True
    """
    software, backend = stack.software, stack.backend
    default_chunk = software.chunk_tokens if backend.id == software.cache_backend else backend.default_chunk_tokens
    chunk_tokens = request.chunk_tokens or default_chunk
    by_default = software.hybrid_manager and not any(isinstance(group, ChunkedAttention) for group in groups)
    wanted = by_default if request.hybrid_manager is None else request.hybrid_manager
    return Setup(
        stack=stack,
        tp=tp,
        chunk_tokens=chunk_tokens,
        checkpoint_tokens=request.checkpoint_tokens or max(chunk_tokens, CHECKPOINT_TOKENS),
        hybrid_manager=wanted and _allows_hybrid_manager(backend, software.vllm),
    )


def _allows_hybrid_manager(backend: CacheBackend, vllm: str) -> bool:
    """Tell whether a back end works with the hybrid manager of a vLLM release."""
    return backend.hybrid_manager and not outside(vllm, backend.hybrid_manager_since_vllm, "")


def tensor_parallelism(inputs: SizingInputs, budget: MemoryBudget) -> int:
    """Choose the fewest GPUs, in powers of two, whose memory holds the weights and one context.

    When no count up to the GPUs at hand does, the largest power of two among them is returned and the HBM check
    reports that nothing fits.

    Parameters
    ----------
    inputs
        The request with its GPUs and its context [tokens], and the rows it names.
    budget
        Memory of one GPU [B].

    Returns
    -------
    int
        GPUs of one engine [GPUs]; those asked for where they were.

    References
    ----------
    As `kvplan.core.sizing.hbm.kv_bytes_per_gpu` and `kvplan.core.kv.vllm.vllm_accounting`.

    Examples
    --------
    >>> import kvplan
    >>> [kvplan.size(kvplan.Request(model=name, context_tokens=130_000, gpus=128)).request.tp
    ...  for name in ("gpt-oss-120b", "llama-3.3-70b")]
    [1, 4]
    """
    request = inputs.request
    if request.tp is not None:
        return request.tp
    model, groups = inputs.model, inputs.model.spec.groups
    return fewest_gpus(
        min(request.gpus, MAX_TP),
        lambda tp: holds_one_context(model, request, budget, setup_of(request, inputs.stack, tp, groups).vllm),
    )


def fewest_gpus(most: int, suffice: Callable[[int], bool]) -> int:
    """Return the least power of two of GPUs that suffice, else the largest that there are.

    Parameters
    ----------
    most
        GPUs at hand [GPUs].
    suffice
        Tells whether an engine of so many GPUs will do.

    Returns
    -------
    int
        GPUs of one engine [GPUs].

    Notes
    -----
    Powers of two only: vLLM wants a number that divides the attention heads, which these mostly do.

    References
    ----------
    vLLM documentation, Parallelism and Scaling: more GPUs until their memory holds the model.

    Examples
    --------
    >>> fewest_gpus(8, lambda tp: tp * 96 >= 150), fewest_gpus(12, lambda tp: False)
    (2, 8)
    """
    counts = [1 << power for power in range(most.bit_length())]
    return next((count for count in counts if suffice(count)), counts[-1])


def holds_one_context(model: ModelFacts, request: Request | KvRequest, budget: MemoryBudget, engine: VllmSetup) -> bool:
    """Tell whether one engine holds a whole context beside its weights.

    Parameters
    ----------
    model
        The model with its weights [B].
    request
        KV dtype and length of the context [tokens].
    budget
        Memory of one GPU [B].
    engine
        The engine with its GPUs.

    Returns
    -------
    bool
        True where the context is not larger than what is free.

    References
    ----------
    As `kvplan.core.sizing.hbm.kv_bytes_per_gpu` and `kvplan.core.kv.vllm.vllm_accounting`.

    Examples
    --------
    >>> from kvplan import Request, load_catalogue
    >>> from kvplan.models import load_model, model_facts
    >>> model = model_facts(load_model("llama-3.3-70b", load_catalogue()))
    >>> request = Request(model="llama-3.3-70b", context_tokens=130_000, gpus=8)
    >>> budget = MemoryBudget(96 * 10**9, 0.9, 0)
    >>> [holds_one_context(model, request, budget, VllmSetup("0.14.1", tp=tp)) for tp in (1, 2, 4)]
    [False, False, True]
    """
    free_bytes = kv_bytes_per_gpu(budget, model.weights_bytes, engine.tp)
    if free_bytes <= 0:
        return False
    need = vllm_accounting(model.spec.groups, request.kv_dtype, request.context_tokens, engine)
    return need.context_bytes <= free_bytes
