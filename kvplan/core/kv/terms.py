"""KV bytes as terms: bytes(n) = slope x n + windows min(n, W) + constant state, one term a layer group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kvplan.core.kv.rules import RULES
from kvplan.core.kv.widths import state_bytes, token_bytes
from kvplan.schema.model import (
    ChunkedAttention,
    CompressedAttention,
    CrossAttention,
    Recurrent,
    SharedKeyWindow,
    SlidingAttention,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvplan.core.kv.rules import RetentionRule, RuleName
    from kvplan.schema.model import LayerGroup
    from kvplan.schema.request import KvDtype

_BUFFER_BYTES_PER_ELEMENT = 2
_BUFFERED_VECTORS = 2
"""An unfinished compressed entry holds its input and a gate of the same length."""


@dataclass(frozen=True, slots=True)
class Term:
    """What the layers of one group contribute together.

    bytes(n) = entry_bytes x floor(min(n, limit_tokens) / tokens_per_entry) + constant_bytes
    + pending_bytes x (n mod tokens_per_entry) + overlap_bytes from the first finished entry on.

    `pending_bytes` and `overlap_bytes` are the buffers of compressed layers, 0 elsewhere; `limit_tokens` is None for
    a term that grows without end.
    """

    group: LayerGroup
    entry_bytes: int = 0
    tokens_per_entry: int = 1
    limit_tokens: int | None = None
    constant_bytes: int = 0
    pending_bytes: int = 0
    overlap_bytes: int = 0

    @property
    def slope_bytes_per_token(self) -> float:
        """Bytes that every further token adds in the long run [B/token]; 0 for a window or a state."""
        return 0.0 if self.limit_tokens is not None else self.entry_bytes / self.tokens_per_entry

    @property
    def fixed_bytes(self) -> int:
        """Bytes that do not grow, with the window full [B]; the pending buffer comes and goes and is left out."""
        window_bytes = 0 if self.limit_tokens is None else self.entry_bytes * self.limit_tokens
        return window_bytes + self.constant_bytes + self.overlap_bytes

    def context_bytes(self, tokens: int) -> int:
        """Bytes after `tokens` tokens [B], exact."""
        kept_tokens = tokens if self.limit_tokens is None else min(tokens, self.limit_tokens)
        entries, waiting_tokens = divmod(kept_tokens, self.tokens_per_entry)
        overlap_bytes = self.overlap_bytes if entries else 0
        return self.entry_bytes * entries + self.constant_bytes + self.pending_bytes * waiting_tokens + overlap_bytes


def layer_term(group: LayerGroup, dtype: KvDtype, rule: RuleName = "minimal", *, kv_heads: int | None = None) -> Term:
    """Return the term of one layer group: entry_bytes = layers x token_bytes, with limit and constant by its kind.

    Parameters
    ----------
    group
        The layer group.
    dtype
        KV dtype.
    rule
        Name of the retention rule.
    kv_heads
        KV heads to count instead of the group's own [1].

    Returns
    -------
    Term
        Coefficients of the group's contribution [B].

    Notes
    -----
    Valid for one sequence. Compression buffers follow transformers' DeepSeek-V4: a ratio-r layer keeps its input and
    a gate of n mod r tokens; a layer with an indexer works on overlapping windows, so its inputs are twice as wide
    and r tokens of the previous window stay. They are counted at 2 bytes an element.

    References
    ----------
    transformers 5.24.0 `cache_utils.py` (windows, convolution state) and its DeepSeek-V4 cache, measured with torch
    2.13.0 on CPU.

    Examples
    --------
    >>> group = SlidingAttention(layers=18, kv_heads=8, key_dim=64, value_dim=64, window_tokens=128)
    >>> term = layer_term(group, "bf16")
    >>> term.entry_bytes, term.limit_tokens, term.fixed_bytes, term.context_bytes(100)
    (36864, 128, 4718592, 3686400)
    """
    retention = RULES[rule]
    entry_bytes = group.layers * token_bytes(group, dtype, kv_heads=kv_heads)
    match group:
        case SlidingAttention() | SharedKeyWindow():
            return Term(group, entry_bytes, limit_tokens=group.window_tokens - retention.window_slack_tokens)
        case ChunkedAttention():
            return Term(group, entry_bytes, limit_tokens=group.chunk_tokens - retention.window_slack_tokens)
        case CompressedAttention():
            return _compressed_term(group, entry_bytes, retention)
        case CrossAttention():
            return Term(group, constant_bytes=entry_bytes * group.source_tokens)
        case Recurrent():
            return _recurrent_term(group, retention)
        case _:
            return Term(group, entry_bytes)


def layer_terms(groups: Iterable[LayerGroup], dtype: KvDtype, rule: RuleName = "minimal") -> tuple[Term, ...]:
    """Return the terms of all layer groups, in their order; their sum is bytes(n).

    Parameters
    ----------
    groups
        The model's layer groups.
    dtype
        KV dtype.
    rule
        Name of the retention rule.

    Returns
    -------
    tuple of Term
        One term a group [B].

    Notes
    -----
    Valid for one sequence of a model counted once, without tensor-parallel copies.

    References
    ----------
    As `layer_term`.

    Examples
    --------
    >>> from kvplan.schema.model import FullAttention
    >>> group = FullAttention(layers=80, kv_heads=8, key_dim=128, value_dim=128)
    >>> [term.entry_bytes for term in layer_terms([group], "bf16")]
    [327680]
    """
    return tuple(layer_term(group, dtype, rule) for group in groups)


def slope_bytes_per_token(groups: Iterable[LayerGroup], dtype: KvDtype) -> float:
    """Return the bytes that every further token adds once all windows are full.

    slope = sum over groups of layers x token_bytes / ratio, without windows, states and cross attention

    Parameters
    ----------
    groups
        The model's layer groups.
    dtype
        KV dtype.

    Returns
    -------
    float
        The model's slope [B/token], whole unless layers are compressed.

    Notes
    -----
    The same under every retention rule. For contexts shorter than the windows it is an underestimate: use
    `context_bytes`.

    References
    ----------
    DeepSeek-V4-Flash 6,880 B/token and gpt-oss-120b 36,864 B/token from their `config.json` as kept in
    ai-dynamo/aiconfigurator@095f58a `model_configs`.

    Examples
    --------
    >>> flash = (CompressedAttention(layers=21, ratio=4, entry_dim=512, index_dim=128),
    ...          CompressedAttention(layers=20, ratio=128, entry_dim=512))
    >>> slope_bytes_per_token(flash, "bf16")
    6880.0
    """
    return sum((term.slope_bytes_per_token for term in layer_terms(groups, dtype)), start=0.0)


def fixed_bytes(groups: Iterable[LayerGroup], dtype: KvDtype, rule: RuleName = "minimal") -> int:
    """Return the bytes that do not grow with the context, with every window full.

    fixed = sum over groups of window terms W x layers x token_bytes + recurrent state + cross attention

    Parameters
    ----------
    groups
        The model's layer groups.
    dtype
        KV dtype.
    rule
        Name of the retention rule.

    Returns
    -------
    int
        Fixed part [B].

    Notes
    -----
    An upper bound while the context is shorter than the longest window.

    References
    ----------
    Qwen3.5-27B 146.8 MiB: `config.json` as kept in ai-dynamo/aiconfigurator@095f58a `model_configs`.

    Examples
    --------
    >>> group = Recurrent(layers=48, conv_elements=30_720, conv_columns=3, state_elements=786_432)
    >>> fixed_bytes([group], "bf16"), fixed_bytes([group], "fp8")
    (153944064, 153944064)
    """
    return sum(term.fixed_bytes for term in layer_terms(groups, dtype, rule))


def context_bytes(groups: Iterable[LayerGroup], dtype: KvDtype, tokens: int, rule: RuleName = "minimal") -> int:
    """Return the bytes of one sequence of a given length, exact.

    bytes(n) = sum over groups of slope x n + min(n, W) x layers x token_bytes + state

    Parameters
    ----------
    groups
        The model's layer groups.
    dtype
        KV dtype.
    tokens
        Length of the context [tokens].
    rule
        Name of the retention rule.

    Returns
    -------
    int
        KV bytes of the context [B].

    Notes
    -----
    The model counted once: no paging, no copies on tensor-parallel ranks, no draft model.

    References
    ----------
    43 tiny models measured with torch 2.13.0 on CPU and transformers 5.24.0 at 13 and 64 tokens.

    Examples
    --------
    >>> from kvplan.schema.model import FullAttention
    >>> groups = (FullAttention(layers=18, kv_heads=8, key_dim=64, value_dim=64),
    ...           SlidingAttention(layers=18, kv_heads=8, key_dim=64, value_dim=64, window_tokens=128))
    >>> context_bytes(groups, "bf16", 131_072)
    4836556800
    """
    return sum(term.context_bytes(tokens) for term in layer_terms(groups, dtype, rule))


def _compressed_term(group: CompressedAttention, entry_bytes: int, retention: RetentionRule) -> Term:
    """Finished entries, and under a rule that counts them the buffers of the entry in the making."""
    if not retention.compression_buffers:
        return Term(group, entry_bytes, tokens_per_entry=group.ratio)
    overlapping = group.index_dim > 0
    token_elements = _BUFFERED_VECTORS * (group.entry_dim + group.index_dim)
    token_buffer_bytes = group.layers * token_elements * _BUFFER_BYTES_PER_ELEMENT
    return Term(
        group,
        entry_bytes,
        tokens_per_entry=group.ratio,
        pending_bytes=token_buffer_bytes * (2 if overlapping else 1),
        overlap_bytes=token_buffer_bytes * group.ratio if overlapping else 0,
    )


def _recurrent_term(group: Recurrent, retention: RetentionRule) -> Term:
    """Return the state with the convolution columns that the rule keeps; the term's group shows them."""
    if group.conv_columns and retention.extra_conv_columns:
        columns = group.conv_columns + retention.extra_conv_columns
        elements = group.conv_elements * columns // group.conv_columns
        group = group.model_copy(update={"conv_elements": elements, "conv_columns": columns})
    return Term(group, constant_bytes=group.layers * state_bytes(group))
