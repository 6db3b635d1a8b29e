"""Remarks on an external-tier accounting: what of the setup decided it, and what is not certain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.kv.external_parts import hybrid_manager_active
from kvplan.core.kv.widths import HeadedAttention
from kvplan.schema.model import (
    ChunkedAttention,
    CompressedAttention,
    Indexer,
    LatentAttention,
    Recurrent,
    SharedKeyWindow,
    SlidingAttention,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.core.kv.external_parts import ExternalSetup
    from kvplan.schema.model import LayerGroup

_WINDOWED = SlidingAttention | ChunkedAttention | SharedKeyWindow
_WITHOUT_HEADS = LatentAttention | Indexer | CompressedAttention | SharedKeyWindow

_PROMPT_ENDS = (
    "keeps window layers at prompt ends only: a prompt that shares a part of a stored one may find no usable end; "
    "how many window pages a connector keeps there is not confirmed"
)
_CHECKPOINTS = "a hit ends at a checkpoint, and the stored bytes a token fall as the spacing grows"
_STATE_LOST = (
    "is not known to store recurrent state: without it a restored context is wrong; the state is counted all the same"
)
_STATE_REFUSED = "without the hybrid manager vLLM 0.33 does not start a recurrent hybrid with a connector"
_INDEXER_OPEN = (
    "how vLLM keeps an indexer key beside layers with heads is not confirmed: it is counted at the KV dtype, not at "
    "dim + 4 bytes as beside latent layers"
)
_PACKED = (
    "how a connector lays out compressed layers and their windows is not confirmed: LMCache reports 18,909 B/token for "
    "DeepSeek-V4 at 1,024-token chunks"
)


def external_notes(groups: Sequence[LayerGroup], setup: ExternalSetup) -> tuple[str, ...]:
    """Say in sentences what the setup does to this model's stored bytes.

    Parameters
    ----------
    groups
        The model's layer groups.
    setup
        Engine and back end; its sizes count ranks [1] and tokens [tokens].

    Returns
    -------
    tuple of str
        Sentences, none where nothing is remarkable [1].

    Notes
    -----
    Facts only: whether one of them is a warning is for the caller to say.

    References
    ----------
    vLLM 0.33.0 `config/vllm.py`; LMCache/LMCache PR#2863 (garbled output without the state); LMCache 0.5.6
    `cache_engine.py` (latents by rank 0 only); LMCache/LMCache PR#3635 (DeepSeek-V4).

    Examples
    --------
    >>> from kvplan.core.kv.external_parts import ExternalSetup
    >>> from kvplan.schema.software import CacheBackend
    >>> backend = CacheBackend.model_construct(id="kvbm-disk", hybrid_manager=False)
    >>> setup = ExternalSetup(backend, tp=1, chunk_tokens=16, checkpoint_tokens=16, hybrid_manager=True)
    >>> window = SlidingAttention(layers=18, kv_heads=8, key_dim=64, value_dim=64, window_tokens=128)
    >>> external_notes([window], setup)
    ('window layers are stored and read back in full: kvbm-disk does not support the hybrid manager',)
    """
    notes = (*_layout_notes(groups), *_state_notes(groups, setup), *_copy_notes(groups, setup))
    return (*_window_notes(groups, setup), *notes)


def _window_notes(groups: Sequence[LayerGroup], setup: ExternalSetup) -> tuple[str, ...]:
    """Say how window layers are handled, and why."""
    if not any(isinstance(group, _WINDOWED) for group in groups):
        return ()
    if not hybrid_manager_active(groups, setup):
        return (f"window layers are stored and read back in full: {_why_off(setup)}",)
    if setup.backend.window_storage == "all-layers":
        return (f"{setup.backend.id} writes window layers in full and reads back one window",)
    return (f"{setup.backend.id} {_PROMPT_ENDS}",)


def _layout_notes(groups: Sequence[LayerGroup]) -> tuple[str, ...]:
    """Say where the width of an entry is not confirmed."""
    kinds = {type(group) for group in groups}
    said = ((_PACKED, CompressedAttention in kinds), (_INDEXER_OPEN, Indexer in kinds and LatentAttention not in kinds))
    return tuple(text for text, applies in said if applies)


def _why_off(setup: ExternalSetup) -> str:
    """Name the first reason that keeps the hybrid manager off."""
    if not setup.hybrid_manager:
        return "the hybrid manager is off"
    if not setup.backend.hybrid_manager:
        return f"{setup.backend.id} does not support the hybrid manager"
    return "vLLM keeps the hybrid manager off for chunked attention"


def _state_notes(groups: Sequence[LayerGroup], setup: ExternalSetup) -> tuple[str, ...]:
    """Say what a recurrent state needs of the back end."""
    if not any(isinstance(group, Recurrent) for group in groups):
        return ()
    notes = [f"a recurrent state is stored every {setup.checkpoint_tokens:,} tokens: {_CHECKPOINTS}"]
    if not setup.backend.stores_recurrent_state:
        notes.append(f"{setup.backend.id} {_STATE_LOST}")
    if not hybrid_manager_active(groups, setup):
        notes.append(_STATE_REFUSED)
    return tuple(notes)


def _copy_notes(groups: Sequence[LayerGroup], setup: ExternalSetup) -> tuple[str, ...]:
    """Name the copies that tensor parallelism makes."""
    notes = []
    kv_heads = {group.kv_heads for group in groups if isinstance(group, HeadedAttention)}
    replicated = sorted(heads for heads in kv_heads if setup.tp % heads == 0 and setup.tp > heads)
    notes += [f"{heads} KV heads on {setup.tp} ranks: {setup.tp // heads} copies are stored" for heads in replicated]
    odd = sorted(heads for heads in kv_heads if heads % setup.tp and setup.tp % heads)
    notes += [f"{heads} KV heads do not divide over {setup.tp} ranks: vLLM refuses this TP" for heads in odd]
    if setup.tp > 1 and any(isinstance(group, _WITHOUT_HEADS) for group in groups):
        once = setup.backend.latent_copies == "one"
        notes.append(
            f"latent caches are the same on every rank: {'one copy is' if once else f'{setup.tp} copies are'} stored"
        )
    return tuple(notes)
