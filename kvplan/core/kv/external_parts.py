"""What a cache back end moves: which terms reach its files and come back, by rank, copy and hybrid manager."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from kvplan.core.arithmetic import ceil_div
from kvplan.core.kv.terms import Term, layer_term
from kvplan.core.kv.widths import engine_dtype
from kvplan.errors import require_at_least
from kvplan.schema.model import (
    ChunkedAttention,
    CompressedAttention,
    CrossAttention,
    FullAttention,
    Indexer,
    LatentAttention,
    Recurrent,
    SharedKeyWindow,
    SlidingAttention,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kvplan.schema.model import LayerGroup
    from kvplan.schema.request import KvDtype
    from kvplan.schema.software import CacheBackend

FileKind = Literal["chunk", "checkpoint", "once"]
"""How often a part is written: for every chunk of tokens, for every state checkpoint, once a stored prompt."""


@dataclass(frozen=True, slots=True)
class ExternalSetup:
    """The engine and its cache back end as far as stored bytes depend on them.

    `tp` is the tensor-parallel size [1], `chunk_tokens` the tokens of one file [tokens], `checkpoint_tokens` the
    spacing of recurrent state checkpoints [tokens], `hybrid_manager` vLLM's setting. Raises InputError for values
    below 1.
    """

    backend: CacheBackend
    tp: int
    chunk_tokens: int
    checkpoint_tokens: int
    hybrid_manager: bool

    def __post_init__(self) -> None:
        """Refuse what cannot be counted, all of it at once."""
        positive = ("tp", "chunk_tokens", "checkpoint_tokens")
        require_at_least("cache back end setup", *((name, getattr(self, name), 1) for name in positive))


@dataclass(frozen=True, slots=True)
class Part:
    """One term as the back end handles it, copies included.

    `dtype` is what the engine keeps it in, `kv_heads` are the KV heads of all ranks together where they are not the
    group's own, `copies` the ranks that hold the whole of a part without heads, `writers` the ranks that each write a
    file of it.
    """

    term: Term
    dtype: KvDtype
    file: FileKind
    writers: int
    kv_heads: int | None = None
    copies: int = 1


def hybrid_manager_active(groups: Iterable[LayerGroup], setup: ExternalSetup) -> bool:
    """Tell whether windows are kept as windows on the way to the tier.

    active = setting and back end supports it and no chunked attention

    Parameters
    ----------
    groups
        The model's layer groups.
    setup
        Engine and back end.

    Returns
    -------
    bool
        True where window layers are told apart from full ones [1].

    Notes
    -----
    vLLM keeps the hybrid manager off for models with chunked attention (Llama 4) whatever the back end can.

    References
    ----------
    vLLM 0.33.0 `config/vllm.py`; vLLM 0.14.1 `config/vllm.py` (off with any KV transfer); vllm-project/vllm#16118.

    Examples
    --------
    >>> from kvplan.schema.software import CacheBackend
    >>> backend = CacheBackend.model_construct(id="vllm-fs", hybrid_manager=True)
    >>> setup = ExternalSetup(backend, tp=1, chunk_tokens=256, checkpoint_tokens=256, hybrid_manager=True)
    >>> chunked = ChunkedAttention(layers=36, kv_heads=8, key_dim=128, value_dim=128, chunk_tokens=8192)
    >>> hybrid_manager_active([], setup), hybrid_manager_active([chunked], setup)
    (True, False)
    """
    # vLLM itself turns the manager off for chunked attention, whatever the back end can do.
    chunked = any(isinstance(group, ChunkedAttention) for group in groups)
    return setup.hybrid_manager and setup.backend.hybrid_manager and not chunked


def stored_parts(groups: Sequence[LayerGroup], dtype: KvDtype, setup: ExternalSetup) -> tuple[Part, ...]:
    """Return what is written: windows in full or once a prompt end, and a state at every checkpoint.

    part = term x copies over the ranks; a window becomes a growing term where it is written in full; a state of S
    bytes becomes S / checkpoint_tokens a token

    Parameters
    ----------
    groups
        The model's layer groups.
    dtype
        KV dtype.
    setup
        Engine and back end.

    Returns
    -------
    tuple of Part
        One part a group, in their order [B].

    Notes
    -----
    How many window pages each connector keeps at a prompt end is not confirmed; one window is counted. A connector
    copies the engine's pages, so each group has the width that `engine_dtype` gives it.

    References
    ----------
    vLLM 0.33.0 `offloading/scheduler.py` and `single_type_kv_cache_manager.py` (retention at prompt ends);
    LMCache 0.5.6 `cache_engine.py` (latents by rank 0 only); LMCache/LMCache PR#2863, ROCm/ATOM PR#1759 (state
    checkpoints).

    Examples
    --------
    >>> from kvplan.schema.software import CacheBackend
    >>> backend = CacheBackend.model_construct(id="vllm-fs", hybrid_manager=True, latent_copies="every-rank")
    >>> setup = ExternalSetup(backend, tp=1, chunk_tokens=256, checkpoint_tokens=256, hybrid_manager=True)
    >>> state = Recurrent(layers=48, conv_elements=30_720, conv_columns=3, state_elements=786_432)
    >>> stored_parts([state], "bf16", setup)[0].term.slope_bytes_per_token
    601344.0
    """
    windows_kept = hybrid_manager_active(groups, setup) and setup.backend.window_storage == "prompt-end"
    parts = _parts(groups, dtype, setup, windows_kept=windows_kept)
    return tuple(_spread_state(part, setup) for part in parts)


def loaded_parts(groups: Sequence[LayerGroup], dtype: KvDtype, setup: ExternalSetup) -> tuple[Part, ...]:
    """Return what is read back on a hit of the whole context: one window with the hybrid manager, one state.

    part = term x copies over the ranks; without the hybrid manager a window becomes a growing term

    Parameters
    ----------
    groups
        The model's layer groups.
    dtype
        KV dtype.
    setup
        Engine and back end.

    Returns
    -------
    tuple of Part
        One part a group, in their order [B].

    Notes
    -----
    Ranks that share a latent read it once where one rank writes it (it is broadcast), each on its own otherwise.

    References
    ----------
    vLLM 0.33.0 `offloading/scheduler.py`; llm-d/llm-d-kv-cache#476 (hybrid manager of the file system connector).

    Examples
    --------
    >>> from kvplan.schema.software import CacheBackend
    >>> backend = CacheBackend.model_construct(id="vllm-fs", hybrid_manager=True, latent_copies="every-rank")
    >>> setup = ExternalSetup(backend, tp=1, chunk_tokens=256, checkpoint_tokens=256, hybrid_manager=True)
    >>> state = Recurrent(layers=48, conv_elements=30_720, conv_columns=3, state_elements=786_432)
    >>> loaded_parts([state], "bf16", setup)[0].term.fixed_bytes
    153944064
    """
    # A back end that writes windows in full reads back the last one only, like any other.
    windows_kept = hybrid_manager_active(groups, setup)
    return _parts(groups, dtype, setup, windows_kept=windows_kept)


def _parts(
    groups: Sequence[LayerGroup], dtype: KvDtype, setup: ExternalSetup, *, windows_kept: bool
) -> tuple[Part, ...]:
    """Build the part of each group, windows in full unless they are kept."""
    parts = (_part(group, engine_dtype(group, groups, dtype), setup) for group in groups)
    return tuple(part if windows_kept else _in_full(part) for part in parts)


def _part(group: LayerGroup, dtype: KvDtype, setup: ExternalSetup) -> Part:
    """Apply the ranks: heads divide and replicate beyond their number, vectors without heads are copied or not."""
    match group:
        case FullAttention() | SlidingAttention() | ChunkedAttention() | CrossAttention():
            # A rank holds at least one head, and the same number as every other rank.
            kv_heads = setup.tp * ceil_div(group.kv_heads, setup.tp)
            term = layer_term(group, dtype, kv_heads=kv_heads)
            return Part(term, dtype, _file_kind(term), writers=setup.tp, kv_heads=kv_heads)
        case LatentAttention() | Indexer() | CompressedAttention() | SharedKeyWindow():
            # Vectors without heads cannot be divided: every rank holds the whole of them.
            copies = setup.tp if setup.backend.latent_copies == "every-rank" else 1
            term = layer_term(group, dtype)
            term = replace(term, entry_bytes=term.entry_bytes * copies)
            return Part(term, dtype, _file_kind(term), writers=copies, copies=copies)
        case _:
            term = layer_term(group, dtype)
            return Part(term, dtype, _file_kind(term), writers=setup.tp)


def _file_kind(term: Term) -> FileKind:
    """Growing terms go into every chunk, the rest is written once."""
    return "chunk" if term.limit_tokens is None and term.entry_bytes else "once"


def _in_full(part: Part) -> Part:
    """Write a window's layers like full ones."""
    if part.term.limit_tokens is None:
        return part
    return replace(part, term=replace(part.term, limit_tokens=None), file="chunk")


def _spread_state(part: Part, setup: ExternalSetup) -> Part:
    """Write a recurrent state at every checkpoint."""
    if not isinstance(part.term.group, Recurrent):
        return part
    term = Term(part.term.group, part.term.constant_bytes, tokens_per_entry=setup.checkpoint_tokens)
    return replace(part, term=term, file="checkpoint")
