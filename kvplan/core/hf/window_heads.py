"""Model types whose windowed or chunked layers differ from the full ones in more than the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.hf.heads import HeadDims, attention_makers, head_dims, window_tokens
from kvplan.core.hf.keys import HEAD_DIM, KV_HEADS
from kvplan.core.hf.patterns import (
    absent_pattern,
    build_groups,
    every_nth_full,
    flagged_kinds,
    full_where,
    layer_count,
    listed_kinds,
)

if TYPE_CHECKING:
    from kvplan.core.hf.keys import Fields
    from kvplan.core.hf.patterns import LayerKind, Maker
    from kvplan.schema.model import LayerGroup

_MIMO_V2_SLIDING_HEADS = 2
"""MiMo-V2's sliding layers have twice the KV heads unless the file says otherwise."""
_INKLING_INTERVAL = 6


def read_llama4(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read Llama 4: layers with rotary positions attend within a chunk, the others to everything.

    elements of a chunked layer = kv_heads x (key_dim + value_dim) x min(n, chunk)

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Chunked and full attention. Dimensions in [elements], windows in [tokens].

    Notes
    -----
    `no_rope_layers` holds 1 for a layer *with* rotary positions; an empty list means 3 of 4. A chunk of null is full
    attention throughout.

    References
    ----------
    transformers 5.24.0 Llama4TextConfig; meta-llama/Llama-4-Scout-17B-16E-Instruct `config.json`.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> config = {"num_hidden_layers": 48, "num_key_value_heads": 8, "head_dim": 128, "attention_chunk_size": 8192,
    ...           "no_rope_layers": []}
    >>> [(group.kind, group.layers) for group in read_llama4(Fields(config))]
    [('chunked', 36), ('full', 12)]
    """
    dims = head_dims(fields)
    kinds = listed_kinds(fields, "layer_types", ("full", "chunked"))
    if kinds is None and fields.numbers("no_rope_layers"):
        kinds = flagged_kinds(fields, "no_rope_layers", {1: "chunked", 0: "full"})
    if kinds is None:
        kinds = every_nth_full(layer_count(fields), fields.count("no_rope_layer_interval", default=4), "chunked")
    chunk = ("attention_chunk_size",)
    makers: dict[LayerKind, Maker] = {
        "full": dims.full,
        "chunked": lambda layers: dims.chunked(layers, window_tokens(fields, chunk, required=True)),
    }
    return build_groups(kinds, makers)


def read_mimo_v2(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read MiMo-V2, whose sliding layers have heads of their own and whose values are shorter than the keys.

    elements a token = kv_heads x (key_dim + value_dim), with the heads of the layer's kind

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Full and sliding attention.

    Notes
    -----
    Without `swa_num_key_value_heads` the sliding layers have twice the KV heads, as transformers builds them.

    References
    ----------
    transformers 5.24.0 `modeling_mimo_v2_flash.py`; XiaomiMiMo/MiMo-V2-Flash `config.json` as kept in
    ai-dynamo/aiconfigurator@095f58a `model_configs`.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> config = {"num_hidden_layers": 2, "num_key_value_heads": 4, "head_dim": 192, "v_head_dim": 128,
    ...           "sliding_window": 128, "hybrid_layer_pattern": [0, 1]}
    >>> [(group.kind, group.kv_heads, group.value_dim) for group in read_mimo_v2(Fields(config))]
    [('full', 4, 128), ('sliding', 8, 128)]
    """
    full = head_dims(fields, value_dims=("v_head_dim",))
    sliding = _sliding_dims(fields, HeadDims(full.kv_heads * _MIMO_V2_SLIDING_HEADS, full.key_dim, full.value_dim))
    kinds = flagged_kinds(fields, "hybrid_layer_pattern", {0: "full", 1: "sliding"})
    if kinds is None:
        kinds = listed_kinds(fields, "layer_types", ("full", "sliding"))
    if kinds is None:
        kinds = absent_pattern(fields, ("full", "sliding"), "hybrid_layer_pattern", "layer_types")
    return build_groups(kinds, attention_makers(fields, full, sliding))


def read_step3(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read Step-3.5 and 3.7, whose sliding layers may have heads of their own in `attention_other_setting`.

    elements a token = kv_heads x (key_dim + value_dim), with the heads of the layer's kind

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Full and sliding attention. Dimensions in [elements], windows in [tokens].

    Notes
    -----
    `layer_types` may go on for the draft layers; they are cut.

    References
    ----------
    transformers 5.24.0 Step3p7TextConfig; stepfun-ai/Step-3.7-Flash `config.json` as kept in
    ai-dynamo/aiconfigurator@095f58a `model_configs`.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> config = {"num_hidden_layers": 2, "num_attention_groups": 8, "head_dim": 128, "sliding_window": 512,
    ...           "layer_types": ["full_attention", "sliding_attention", "sliding_attention"]}
    >>> [(group.kind, group.layers) for group in read_step3(Fields(config))]
    [('full', 1), ('sliding', 1)]
    """
    dims = head_dims(fields)
    other = fields.section("attention_other_setting")
    sliding = dims if other is None else _other_dims(other, dims)
    kinds = listed_kinds(fields, "layer_types", ("full", "sliding"))
    if kinds is None:
        kinds = absent_pattern(fields, ("full", "sliding"), "layer_types")
    return build_groups(kinds, attention_makers(fields, dims, sliding))


def read_inkling(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read Inkling: five of six layers slide, with KV heads of their own.

    elements a token = kv_heads x (key_dim + value_dim), with the heads of the layer's kind

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Sliding and full attention. Dimensions in [elements], windows in [tokens].

    Notes
    -----
    The short convolutions of each layer keep a few columns of their input; they are not counted, nor are they in the
    published figure.

    References
    ----------
    transformers 5.24.0 InklingTextConfig; kvcache-ai/kvcache-blog@9753288 `models.yaml`.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> config = {"num_hidden_layers": 66, "num_key_value_heads": 8, "head_dim": 128, "swa_num_key_value_heads": 16,
    ...           "swa_head_dim": 128, "sliding_window_size": 512}
    >>> [(group.kind, group.layers, group.kv_heads) for group in read_inkling(Fields(config))]
    [('sliding', 55, 16), ('full', 11, 8)]
    """
    full = head_dims(fields)
    makers = attention_makers(fields, full, _sliding_dims(fields, full))
    fields.note("state of the short convolutions not counted")
    kinds = listed_kinds(fields, "layer_types", ("hybrid", "sliding"))
    if kinds is None:
        layers, local = layer_count(fields), fields.numbers("local_layer_ids")
        kinds = every_nth_full(layers, _INKLING_INTERVAL, "sliding")
        kinds = kinds if local is None else full_where(layers, set(range(layers)) - set(local), "sliding")
    return build_groups(kinds, {**makers, "hybrid": full.full})


def _sliding_dims(fields: Fields, default: HeadDims) -> HeadDims:
    """Read the `swa_` heads, each falling back on a default; values as long as keys stay so."""
    key_dim = fields.count("swa_head_dim", default=default.key_dim)
    value_dim = key_dim if default.key_dim == default.value_dim else default.value_dim
    return HeadDims(
        fields.count("swa_num_key_value_heads", default=default.kv_heads),
        key_dim,
        fields.count("swa_v_head_dim", default=value_dim),
    )


def _other_dims(other: Fields, default: HeadDims) -> HeadDims:
    """Read the heads of an `attention_other_setting`."""
    key_dim = other.count(*HEAD_DIM, default=default.key_dim)
    return HeadDims(other.count(*KV_HEADS, default=default.kv_heads), key_dim, key_dim)
