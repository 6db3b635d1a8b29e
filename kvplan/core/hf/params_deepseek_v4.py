"""Weights of a DeepSeek-V4 layer's attention: a key that is also the value, compressors, indexer, streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.hf.keys import HEADS
from kvplan.core.hf.params_formulas import indexer_params
from kvplan.core.hf.params_keys import hidden_size, layer_entry

if TYPE_CHECKING:
    from kvplan.core.hf.keys import Fields

SPARSE_RATIO = 4
"""Tokens per entry of the compressed sparse layers (CSA), which also own an indexer; any other ratio is HCA."""


def shared_key_params(hidden: int, heads: int, head_dim: int, *, q_rank: int, o_rank: int, o_groups: int) -> int:
    """Count the attention projections of a layer whose single key is also its value.

    `h r_q + r_q H d + h d + r_o H d + G r_o h`

    Parameters
    ----------
    hidden
        Width h of the residual stream [1].
    heads
        Query heads H [1].
    head_dim
        Width d of a head, of the key and of the value [1].
    q_rank
        Rank of the query's compression [1].
    o_rank
        Rank of each group of the output projection [1].
    o_groups
        Groups G of the output projection [1].

    Returns
    -------
    int
        Parameters of the layer's attention without compressor and indexer [1].

    Notes
    -----
    Without norms and sinks.

    Examples
    --------
    DeepSeek-V4-Flash, one layer:

    >>> shared_key_params(4096, 64, 512, q_rank=1024, o_rank=1024, o_groups=8)
    106954752

    References
    ----------
    transformers 5.24.0, models/deepseek_v4/modeling_deepseek_v4.py, class DeepseekV4Attention.
    """
    inner = heads * head_dim
    return hidden * q_rank + q_rank * inner + hidden * head_dim + o_rank * inner + o_groups * o_rank * hidden


def compressor_params(hidden: int, head_dim: int, *, overlapping: bool) -> int:
    """Count the compressor that turns a run of tokens into one cache entry.

    `2 o h d`, o = 2 where entries overlap (CSA, indexer), else 1

    Parameters
    ----------
    hidden
        Width h of the residual stream [1].
    head_dim
        Width d of an entry [1].
    overlapping
        Whether neighbouring entries overlap.

    Returns
    -------
    int
        Parameters of key and gate projection [1].

    Notes
    -----
    Without the position bias, ratio times width.

    Examples
    --------
    >>> compressor_params(4096, 512, overlapping=True), compressor_params(4096, 512, overlapping=False)
    (8388608, 4194304)

    References
    ----------
    transformers 5.24.0, models/deepseek_v4/modeling_deepseek_v4.py, classes DeepseekV4CSACompressor and
    DeepseekV4HCACompressor.
    """
    return (4 if overlapping else 2) * hidden * head_dim


def hyper_connection_params(hidden: int, streams: int) -> int:
    """Count the two projections of a layer that mix its parallel residual streams.

    `2 (2 + N) N x N h`

    Parameters
    ----------
    hidden
        Width h of one stream [1].
    streams
        Streams N [1].

    Returns
    -------
    int
        Parameters of the layer [1].

    Notes
    -----
    Without base and scale.

    Examples
    --------
    >>> hyper_connection_params(4096, 4)
    786432

    References
    ----------
    transformers 5.24.0, models/deepseek_v4/modeling_deepseek_v4.py, class DeepseekV4HyperConnection.
    """
    return 2 * (2 + streams) * streams * streams * hidden


def shared_key_layer(fields: Fields, layer: int) -> int:
    """Count one layer's attention with what its compression ratio adds [1].

    References
    ----------
    transformers 5.24.0, models/deepseek_v4/modeling_deepseek_v4.py.
    """
    hidden, q_rank = hidden_size(fields), fields.count("q_lora_rank")
    attention = shared_key_params(
        hidden,
        fields.count(*HEADS),
        fields.count("head_dim"),
        q_rank=q_rank,
        o_rank=fields.count("o_lora_rank"),
        o_groups=fields.count("o_groups"),
    )
    streams = hyper_connection_params(hidden, fields.count("hc_mult"))
    return attention + streams + _compression(fields, layer, hidden, q_rank)


def _compression(fields: Fields, layer: int, hidden: int, q_rank: int) -> int:
    """Count compressor and indexer of a layer, by its entry in `compress_ratios`."""
    ratio = layer_entry(fields, "compress_ratios", layer, required=True)
    if not ratio:
        return 0
    head_dim = fields.count("head_dim")
    if ratio != SPARSE_RATIO:
        return compressor_params(hidden, head_dim, overlapping=False)
    index_dim, index_heads = fields.count("index_head_dim"), fields.count("index_n_heads")
    # The V4 indexer compresses its keys where V3.2's projects them: that matrix is taken out again.
    indexer = indexer_params(hidden, q_rank, index_heads, index_dim) - hidden * index_dim
    return (
        indexer
        + compressor_params(hidden, index_dim, overlapping=True)
        + compressor_params(hidden, head_dim, overlapping=True)
    )
