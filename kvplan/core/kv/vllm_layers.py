"""One kind of layer as vLLM's KV cache manager sees it: the page of a block, and the blocks that a request takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import lcm
from typing import TYPE_CHECKING, Literal

from kvplan.core.arithmetic import ceil_div
from kvplan.core.kv.widths import CONV_BYTES_PER_ELEMENT, HeadedAttention, engine_dtype, state_bytes, token_bytes
from kvplan.schema.model import (
    ChunkedAttention,
    CompressedAttention,
    CrossAttention,
    Indexer,
    LatentAttention,
    NoCache,
    Recurrent,
    SharedCache,
    SharedKeyWindow,
    SlidingAttention,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kvplan.core.kv.vllm_setup import VllmSetup
    from kvplan.schema.model import LayerGroup
    from kvplan.schema.request import KvDtype

LayerKind = Literal["full", "window", "chunk", "cross", "state"]

_ALIGNMENT_TOKENS, _LATENT_ALIGNMENT_TOKENS = 16, 64
"""Attention kernels take blocks in multiples of these (`platforms/interface.py` of vLLM 0.11 to 0.24)."""


@dataclass(frozen=True, slots=True)
class LayerSpec:
    """Layers that vLLM would describe by one `KVCacheSpec`, on one GPU.

    blocks(n) = constant_blocks, or where that is 0, ceil(min(n, limit_tokens) / block_tokens) + extra_blocks.

    `page_bytes` is one block of one layer; `limit_tokens` is None for layers that keep every token.
    """

    kind: LayerKind
    label: str
    layers: int
    page_bytes: int
    block_tokens: int
    limit_tokens: int | None = None
    extra_blocks: int = 0
    constant_blocks: int = 0

    def blocks(self, tokens: int) -> int:
        """Blocks that a request of so many tokens takes in one group of such layers [1]."""
        if self.constant_blocks:
            return self.constant_blocks
        kept_tokens = tokens if self.limit_tokens is None else min(tokens, self.limit_tokens)
        return ceil_div(kept_tokens, self.block_tokens) + self.extra_blocks

    @property
    def saturated_blocks(self) -> int:
        """Blocks beyond which a group of such layers does not grow [1]; 0 for layers that keep every token."""
        return 0 if self.kind == "full" else self.blocks(self.limit_tokens or 0)

    @property
    def text(self) -> str:
        """The blocks of a request of n tokens, as a formula with its numbers."""
        if self.constant_blocks:
            return f"{self.constant_blocks:,}"
        kept = "n" if self.limit_tokens is None else f"min(n, {self.limit_tokens:,})"
        extra = f" + {self.extra_blocks}" if self.extra_blocks else ""
        return f"(ceil({kept} / {self.block_tokens:,}){extra})"


def rank_heads(group: LayerGroup, tp: int) -> int | None:
    """Return the KV heads that one rank of a tensor-parallel engine keeps.

    heads = max(1, kv_heads // tp)

    Parameters
    ----------
    group
        The layer group.
    tp
        Tensor-parallel ranks [1].

    Returns
    -------
    int or None
        KV heads a rank [1]; None for kinds without heads, of which every rank keeps a full copy.

    Notes
    -----
    Beyond one head a rank the heads are replicated. vLLM refuses rank counts that do not divide the heads.

    References
    ----------
    vLLM 0.33.0 `get_num_kv_heads` in `config/model.py`; kaito-project/kaito#2132 (a latent is not divided).

    Examples
    --------
    >>> from kvplan.schema.model import FullAttention
    >>> qwen = FullAttention(layers=94, kv_heads=4, key_dim=128, value_dim=128)
    >>> deepseek = LatentAttention(layers=61, latent_dim=512, rope_dim=64)
    >>> [rank_heads(qwen, tp) for tp in (1, 4, 8)], rank_heads(deepseek, 8)
    ([4, 1, 1], None)
    """
    return max(1, group.kv_heads // tp) if isinstance(group, HeadedAttention) else None


def layer_specs(groups: Sequence[LayerGroup], dtype: KvDtype, setup: VllmSetup) -> tuple[LayerSpec, ...]:
    """Return what vLLM keeps of each kind of layer on one GPU, before it unifies pages and splits into groups.

    page = block tokens x token_bytes(KV heads of the rank); window limit = W - 1 + batched tokens, and one block more;
    chunk limit = chunk + batched tokens; states a request = 1, from 0.20.0 on 2 with prefix caching, and 1 a
    speculative token

    Parameters
    ----------
    groups
        The model's layer groups; equal ones are merged.
    dtype
        KV dtype.
    setup
        The engine.

    Returns
    -------
    tuple of LayerSpec
        Pages [B], blocks [tokens] and limits [tokens], in the order of the groups.

    Notes
    -----
    Beside recurrent layers the attention block grows until its page holds one layer's state. A DSA indexer beside
    latent layers is kept at dim + 4 bytes whatever the KV dtype. States are divided evenly over the ranks. Attention
    back ends that need blocks of 32, 64 or 128 tokens are not told apart; pass their block as `block_tokens`. That the
    second state came with 0.20.0 is assumed: logs of 0.19.0 have one, of 0.20.2rc1 two.

    References
    ----------
    vLLM 0.33.0 `v1/kv_cache_interface.py` (pages and limits), `platforms/interface.py` (attention block of hybrids);
    vllm-project/vllm#28228, #40691 and noonghunna/club-3090#142, #652 (states a request).

    Examples
    --------
    Qwen3.6-35B-A3B with fp8 KV on one GPU (noonghunna/club-3090#652: blocks of 2,096 tokens):

    >>> from kvplan.core.kv.vllm_setup import VllmSetup
    >>> from kvplan.schema.model import FullAttention
    >>> attention = FullAttention(layers=10, kv_heads=2, key_dim=256, value_dim=256)
    >>> state = Recurrent(layers=30, conv_elements=24_576, conv_columns=3, state_elements=524_288)
    >>> [(s.block_tokens, s.page_bytes) for s in layer_specs((attention, state), "fp8", VllmSetup("0.24.0"))]
    [(2096, 2146304), (2096, 2146304)]
    """
    rank = _Rank(tuple(groups), dtype, setup)
    merged: dict[LayerSpec, int] = {}
    for group, spec in rank.specs():
        merged[spec] = merged.get(spec, 0) + group.layers
    return tuple(replace(spec, layers=layers) for spec, layers in merged.items())


@dataclass(frozen=True, slots=True)
class _Rank:
    """The layers of one GPU."""

    groups: tuple[LayerGroup, ...]
    dtype: KvDtype
    setup: VllmSetup

    def specs(self) -> Iterator[tuple[LayerGroup, LayerSpec]]:
        """Describe each group that keeps anything, with the layers left at 0 so that equal ones compare equal."""
        block_tokens = self.block_tokens()
        for group in self.groups:
            empty = isinstance(group, CrossAttention) and not group.source_tokens
            if not empty and not isinstance(group, SharedCache | NoCache):
                yield group, self.spec(group, block_tokens)

    def spec(self, group: LayerGroup, block_tokens: int) -> LayerSpec:
        """Describe one group by its kind."""
        page_bytes = block_tokens * self.token_bytes(group)
        batched_tokens = self.setup.max_batched_tokens
        match group:
            case SlidingAttention() | SharedKeyWindow():
                # A step needs the window before its first token and all tokens of its own; one block more, because the
                # window may begin inside a block.
                limit = group.window_tokens - 1 + batched_tokens
                return LayerSpec("window", group.kind, 0, page_bytes, block_tokens, limit, extra_blocks=1)
            case ChunkedAttention():
                return LayerSpec("chunk", group.kind, 0, page_bytes, block_tokens, group.chunk_tokens + batched_tokens)
            case CrossAttention():
                blocks = ceil_div(group.source_tokens, block_tokens)
                return LayerSpec("cross", group.kind, 0, page_bytes, block_tokens, constant_blocks=blocks)
            case CompressedAttention():
                # A page holds whole entries, and as many tokens as whole blocks do.
                whole_tokens = lcm(block_tokens, group.ratio)
                page_bytes = whole_tokens // group.ratio * self.token_bytes(group)
                return LayerSpec("full", group.kind, 0, page_bytes, whole_tokens)
            case Recurrent():
                states = self.setup.states
                return LayerSpec("state", group.kind, 0, self.state_bytes(group), block_tokens, constant_blocks=states)
            case _:
                return LayerSpec("full", group.kind, 0, page_bytes, block_tokens)

    def token_bytes(self, group: LayerGroup) -> int:
        """Bytes of one token in one layer of this rank [B]."""
        dtype = engine_dtype(group, self.groups, self.dtype)
        return token_bytes(group, dtype, kv_heads=rank_heads(group, self.setup.tp))

    def state_bytes(self, group: Recurrent) -> int:
        """Bytes of one layer's state on this rank, with a convolution column for each speculative token [B]."""
        columns = group.conv_elements // group.conv_columns if group.conv_columns else 0
        speculative_bytes = columns * self.setup.speculative_tokens * CONV_BYTES_PER_ELEMENT
        return ceil_div(state_bytes(group) + speculative_bytes, self.setup.tp)

    def block_tokens(self) -> int:
        """Tokens of an attention block, grown until its page holds the largest state [tokens]."""
        states = [self.state_bytes(group) for group in self.groups if isinstance(group, Recurrent)]
        widths = [self.token_bytes(group) for group in self.groups if not isinstance(group, Indexer | CrossAttention)]
        if not states or not any(widths):
            return self.setup.block_tokens
        alignment_tokens = _LATENT_ALIGNMENT_TOKENS if self.has_latent else _ALIGNMENT_TOKENS
        # All pages of the pool are equal, so an attention page must grow to hold the largest state.
        steps = ceil_div(max(states), alignment_tokens * max(widths))
        return max(self.setup.block_tokens, alignment_tokens * steps)

    @property
    def has_latent(self) -> bool:
        """Whether the model caches a latent (MLA)."""
        return any(isinstance(group, LatentAttention) for group in self.groups)
