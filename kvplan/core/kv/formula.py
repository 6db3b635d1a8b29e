"""The sum behind an accounting, written out with the model's numbers: one line a layer group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.kv.terms import layer_terms
from kvplan.core.kv.widths import CONV_BYTES_PER_ELEMENT, VECTOR_FORMATS, index_bytes, token_bytes, vector_bytes
from kvplan.schema.model import (
    ChunkedAttention,
    CompressedAttention,
    CrossAttention,
    FullAttention,
    Indexer,
    LatentAttention,
    NoCache,
    Recurrent,
    SharedCache,
    SharedKeyWindow,
    SlidingAttention,
)
from kvplan.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvplan.core.kv.rules import RuleName
    from kvplan.core.kv.terms import Term
    from kvplan.core.kv.widths import HeadedAttention
    from kvplan.schema.model import LayerGroup
    from kvplan.schema.request import KvDtype


def layer_factors(group: LayerGroup, dtype: KvDtype, *, kv_heads: int | None = None, tp: int = 1) -> str:
    """Write the factors of what the layers of one group keep per token, entry or sequence.

    layers x kv_heads x (key_dim + value_dim) x bytes per element, and its like for the other kinds

    Parameters
    ----------
    group
        The layer group.
    dtype
        KV dtype.
    kv_heads
        KV heads to show instead of the group's own [1].
    tp
        Ranks that the shown KV heads are spread over [1]; named only where the heads are not the group's own.

    Returns
    -------
    str
        The factors in ASCII [B].

    Notes
    -----
    A dtype with scales is shown as the bytes of a key and a value vector, scales included.

    References
    ----------
    The factors are those of `kvplan.core.kv.widths.token_bytes`.

    Examples
    --------
    >>> group = FullAttention(layers=18, kv_heads=8, key_dim=64, value_dim=64)
    >>> layer_factors(group, "bf16")
    '18 full layers x 8 KV heads x (64 + 64) x 2 B'
    >>> layer_factors(group, "int8", kv_heads=16, tp=16)
    '18 full layers x 16 heads (8 on 16 ranks) x (68 + 68) B'
    """
    layers = counted(group.layers, f"{group.kind} layer")
    match group:
        case FullAttention() | SlidingAttention() | ChunkedAttention() | CrossAttention():
            return f"{layers} x {_heads(group, kv_heads, tp)} x {_key_and_value(group, dtype)}"
        case LatentAttention():
            plain = f"({group.latent_dim:,} + {group.rope_dim:,})"
            return f"{layers} x {_plain_or_bytes(plain, group.latent_dim + group.rope_dim, group, dtype)}"
        case Indexer() | SharedKeyWindow():
            return f"{layers} x {_plain_or_bytes(f'{group.key_dim:,}', group.key_dim, group, dtype)}"
        case CompressedAttention():
            return f"{layers} x {_entry(group, dtype)}"
        case Recurrent():
            state = f"{group.state_elements:,} x {group.state_bytes_per_element} B"
            return f"{layers} x ({group.conv_elements:,} x {CONV_BYTES_PER_ELEMENT} B + {state})"
        case SharedCache() | NoCache():
            return f"{layers} x 0 B"


def term_line(term: Term, dtype: KvDtype, *, kv_heads: int | None = None, tp: int = 1, copies: int = 1) -> str:
    """Write one term with its result: a rate for a growing term, bytes for a window or a state.

    factors [x copies] [/ tokens per entry] [x min(n, limit)] = result

    Parameters
    ----------
    term
        The term, with heads and copies already in its bytes.
    dtype
        KV dtype.
    kv_heads
        KV heads to show instead of the group's own [1].
    tp
        Ranks that the shown KV heads are spread over [1].
    copies
        Ranks that keep the whole of it [1].

    Returns
    -------
    str
        The line in ASCII, [B/token] for a growing term and [B] otherwise.

    Notes
    -----
    At most 100 characters for models of today's size.

    References
    ----------
    The equation is that of `kvplan.core.kv.terms.Term`.

    Examples
    --------
    >>> from kvplan.core.kv.terms import layer_term
    >>> group = SlidingAttention(layers=18, kv_heads=8, key_dim=64, value_dim=64, window_tokens=128)
    >>> term_line(layer_term(group, "bf16"), "bf16")
    '18 sliding layers x 8 KV heads x (64 + 64) x 2 B x min(n, 128) = 4,718,592 B'
    """
    factors = layer_factors(term.group, dtype, kv_heads=kv_heads, tp=tp)
    if copies > 1:
        factors = f"{factors} x {copies} ranks"
    if isinstance(term.group, CrossAttention):
        return f"{factors} x {term.group.source_tokens:,} tokens = {term.constant_bytes:,} B"
    if term.limit_tokens is not None:
        return f"{factors} x min(n, {term.limit_tokens:,}) = {term.fixed_bytes:,} B"
    if isinstance(term.group, Recurrent) and not term.entry_bytes:
        return f"{factors} = {term.constant_bytes:,} B"
    return f"{factors}{_per_entry(term)} = {_decimal(term.slope_bytes_per_token)} B/token{_buffers(term)}"


def formula_lines(groups: Iterable[LayerGroup], dtype: KvDtype, rule: RuleName = "minimal") -> tuple[str, ...]:
    """Write the whole sum of a model counted once.

    bytes(n) = sum of the lines; a `B/token` line counts n times

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
    tuple of str
        One line a layer group, [B/token] or [B].

    Notes
    -----
    Accountings that add copies or checkpoints write their own lines with `term_line`.

    References
    ----------
    The sum is that of `kvplan.core.kv.terms.context_bytes`.

    Examples
    --------
    >>> formula_lines([LatentAttention(layers=61, latent_dim=512, rope_dim=64)], "bf16")
    ('61 latent layers x (512 + 64) x 2 B = 70,272 B/token',)
    """
    return tuple(term_line(term, dtype) for term in layer_terms(groups, dtype, rule))


def _heads(group: HeadedAttention, kv_heads: int | None, tp: int) -> str:
    """KV heads, and how they came about where tensor parallelism multiplies them."""
    if kv_heads is None or kv_heads == group.kv_heads:
        return f"{group.kv_heads:,} KV heads"
    return f"{kv_heads:,} heads ({group.kv_heads:,} on {counted(tp, 'rank')})"


def _key_and_value(group: HeadedAttention, dtype: KvDtype) -> str:
    """Dimensions times width, or the bytes of both vectors where they carry scales."""
    if VECTOR_FORMATS[dtype].plain:
        return f"({group.key_dim:,} + {group.value_dim:,}) x {_element_bytes(dtype)} B"
    return f"({vector_bytes(group.key_dim, dtype):,} + {vector_bytes(group.value_dim, dtype):,}) B"


def _plain_or_bytes(plain: str, dim: int, group: LayerGroup, dtype: KvDtype) -> str:
    """Dimensions times width where the layout is nothing else, otherwise the bytes of the entry."""
    entry_bytes = token_bytes(group, dtype)
    if VECTOR_FORMATS[dtype].plain and entry_bytes == dim * _element_bytes(dtype):
        return f"{plain} x {_element_bytes(dtype)} B"
    return f"{entry_bytes:,} B"


def _entry(group: CompressedAttention, dtype: KvDtype) -> str:
    """Entry and indexer key of a compressed layer."""
    if not group.index_dim:
        return _plain_or_bytes(f"{group.entry_dim:,}", group.entry_dim, group, dtype)
    elements = group.entry_dim + group.index_dim
    key_bytes = index_bytes(group.index_dim, dtype)
    if token_bytes(group, dtype) == elements * _element_bytes(dtype):
        return f"({group.entry_dim:,} + {group.index_dim:,}) x {_element_bytes(dtype)} B"
    return f"({token_bytes(group, dtype) - key_bytes:,} + {key_bytes:,}) B"


def _element_bytes(dtype: KvDtype) -> int:
    """Return the bytes of one element of a plain format."""
    return VECTOR_FORMATS[dtype].element_bits // 8


def _per_entry(term: Term) -> str:
    """Divisor of a term that adds an entry, or a state checkpoint, every so many tokens."""
    if isinstance(term.group, Recurrent):
        return f" / {term.tokens_per_entry:,} tokens"
    return f" / {term.tokens_per_entry:,}" if term.tokens_per_entry > 1 else ""


def _buffers(term: Term) -> str:
    """Buffers of compressed layers under a rule that counts them."""
    overlap = f" + {term.overlap_bytes:,} B" if term.overlap_bytes else ""
    pending = f" + {term.pending_bytes:,} B x (n mod {term.tokens_per_entry:,})" if term.pending_bytes else ""
    return overlap + pending


def _decimal(value: float) -> str:
    """Write a rate with at most two decimals."""
    return f"{value:,.2f}".rstrip("0").rstrip(".")
