"""Model types whose every layer keeps every token: MHA, MQA and GQA under their many spellings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.hf.heads import attention_makers, head_dims
from kvplan.core.hf.keys import HEADS
from kvplan.core.hf.patterns import build_groups, layer_count, listed_kinds

if TYPE_CHECKING:
    from kvplan.core.hf.keys import Fields
    from kvplan.schema.model import LayerGroup


def read_uniform(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read a model with the same attention in every layer, unless `layer_types` says that some slide.

    elements a layer and token = kv_heads x (key_dim + value_dim)

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Full attention, and sliding layers where they are listed. Dimensions in [elements], windows in [tokens].

    Notes
    -----
    A `sliding_window` without `layer_types` has no effect in these model types.

    References
    ----------
    transformers 5.24.0 LlamaConfig and its like; vLLM 0.33.0 `models/llama.py` (`layer_types`).

    Examples
    --------
    Llama-3.1-70B:

    >>> from kvplan.core.hf.keys import Fields
    >>> read_uniform(Fields({"num_hidden_layers": 80, "hidden_size": 8192, "num_attention_heads": 64,
    ...                      "num_key_value_heads": 8}))
    (FullAttention(kind='full', layers=80, kv_heads=8, key_dim=128, value_dim=128),)
    """
    dims = head_dims(fields)
    makers = attention_makers(fields, dims)
    kinds = listed_kinds(fields, "layer_types", makers)
    return dims.full(layer_count(fields)) if kinds is None else build_groups(kinds, makers)


def read_multi_head(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read a model type that only knows multi-head attention.

    kv_heads = attention heads

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Full attention. Dimensions in [elements].

    Notes
    -----
    Any key for KV heads is ignored: these implementations do not read one.

    References
    ----------
    transformers 5.24.0 GPT2Config, GPTNeoXConfig, GPTJConfig, BloomConfig, OPTConfig.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> read_multi_head(Fields({"n_layer": 48, "n_embd": 1600, "n_head": 25}))
    (FullAttention(kind='full', layers=48, kv_heads=25, key_dim=64, value_dim=64),)
    """
    return head_dims(fields, kv_heads=fields.count(*HEADS)).full(layer_count(fields))


def read_falcon(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read Falcon, where two switches decide the KV heads.

    kv_heads = num_kv_heads with new_decoder_architecture, else 1 with multi_query, else the attention heads

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Full attention. Dimensions in [elements].

    Notes
    -----
    Falcon-7B names `num_kv_heads: 71` in some copies and keeps one head. transformers stores all 128 heads of
    Falcon-40B, the engines its 8; the engines' reading is taken.

    References
    ----------
    transformers 5.24.0 `modeling_falcon.py`; tiiuae/falcon-40b `config.json` as kept in
    intel/intel-extension-for-pytorch@6d3ba89.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> read_falcon(Fields({"num_hidden_layers": 32, "hidden_size": 4544, "num_attention_heads": 71,
    ...                     "num_kv_heads": 71, "multi_query": True}))
    (FullAttention(kind='full', layers=32, kv_heads=1, key_dim=64, value_dim=64),)
    """
    return head_dims(fields, kv_heads=falcon_kv_heads(fields)).full(layer_count(fields))


def falcon_kv_heads(fields: Fields) -> int:
    """Return Falcon's KV heads, which depend on the generation.

    kv_heads = num_kv_heads in the new decoder, else 1 with multi_query, which is the default, else the attention heads

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    int
        KV heads [1].

    Notes
    -----
    The older generation ignores `num_kv_heads`, which some copies name all the same.

    References
    ----------
    As `read_falcon`.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> falcon_kv_heads(Fields({"num_attention_heads": 128, "new_decoder_architecture": True, "n_head_kv": 8}))
    8
    """
    heads = fields.count(*HEADS)
    if fields.flag("new_decoder_architecture", default=False):
        return fields.count("num_kv_heads", "n_head_kv", default=heads)
    return 1 if fields.flag("multi_query", default=True) else heads


def read_gpt_bigcode(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read GPTBigCode (StarCoder).

    kv_heads = 1 with multi_query, which is the default, else the attention heads

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Full attention. Dimensions in [elements].

    Notes
    -----
    The key and the value share one projection; both are kept.

    References
    ----------
    transformers 5.24.0 GPTBigCodeConfig.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> read_gpt_bigcode(Fields({"n_layer": 40, "n_embd": 6144, "n_head": 48, "multi_query": True}))
    (FullAttention(kind='full', layers=40, kv_heads=1, key_dim=128, value_dim=128),)
    """
    kv_heads = 1 if fields.flag("multi_query", default=True) else fields.count(*HEADS)
    return head_dims(fields, kv_heads=kv_heads).full(layer_count(fields))


def read_chatglm(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read ChatGLM and the first GLM-4.

    kv_heads = multi_query_group_num with multi_query_attention, else the attention heads

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Full attention. Dimensions in [elements].

    Notes
    -----
    `kv_channels` is the head dimension.

    References
    ----------
    vLLM 0.33.0 `models/chatglm.py`; THUDM/glm-4-9b-chat: 40 layers, 2 KV heads
    (abhibambhaniya/GenZ-LLM-Analyzer@091bdd0).

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> read_chatglm(Fields({"num_layers": 40, "hidden_size": 4096, "num_attention_heads": 32, "kv_channels": 128,
    ...                      "multi_query_attention": True, "multi_query_group_num": 2}))
    (FullAttention(kind='full', layers=40, kv_heads=2, key_dim=128, value_dim=128),)
    """
    heads = fields.count(*HEADS)
    grouped = fields.flag("multi_query_attention", default=False)
    kv_heads = fields.count("multi_query_group_num") if grouped else heads
    return head_dims(fields, kv_heads=kv_heads).full(layer_count(fields))


def read_attn_config(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read MPT and DBRX, which keep the KV heads in an object of their own.

    kv_heads = attn_config.kv_n_heads, or 1 for multiquery_attention, else the attention heads

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Full attention. Dimensions in [elements].

    Notes
    -----
    `attn_type` multihead_attention overrules `kv_n_heads`.

    References
    ----------
    transformers 5.24.0 MptConfig and DbrxConfig; mosaicml/llm-foundry `attn_config`.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> read_attn_config(Fields({"n_layers": 40, "d_model": 6144, "n_heads": 48, "attn_config": {"kv_n_heads": 8}}))
    (FullAttention(kind='full', layers=40, kv_heads=8, key_dim=128, value_dim=128),)
    """
    heads = fields.count(*HEADS)
    inner = fields.section("attn_config")
    kv_heads = heads if inner is None else _inner_kv_heads(inner, heads)
    return head_dims(fields, kv_heads=kv_heads).full(layer_count(fields))


def _inner_kv_heads(inner: Fields, heads: int) -> int:
    """Read the KV heads of an `attn_config`."""
    kind = inner.word("attn_type")
    fixed = {"multihead_attention": heads, "multiquery_attention": 1}
    return fixed[kind] if kind in fixed else inner.count("kv_n_heads", default=heads)
