"""Attention by heads: how many KV heads a layer keeps, of which size, and the window it looks through."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from kvplan.core.hf.keys import HEAD_DIM, HEADS, HIDDEN, KV_HEADS, MAX_TOKENS, POSITIONS, WINDOW
from kvplan.schema.model import ChunkedAttention, CrossAttention, FullAttention, SlidingAttention

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.core.hf.keys import Fields
    from kvplan.core.hf.patterns import LayerKind, Maker
    from kvplan.schema.model import LayerGroup


@dataclass(frozen=True, slots=True)
class HeadDims:
    """KV heads and the dimensions of their keys and values [1]."""

    kv_heads: int
    key_dim: int
    value_dim: int

    def full(self, layers: int) -> tuple[LayerGroup, ...]:
        """Build layers that keep every token.

        >>> HeadDims(8, 128, 128).full(80)
        (FullAttention(kind='full', layers=80, kv_heads=8, key_dim=128, value_dim=128),)
        """
        return (FullAttention(layers=layers, **asdict(self)),)

    def sliding(self, layers: int, window_tokens: int | None) -> tuple[LayerGroup, ...]:
        """Build layers that keep a window; without one, all tokens.

        >>> HeadDims(8, 64, 64).sliding(18, 128)[0].window_tokens
        128
        """
        if window_tokens is None:
            return self.full(layers)
        return (SlidingAttention(layers=layers, window_tokens=window_tokens, **asdict(self)),)

    def chunked(self, layers: int, chunk_tokens: int | None) -> tuple[LayerGroup, ...]:
        """Build layers that keep the current chunk; without one, all tokens.

        >>> HeadDims(8, 128, 128).chunked(36, 8192)[0].chunk_tokens
        8192
        """
        if chunk_tokens is None:
            return self.full(layers)
        return (ChunkedAttention(layers=layers, chunk_tokens=chunk_tokens, **asdict(self)),)

    def cross(self, layers: int, source_tokens: int) -> tuple[LayerGroup, ...]:
        """Build layers that keep a source of fixed length.

        >>> HeadDims(8, 128, 128).cross(8, 0)[0].source_tokens
        0
        """
        return (CrossAttention(layers=layers, source_tokens=source_tokens, **asdict(self)),)


def head_dims(fields: Fields, *, kv_heads: int | None = None, value_dims: Sequence[str] = ()) -> HeadDims:
    """Read KV heads and head dimensions.

    kv_heads = the KV heads named, else the attention heads; head_dim = as named, else hidden / heads

    Parameters
    ----------
    fields
        Configuration of the language model.
    kv_heads
        KV heads where the model type decides them otherwise [1].
    value_dims
        Keys that give the values a dimension of their own.

    Returns
    -------
    HeadDims
        KV heads [1] and dimensions [elements].

    Notes
    -----
    A head dimension named in the file is often not hidden / heads (Qwen3-32B 128, not 80; gpt-oss 64, not 45). KV
    heads must divide the attention heads, hidden must be a multiple of the heads where it decides.

    References
    ----------
    transformers 5.24.0 LlamaConfig, Qwen3Config, GptOssConfig; LMCache/LMCache#688 and NVIDIA/Model-Optimizer#2482
    (head size taken from hidden / heads).

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> head_dims(Fields({"hidden_size": 2880, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64}))
    HeadDims(kv_heads=8, key_dim=64, value_dim=64)
    """
    kept = _kv_heads(fields) if kv_heads is None else kv_heads
    key_dim = fields.optional_count(*HEAD_DIM)
    if key_dim is None:
        key_dim = hidden_per_head(fields)
    value_dim = fields.optional_count(*value_dims) if value_dims else None
    return HeadDims(kept, key_dim, key_dim if value_dim is None else value_dim)


def hidden_per_head(fields: Fields) -> int:
    """Return the head dimension of models that do not name it.

    head_dim = hidden / heads

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    int
        Head dimension [elements].

    Notes
    -----
    Hidden must be a multiple of the heads; if it is not, the dimension is a problem and not rounded.

    References
    ----------
    transformers 5.24.0 LlamaConfig.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> hidden_per_head(Fields({"n_embd": 6144, "n_head": 48}))
    128
    """
    hidden, heads = fields.count(*HIDDEN), fields.count(*HEADS)
    if hidden % heads and fields.has(*HIDDEN) and fields.has(*HEADS):
        fields.problem(
            HEAD_DIM[0], f"is missing and hidden / heads is not whole: {hidden} / {heads}", allowed="head_dim: a number"
        )
    return max(1, hidden // heads)


def window_tokens(fields: Fields, names: Sequence[str] = WINDOW, *, required: bool = False) -> int | None:
    """Read the window of sliding layers, or the chunk of chunked ones.

    Parameters
    ----------
    fields
        Configuration of the language model.
    names
        Spellings of the key.
    required
        Whether layers that the file itself calls sliding depend on it.

    Returns
    -------
    int or None
        Window [tokens]; None where it is null, or not shorter than the longest context, which is full attention.

    Notes
    -----
    Phi-3-mini-128k names a window of 262,144 tokens for a context of 131,072: full attention.

    References
    ----------
    Lightning-AI/litgpt@2685705 `litgpt/config.py` (Phi-3, Phi-4-mini); transformers 5.24.0 Phi3Config.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> window_tokens(Fields({"sliding_window": 4096, "max_position_embeddings": 32768}))
    4096
    >>> window_tokens(Fields({"sliding_window": 262144, "max_position_embeddings": 131072})) is None
    True
    """
    if required and not fields.named(*names):
        fields.missing(*names, hint="layers of this model slide over a window; null means none")
    window = fields.optional_count(*names, maximum=MAX_TOKENS)
    longest = fields.optional_count(*POSITIONS, maximum=MAX_TOKENS)
    return None if window is not None and longest is not None and window >= longest else window


def attention_makers(fields: Fields, full: HeadDims, sliding: HeadDims | None = None) -> dict[LayerKind, Maker]:
    """Return the makers of full and sliding layers.

    Parameters
    ----------
    fields
        Configuration of the language model.
    full
        Heads of the full layers.
    sliding
        Heads of the sliding layers; those of the full ones unless given.

    Returns
    -------
    dict
        A maker for `full` and for `sliding`.

    Notes
    -----
    The window is read only when a sliding layer occurs.

    References
    ----------
    transformers 5.24.0 GptOssConfig.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> makers = attention_makers(Fields({"sliding_window": 128}), HeadDims(8, 64, 64))
    >>> makers["sliding"](18)[0].window_tokens
    128
    """
    local = sliding or full
    return {
        "full": full.full,
        "sliding": lambda layers: local.sliding(layers, window_tokens(fields, required=True)),
    }


def _kv_heads(fields: Fields) -> int:
    """Read the KV heads; without any, as many as there are attention heads."""
    kv_heads, heads = fields.optional_count(*KV_HEADS), fields.optional_count(*HEADS)
    if kv_heads is None:
        if not fields.has(*KV_HEADS):
            fields.note("no KV heads named: as many as attention heads (MHA)")
        return fields.count(*HEADS)
    if heads is not None and heads % kv_heads:
        name, _ = fields.first(KV_HEADS)
        fields.problem(name, f"{kv_heads} does not divide the {heads} attention heads", allowed=f"a divisor of {heads}")
    return kv_heads
