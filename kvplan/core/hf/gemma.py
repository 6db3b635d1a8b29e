"""Gemma 3n and Gemma 4: layers that borrow another layer's cache, global layers with heads of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.hf.heads import HeadDims, attention_makers, head_dims
from kvplan.core.hf.keys import MAX_LAYERS
from kvplan.core.hf.patterns import build_groups, every_nth_full, layer_count, listed_kinds
from kvplan.schema.model import SharedCache

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvplan.core.hf.keys import Fields
    from kvplan.core.hf.patterns import LayerKind, Maker
    from kvplan.schema.model import LayerGroup

_GEMMA3N_INTERVAL, _GEMMA4_INTERVAL = 5, 6
_GLOBAL_HEAD_DIM = 512


def read_gemma3n(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read Gemma 3n: four of five layers slide, the last `num_kv_shared_layers` keep nothing.

    elements = sum over the first layers - shared layers of kv_heads x 2 x head_dim x tokens kept

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Sliding and full attention, and the layers that share. Dimensions in [elements], windows in [tokens].

    Notes
    -----
    A borrowing layer reads the cache of the last layer of its own kind that keeps one.

    References
    ----------
    transformers 5.24.0 Gemma3nTextConfig (docstring checkpoint google/gemma-3n-E4B).

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> config = {"num_hidden_layers": 35, "num_key_value_heads": 2, "head_dim": 256, "sliding_window": 512,
    ...           "num_kv_shared_layers": 15}
    >>> [(group.kind, group.layers) for group in read_gemma3n(Fields(config))]
    [('sliding', 16), ('full', 4), ('shared', 15)]
    """
    makers = attention_makers(fields, head_dims(fields))
    kinds = listed_kinds(fields, "layer_types", makers)
    if kinds is None:
        kinds = every_nth_full(layer_count(fields), _GEMMA3N_INTERVAL, "sliding")
    return _with_shared_tail(fields, kinds, makers)


def read_gemma4(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read Gemma 4: five of six layers slide, global layers have their own heads, a tail may share.

    global kv_heads = num_global_key_value_heads with attention_k_eq_v, else num_key_value_heads

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Sliding and full attention, and the layers that share. Dimensions in [elements], windows in [tokens].

    Notes
    -----
    With `attention_k_eq_v` keys and values have one projection and both are still kept. The last layer is always
    global.

    References
    ----------
    transformers 5.24.0 Gemma4TextConfig; google/gemma-4-26B-A4B `config.json` as kept in
    ai-dynamo/aiconfigurator@095f58a `model_configs`.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> config = {"num_hidden_layers": 30, "num_key_value_heads": 8, "head_dim": 256, "sliding_window": 1024,
    ...           "attention_k_eq_v": True, "num_global_key_value_heads": 2, "global_head_dim": 512}
    >>> [(group.kind, group.layers, group.kv_heads, group.key_dim) for group in read_gemma4(Fields(config))]
    [('sliding', 25, 8, 256), ('full', 5, 2, 512)]
    """
    local = head_dims(fields)
    makers = attention_makers(fields, _global_dims(fields, local), local)
    kinds = listed_kinds(fields, "layer_types", ("full", "sliding"))
    if kinds is None:
        kinds = every_nth_full(layer_count(fields), _GEMMA4_INTERVAL, "sliding")
    return _with_shared_tail(fields, (*kinds[:-1], "full"), makers)


def _global_dims(fields: Fields, local: HeadDims) -> HeadDims:
    """Read the heads of the global layers."""
    dim = fields.count("global_head_dim", default=_GLOBAL_HEAD_DIM)
    own = fields.optional_count("num_global_key_value_heads")
    taken = own is not None and fields.flag("attention_k_eq_v", default=False)
    return HeadDims(own if own is not None and taken else local.kv_heads, dim, dim)


def _with_shared_tail(
    fields: Fields, kinds: tuple[LayerKind, ...], makers: Mapping[LayerKind, Maker]
) -> tuple[LayerGroup, ...]:
    """Build the layers that keep a cache and add those at the end that borrow one."""
    shared = fields.count("num_kv_shared_layers", default=0, minimum=0, maximum=MAX_LAYERS)
    if shared >= len(kinds):
        fields.problem("num_kv_shared_layers", f"{shared} of {len(kinds)} layers", allowed="fewer than the layers")
        return ()
    owners = build_groups(kinds[: len(kinds) - shared], makers)
    return (*owners, SharedCache(layers=shared)) if shared else owners
