"""Weights of one layer's attention or recurrent mixer, by the kind of mixer that a model type has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from kvplan.core.hf.gqa import falcon_kv_heads
from kvplan.core.hf.keys import HEADS, KV_HEADS, Fields
from kvplan.core.hf.params_deepseek_v4 import shared_key_layer
from kvplan.core.hf.params_formulas import (
    gated_deltanet_params,
    gqa_params,
    indexer_params,
    kimi_delta_params,
    mamba2_params,
    mla_params,
)
from kvplan.core.hf.params_keys import block_kinds, head_dim, hidden_size, layer_entry, shares_cache

if TYPE_CHECKING:
    from collections.abc import Mapping


_KDA = ("linear_num_heads", "linear_head_dim", "linear_conv_kernel_dim")
_PUBLISHED_KDA = ("num_heads", "head_dim", "short_conv_kernel_size")
"""Keys of heads, head width and convolution of KDA layers, in transformers and as published."""


class Mixer(Protocol):
    """Counts one layer's mixer [1]."""

    def __call__(self, fields: Fields, layer: int, /) -> int:
        """Return the parameters of the layer with this index, from 0."""


def _grouped(fields: Fields, _layer: int) -> int:
    """Count grouped-query attention; absent key and value heads mean one a query head."""
    kv_heads = fields.count(*KV_HEADS, default=fields.count(*HEADS))
    return gqa_params(hidden_size(fields), fields.count(*HEADS), kv_heads, head_dim(fields), head_dim(fields))


def _falcon(fields: Fields, _layer: int) -> int:
    """Count Falcon's attention, whose key and value heads depend on the generation."""
    kv_heads = falcon_kv_heads(fields)
    return gqa_params(hidden_size(fields), fields.count(*HEADS), kv_heads, head_dim(fields), head_dim(fields))


def _latent(fields: Fields, layer: int) -> int:
    """Count multi-head latent attention and the layer's own indexer, if any."""
    hidden, q_rank = hidden_size(fields), fields.count("q_lora_rank", default=0, minimum=0)
    attention = mla_params(
        hidden,
        fields.count(*HEADS),
        q_rank=q_rank,
        kv_rank=fields.count("kv_lora_rank"),
        nope_dim=fields.count("qk_nope_head_dim"),
        rope_dim=fields.count("qk_rope_head_dim", minimum=0),
        value_dim=fields.count("v_head_dim"),
    )
    if not fields.has("index_head_dim") or layer_entry(fields, "indexer_types", layer) == "shared":
        return attention
    return attention + indexer_params(
        hidden, q_rank or hidden, fields.count("index_n_heads"), fields.count("index_head_dim")
    )


def _is_linear(fields: Fields, layer: int) -> bool:
    """Tell whether a layer is recurrent, by the list of kinds or by the interval of full attention."""
    kind = layer_entry(fields, "layer_types", layer)
    if kind is not None:
        return kind == "linear_attention"
    return (layer + 1) % fields.count("full_attention_interval") != 0


def _deltanet(fields: Fields, layer: int) -> int:
    """Count a gated DeltaNet layer, or the gated attention of every n-th layer (Qwen3-Next, Qwen3.5)."""
    hidden = hidden_size(fields)
    if not _is_linear(fields, layer):
        head_dim = fields.count("head_dim")
        return gqa_params(
            hidden, fields.count(*HEADS), fields.count("num_key_value_heads"), head_dim, head_dim, gated=True
        )
    return gated_deltanet_params(
        hidden,
        key_heads=fields.count("linear_num_key_heads"),
        key_dim=fields.count("linear_key_head_dim"),
        value_heads=fields.count("linear_num_value_heads"),
        value_dim=fields.count("linear_value_head_dim"),
        kernel=fields.count("linear_conv_kernel_dim"),
    )


def _kimi_delta(fields: Fields, layer: int) -> int:
    """Count a KDA layer or a latent attention layer, in the published spelling or that of transformers."""
    published = fields.section("linear_attn_config")
    linear = _is_published_kda(published, layer) if published else _kind(fields, layer) == "linear_attention"
    if not linear:
        return _latent(fields, layer)
    heads, dim, kernel = _PUBLISHED_KDA if published else _KDA
    part = published or fields
    return kimi_delta_params(hidden_size(fields), part.count(heads), part.count(dim), kernel=part.count(kernel))


def _is_published_kda(part: Fields, layer: int) -> bool:
    """Tell whether a layer is among `kda_layers`, which counts layers from 1."""
    listed = part.numbers("kda_layers")
    if listed is None:
        part.missing("kda_layers")
        return False
    return layer + 1 in listed


def _kind(fields: Fields, layer: int) -> object:
    """Return a layer's kind from `layer_types`, which must be there."""
    return layer_entry(fields, "layer_types", layer, required=True)


def _nemotron_h(fields: Fields, layer: int) -> int:
    """Count a NemotronH block's mixer; MLP and expert blocks have none."""
    kind = block_kinds(fields)[layer]
    if kind == "attention":
        return _grouped(fields, layer)
    if kind != "mamba":
        return 0
    return mamba2_params(
        hidden_size(fields),
        fields.count("mamba_num_heads"),
        fields.count("mamba_head_dim"),
        groups=fields.count("n_groups"),
        state=fields.count("ssm_state_size"),
        kernel=fields.count("conv_kernel"),
    )


def _granite_hybrid(fields: Fields, layer: int) -> int:
    """Count a Granite 4 layer's mixer: Mamba-2 or attention."""
    if _kind(fields, layer) != "mamba":
        return _grouped(fields, layer)
    return mamba2_params(
        hidden_size(fields),
        fields.count("mamba_n_heads"),
        fields.count("mamba_d_head"),
        groups=fields.count("mamba_n_groups"),
        state=fields.count("mamba_d_state"),
        kernel=fields.count("mamba_d_conv"),
    )


def _gemma4(fields: Fields, layer: int) -> int:
    """Count a Gemma 4 layer: own dimensions on global layers, no key and value where the cache is shared."""
    full = _kind(fields, layer) == "full_attention"
    key_is_value = full and fields.flag("attention_k_eq_v", default=False)
    head_dim = fields.count("global_head_dim", "head_dim") if full else fields.count("head_dim")
    kv_heads = fields.count("num_key_value_heads")
    if key_is_value:
        kv_heads = fields.count("num_global_key_value_heads", default=kv_heads)
    hidden, inputs = hidden_size(fields), fields.count("hidden_size_per_layer_input", default=0, minimum=0)
    attention = gqa_params(hidden, fields.count(*HEADS), kv_heads, head_dim, head_dim)
    own = 1 if key_is_value else 2
    if shares_cache(fields, layer):
        own = 0
    # Beside attention: gate, projection and this layer's share of the model projection of per-layer inputs.
    return attention - (2 - own) * hidden * kv_heads * head_dim + 3 * hidden * inputs


def _mimo_v2(fields: Fields, layer: int) -> int:
    """Count a MiMo-V2 layer: window layers have head counts and dimensions of their own."""
    prefix = "swa_" if layer_entry(fields, "hybrid_layer_pattern", layer, required=True) else ""
    return gqa_params(
        hidden_size(fields),
        fields.count(f"{prefix}num_attention_heads", "num_attention_heads"),
        fields.count(f"{prefix}num_key_value_heads"),
        fields.count(f"{prefix}head_dim"),
        fields.count(f"{prefix}v_head_dim"),
    )


def _minimax_m3(fields: Fields, layer: int) -> int:
    """Count a MiniMax-M3 layer: grouped queries, and queries and key of the indexer on sparse layers."""
    sparse = fields.section("sparse_attention_config")
    if sparse is None:
        fields.missing("sparse_attention_config")
        return 0
    indexer = 0
    if layer_entry(sparse, "sparse_attention_freq", layer, required=True):
        heads, key_dim = sparse.count("sparse_num_index_heads"), sparse.count("sparse_index_dim")
        indexer = hidden_size(fields) * (heads + 1) * key_dim
    return _grouped(fields, layer) + indexer


MIXERS: Mapping[str, Mixer] = {
    "grouped": _grouped,
    "falcon": _falcon,
    "latent": _latent,
    "deltanet": _deltanet,
    "kimi-delta": _kimi_delta,
    "nemotron-h": _nemotron_h,
    "granite-hybrid": _granite_hybrid,
    "gemma4": _gemma4,
    "mimo-v2": _mimo_v2,
    "minimax-m3": _minimax_m3,
    "shared-key": shared_key_layer,
}
"""How to count a layer's mixer, by kind."""
