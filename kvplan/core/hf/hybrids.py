"""Linear attention and short convolutions between attention layers: Qwen3.5, Kimi Linear, MiniMax-01, LFM2."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.hf.heads import head_dims
from kvplan.core.hf.keys import HEADS, HIDDEN, MAX_KERNEL, MAX_LAYERS
from kvplan.core.hf.mla import latent_layers
from kvplan.core.hf.patterns import (
    absent_pattern,
    build_groups,
    every_nth_full,
    flagged_kinds,
    full_where,
    layer_count,
    listed_kinds,
)
from kvplan.core.hf.states import (
    delta_net_state,
    kda_state,
    lightning_state,
    short_conv_state,
    state_bytes_per_element,
)

if TYPE_CHECKING:
    from kvplan.core.hf.keys import Fields
    from kvplan.core.hf.patterns import LayerKind
    from kvplan.schema.model import LayerGroup

_DELTA_NET_INTERVAL = 4


def read_delta_net(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read Qwen3-Next and Qwen3.5: every fourth layer is full attention, the others are gated DeltaNet.

    elements of a DeltaNet layer = (2 x kh x kd + vh x vd) x (k - 1) + vh x vd x kd

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Recurrent layers and full attention. Dimensions in [elements].

    Notes
    -----
    `layer_types` decides, else `full_attention_interval`, else 4.

    References
    ----------
    transformers 5.24.0 Qwen3NextConfig and Qwen3_5TextConfig; Qwen/Qwen3.5-27B `config.json` as kept in
    ai-dynamo/aiconfigurator@095f58a `model_configs`.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> config = {"num_hidden_layers": 64, "num_key_value_heads": 4, "head_dim": 256, "full_attention_interval": 4,
    ...           "linear_num_key_heads": 16, "linear_key_head_dim": 128, "linear_num_value_heads": 48,
    ...           "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4}
    >>> [(group.kind, group.layers) for group in read_delta_net(Fields(config))]
    [('recurrent', 48), ('full', 16)]
    """
    kinds = listed_kinds(fields, "layer_types", ("full", "recurrent"))
    if kinds is None:
        interval = fields.count("full_attention_interval", default=_DELTA_NET_INTERVAL)
        kinds = every_nth_full(layer_count(fields), interval, "recurrent")
    return build_groups(
        kinds,
        {
            "full": head_dims(fields).full,
            "recurrent": lambda layers: delta_net_state(
                layers,
                key_heads=fields.count("linear_num_key_heads"),
                key_dim=fields.count("linear_key_head_dim"),
                value_heads=fields.count("linear_num_value_heads"),
                value_dim=fields.count("linear_value_head_dim"),
                kernel=fields.count("linear_conv_kernel_dim", maximum=MAX_KERNEL),
                state_bytes=state_bytes_per_element(fields),
            ),
        },
    )


def read_kimi_linear(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read Kimi Linear and Kimi-K3: latent attention in listed layers, Kimi delta attention in the others.

    elements = MLA layers x (kv_lora_rank + qk_rope_head_dim) x n + KDA layers x (3 x H x D x (k - 1) + H x D^2)

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Recurrent layers and latent attention. Dimensions in [elements].

    Notes
    -----
    `linear_attn_config.full_attn_layers` counts from 1. Kimi-Linear-48B has 7 latent layers; the class default of
    transformers has 6 and is not used.

    References
    ----------
    transformers 5.24.0 KimiLinearConfig; vllm-project/vllm#28228 (20 KDA and 7 MLA layers).

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> config = {"num_hidden_layers": 4, "kv_lora_rank": 512, "qk_rope_head_dim": 64, "linear_attn_config":
    ...           {"num_heads": 32, "head_dim": 128, "short_conv_kernel_size": 4, "full_attn_layers": [4]}}
    >>> [(group.kind, group.layers) for group in read_kimi_linear(Fields(config))]
    [('recurrent', 3), ('latent', 1)]
    """
    inner = fields.section("linear_attn_config") or fields
    kinds = listed_kinds(fields, "layer_types", ("full", "recurrent"))
    if kinds is None:
        kinds = _kda_kinds(inner, layer_count(fields))
    heads = inner.count("num_heads", "linear_num_heads")
    head_dim = inner.count("linear_head_dim") if inner is fields else inner.count("head_dim")
    kernel = inner.count("short_conv_kernel_size", "linear_conv_kernel_dim", maximum=MAX_KERNEL)
    return build_groups(
        kinds,
        {
            "full": lambda layers: (latent_layers(fields, layers),),
            "recurrent": lambda layers: kda_state(layers, heads=heads, head_dim=head_dim, kernel=kernel),
        },
    )


def read_lightning(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read MiniMax-Text-01 and M1: lightning attention with full attention in between.

    elements of a lightning layer = H x D^2

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Full attention and recurrent layers.

    Notes
    -----
    `attn_type_list` holds 1 for full and 0 for lightning attention; transformers' own files have `layer_types`.

    References
    ----------
    transformers 5.24.0 MiniMaxConfig; MiniMaxAI/MiniMax-Text-01 `config.json`.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> config = {"num_hidden_layers": 4, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128,
    ...           "attn_type_list": [0, 0, 0, 1]}
    >>> [(group.kind, group.layers) for group in read_lightning(Fields(config))]
    [('recurrent', 3), ('full', 1)]
    """
    kinds = listed_kinds(fields, "layer_types", ("full", "recurrent"))
    if kinds is None:
        kinds = flagged_kinds(fields, "attn_type_list", {0: "recurrent", 1: "full"})
    if kinds is None:
        kinds = absent_pattern(fields, ("full", "recurrent"), "layer_types", "attn_type_list")
    dims, heads = head_dims(fields), fields.count(*HEADS)
    return build_groups(
        kinds,
        {
            "full": dims.full,
            "recurrent": lambda layers: lightning_state(layers, heads=heads, head_dim=dims.key_dim),
        },
    )


def read_short_conv(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read LFM2: short convolutions with full attention in between.

    elements of a convolution layer = hidden x (k - 1)

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Recurrent layers, whose state is the convolution's, and full attention. Dimensions in [elements].

    Notes
    -----
    `full_attn_idxs` counts from 0.

    References
    ----------
    transformers 5.24.0 Lfm2Config and Lfm2MoeConfig; gpustack/gguf-parser-go#31 (zero KV counted).

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> config = {"num_hidden_layers": 3, "hidden_size": 2048, "num_attention_heads": 32, "num_key_value_heads": 8,
    ...           "conv_L_cache": 3, "full_attn_idxs": [2]}
    >>> [(group.kind, group.layers) for group in read_short_conv(Fields(config))]
    [('recurrent', 2), ('full', 1)]
    """
    kinds = listed_kinds(fields, "layer_types", ("full", "conv"))
    if kinds is None:
        layers, attention = layer_count(fields), fields.numbers("full_attn_idxs")
        kinds = full_where(layers, attention or (), "conv")
        if attention is None:
            kinds = absent_pattern(fields, ("full", "conv"), "layer_types", "full_attn_idxs")
    hidden, kernel = fields.count(*HIDDEN), fields.count("conv_L_cache", maximum=MAX_KERNEL)
    dims = head_dims(fields)
    return build_groups(
        kinds,
        {"full": dims.full, "conv": lambda layers: short_conv_state(layers, hidden=hidden, kernel=kernel)},
    )


def _kda_kinds(inner: Fields, layers: int) -> tuple[LayerKind, ...]:
    """Read the layers with latent attention, counted from 1; every layer must be in one of the two lists."""
    full, linear = inner.numbers("full_attn_layers"), inner.numbers("kda_layers")
    if full is None:
        return absent_pattern(inner, ("full", "recurrent"), "full_attn_layers")
    beyond = [layer for layer in (*full, *(linear or ())) if not 1 <= layer <= min(layers, MAX_LAYERS)]
    if beyond:
        inner.problem("full_attn_layers", f"{beyond[0]} is not a layer", allowed=f"1 to {layers}")
    # The published lists count layers from 1 and must part the layers between them.
    chosen = set(full)
    if linear is not None and (len(chosen | set(linear)) < layers or chosen & set(linear)):
        inner.problem("kda_layers", "and full_attn_layers do not name each layer once", allowed=f"1 to {layers}")
    return full_where(layers, (layer - 1 for layer in full), "recurrent")
