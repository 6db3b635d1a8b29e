"""Layers that read the cache of a neighbour: Hunyuan-Large."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.arithmetic import ceil_div
from kvplan.core.hf.gqa import read_uniform
from kvplan.core.hf.heads import head_dims
from kvplan.core.hf.keys import MAX_LAYERS
from kvplan.core.hf.patterns import layer_count
from kvplan.schema.model import SharedCache

if TYPE_CHECKING:
    from kvplan.core.hf.keys import Fields
    from kvplan.schema.model import LayerGroup


def read_hunyuan(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read Hunyuan-Large, where groups of neighbouring layers share one cache.

    layers that keep a cache = ceil(layers / cla_share_factor)

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Full attention, and the layers that share. Dimensions in [elements].

    Notes
    -----
    Nothing is shared unless `use_cla` is true.

    References
    ----------
    tencent/Hunyuan-Large in LMCache/LMCache `examples/kv_cache_calculator/modelconfig.json`; Brandon et al.,
    "Reducing Transformer Key-Value Cache Size with Cross-Layer Attention".

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> config = {"num_hidden_layers": 64, "hidden_size": 6400, "num_attention_heads": 80, "num_key_value_heads": 8,
    ...           "use_cla": True, "cla_share_factor": 2}
    >>> [(group.kind, group.layers) for group in read_hunyuan(Fields(config))]
    [('full', 32), ('shared', 32)]
    """
    dims, layers = head_dims(fields), layer_count(fields)
    if not fields.flag("use_cla", default=False):
        return dims.full(layers)
    owners = ceil_div(layers, fields.count("cla_share_factor", maximum=MAX_LAYERS))
    shared = (SharedCache(layers=layers - owners),) if layers > owners else ()
    return (*dims.full(owners), *shared)


def read_hunyuan_v1(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read Hunyuan A13B and the dense Hunyuan models, which name a share factor and share nothing.

    elements a token = layers x kv_heads x 2 x head_dim

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Full attention.

    Notes
    -----
    transformers implements no sharing for these types, measured; a file that asks for it gets a note.

    References
    ----------
    transformers 5.24.0 `modeling_hunyuan_v1_moe.py`.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> config = {"num_hidden_layers": 32, "num_key_value_heads": 8, "head_dim": 128, "use_cla": True}
    >>> [(group.kind, group.layers) for group in read_hunyuan_v1(Fields(config))]
    [('full', 32)]
    """
    if fields.flag("use_cla", default=False):
        fields.note("use_cla is set, but this model type shares no cache in transformers 5.24.0")
    return read_uniform(fields)
