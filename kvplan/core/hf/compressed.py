"""Attention with a compressed or an indexed cache: DeepSeek-V4 and MiniMax-M3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.hf.heads import head_dims
from kvplan.core.hf.keys import MAX_TOKENS, WINDOW
from kvplan.core.hf.patterns import absent_pattern, fitted, flagged_kinds, layer_count, listed_kinds
from kvplan.schema.model import CompressedAttention, Indexer, SharedKeyWindow

if TYPE_CHECKING:
    from kvplan.core.hf.keys import Fields
    from kvplan.core.hf.patterns import LayerKind
    from kvplan.schema.model import LayerGroup

_CSA_RATIO, _HCA_RATIO = 4, 128
_RATIOS: dict[int, LayerKind] = {0: "sliding", _CSA_RATIO: "csa", _HCA_RATIO: "hca"}


def read_deepseek_v4(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read DeepSeek-V4: a window on every layer, and beside it one compressed entry per 4 or per 128 tokens.

    elements = layers x min(n, W) x head_dim + csa x n/4 x (head_dim + index_head_dim) + hca x n/128 x head_dim

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        The windows, and the compressed entries of both ratios.

    Notes
    -----
    Key and value are one vector of one head. The last entry of `compress_ratios` is the draft layer's and is cut.

    References
    ----------
    transformers 5.24.0 DeepseekV4Config; deepseek-ai/DeepSeek-V4-Flash and DeepSeek-V4-Pro `config.json` as kept in
    ai-dynamo/aiconfigurator@095f58a `model_configs`.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> config = {"num_hidden_layers": 3, "head_dim": 512, "index_head_dim": 128, "sliding_window": 128,
    ...           "compress_ratios": [0, 4, 128, 0]}
    >>> [(group.kind, group.layers) for group in read_deepseek_v4(Fields(config))]
    [('shared-key-window', 3), ('compressed', 1), ('compressed', 1)]
    """
    kinds = flagged_kinds(fields, "compress_ratios", _RATIOS)
    if kinds is None:
        kinds = listed_kinds(fields, "layer_types", ("sliding", "csa", "hca"))
    if kinds is None:
        kinds = absent_pattern(fields, ("sliding", "csa", "hca"), "compress_ratios", "layer_types")
    dim, window = fields.count("head_dim"), fields.count(*WINDOW, maximum=MAX_TOKENS)
    groups: list[LayerGroup] = [SharedKeyWindow(layers=max(1, len(kinds)), key_dim=dim, window_tokens=window)]
    if csa := kinds.count("csa"):
        index_dim = fields.count("index_head_dim")
        ratio = _ratio(fields, "compressed_sparse_attention", _CSA_RATIO)
        groups.append(CompressedAttention(layers=csa, ratio=ratio, entry_dim=dim, index_dim=index_dim))
    if hca := kinds.count("hca"):
        ratio = _ratio(fields, "heavily_compressed_attention", _HCA_RATIO)
        groups.append(CompressedAttention(layers=hca, ratio=ratio, entry_dim=dim))
    return tuple(groups)


def read_minimax_m3(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read MiniMax-M3: GQA in every layer, and an indexer key on the block-sparse ones.

    elements a token = layers x kv_heads x 2 x head_dim + sparse layers x index_dim

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Full attention, and the indexers.

    Notes
    -----
    One key head of the indexer is counted, as SGLang and kvcache-ai do; kvfit counts four. Which of them the
    reference keeps is not confirmed.

    References
    ----------
    SGLang 0.5.23 `srt/model_executor/pool_configurator.py`; kvcache-ai/kvcache-blog@9753288 `models.yaml`;
    MiniMaxAI/MiniMax-M3 `config.json` as kept in ai-dynamo/aiconfigurator@095f58a `model_configs`.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> config = {"num_hidden_layers": 3, "num_key_value_heads": 4, "head_dim": 128, "sparse_attention_config":
    ...           {"use_sparse_attention": True, "sparse_index_dim": 128, "sparse_attention_freq": [0, 1, 1]}}
    >>> [(group.kind, group.layers) for group in read_minimax_m3(Fields(config))]
    [('full', 3), ('indexer', 2)]
    """
    attention = head_dims(fields).full(layer_count(fields))
    kinds = listed_kinds(fields, "layer_types", ("full", "indexed")) or ()
    index_dim = fields.optional_count("index_head_dim")
    sparse = fields.section("sparse_attention_config")
    if sparse is not None and not kinds and sparse.flag("use_sparse_attention", default=True):
        entries = sparse.numbers("sparse_attention_freq") or ()
        kinds = fitted(
            fields, "sparse_attention_config.sparse_attention_freq", ["indexed" if e else "full" for e in entries]
        )
        index_dim = sparse.count("sparse_index_dim")
    indexers = kinds.count("indexed")
    if not indexers:
        return attention
    if index_dim is None:
        fields.missing("index_head_dim")
    fields.note("indexer counted as one key head a layer, which is not confirmed")
    return (*attention, Indexer(layers=indexers, key_dim=index_dim or 1))


def _ratio(fields: Fields, name: str, default: int) -> int:
    """Read a compression ratio that newer files name by layer type."""
    rates = fields.section("compress_rates")
    return default if rates is None else rates.count(name, default=default)
