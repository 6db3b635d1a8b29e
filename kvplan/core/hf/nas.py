"""Models found by architecture search, in which each layer has KV heads of its own or no attention at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.hf.heads import HeadDims, head_dims
from kvplan.core.hf.keys import HEADS
from kvplan.core.hf.patterns import fitted, merged
from kvplan.schema.model import NoCache

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.core.hf.keys import Fields
    from kvplan.schema.model import LayerGroup


def read_block_configs(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read Llama-Nemotron (nemotron-nas): one object a layer says how many heads share a KV head.

    kv_heads(i) = attention heads / n_heads_in_group(i), 0 where the attention is left out

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Full attention by number of KV heads, and the layers without.

    Notes
    -----
    A linear layer in place of the attention keeps nothing. Windows and sinks, which the class knows and no public
    model uses, are refused.

    References
    ----------
    nvidia/Llama-3_3-Nemotron-Super-49B-v1 `config.json` as kept in ai-dynamo/aiconfigurator@095f58a `model_configs`:
    49 of 80 layers keep KV.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> blocks = [{"attention": {"n_heads_in_group": 8}}, {"attention": {"n_heads_in_group": None, "no_op": True}}]
    >>> config = {"num_hidden_layers": 2, "hidden_size": 8192, "num_attention_heads": 64, "block_configs": blocks}
    >>> [(group.kind, group.layers) for group in read_block_configs(Fields(config))]
    [('full', 1), ('none', 1)]
    """
    heads = fields.count(*HEADS)
    dims = head_dims(fields, kv_heads=heads)
    blocks = fields.sections("block_configs")
    if fields.has("block_configs"):
        blocks = fitted(fields, "block_configs", blocks)
    return _by_kv_heads([_block_kv_heads(block, heads) for block in blocks], dims)


def read_heads_per_layer(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read DeciLM-7B, which lists the KV heads of each layer.

    elements a token = 2 x head_dim x sum over layers of kv_heads(i)

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Full attention by number of KV heads.

    Notes
    -----
    0 heads in the list is a layer without attention.

    References
    ----------
    Deci/DeciLM-7B `config.json` (`num_key_value_heads_per_layer`).

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> config = {"num_hidden_layers": 3, "hidden_size": 4096, "num_attention_heads": 32,
    ...           "num_key_value_heads_per_layer": [4, 4, 2]}
    >>> [(group.kv_heads, group.layers) for group in read_heads_per_layer(Fields(config))]
    [(4, 2), (2, 1)]
    """
    key, heads = "num_key_value_heads_per_layer", fields.count(*HEADS)
    listed = fields.numbers(key)
    if listed is None:
        fields.missing(key)
        return ()
    kept = fitted(fields, key, listed)
    for at, kv_heads in enumerate(listed):
        if not 0 <= kv_heads <= heads:
            fields.problem(f"{key}[{at}]", f"{kv_heads} is not allowed", allowed=f"0 to {heads}")
            return ()
    return _by_kv_heads(kept, head_dims(fields, kv_heads=heads))


def _by_kv_heads(kept: Sequence[int], dims: HeadDims) -> tuple[LayerGroup, ...]:
    """Build one group for each number of KV heads; no heads, no cache."""
    groups: list[LayerGroup] = []
    for kv_heads in kept:
        groups.extend(HeadDims(kv_heads, dims.key_dim, dims.value_dim).full(1) if kv_heads else (NoCache(layers=1),))
    return merged(groups)


def _block_kv_heads(block: Fields, heads: int) -> int:
    """Read the KV heads of one block; 0 without attention."""
    attention = block.section("attention")
    if attention is None:
        return 0
    if any(attention.flag(name, default=False) for name in ("no_op", "replace_with_linear")):
        return 0
    for name in ("window_length", "num_sink_tokens"):
        if attention.has(name):
            attention.problem(
                name, "is not supported", allowed="null", hint="give the layer groups to `kvplan catalogue add`"
            )
    stated = attention.optional_count("num_key_value_heads")
    if stated is not None:
        return stated
    in_group = attention.count("n_heads_in_group")
    if heads % in_group:
        attention.problem("n_heads_in_group", f"{in_group} does not divide the {heads} attention heads")
    return max(1, heads // in_group)
