"""What counting parameters asks of a `config.json` beyond single keys: the language model's part, lists by layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kvplan.core.hf.keys import HEAD_DIM, HEADS, HIDDEN, NESTED, Fields
from kvplan.core.hf.patterns import BLOCK_LETTERS, layer_count

MAX_BLOCKS = 1_000
"""Blocks of an interleaved pattern that are counted at most: the work grows with their square, no model has more."""

_ALLOWED_BLOCKS = f"1 to {MAX_BLOCKS:,} of {', '.join(BLOCK_LETTERS.values())}"
_TIED = "tie_word_embeddings"


@dataclass(frozen=True, slots=True)
class ParamCounts:
    """Parameters of a model: all of them, and those that one token passes through [1]."""

    total: int
    active: int


def language_part(config: Mapping[str, object]) -> Mapping[str, object]:
    """Return the language model's part of a configuration, nested or not; it inherits whether embeddings are tied.

    Parameters
    ----------
    config
        The whole configuration.

    Returns
    -------
    Mapping
        The part that holds the language model's keys.

    References
    ----------
    transformers 5.24.0, configuration_utils.py, `get_text_config`.

    Examples
    --------
    >>> language_part({"tie_word_embeddings": True, "text_config": {"hidden_size": 64}})
    {'tie_word_embeddings': True, 'hidden_size': 64}
    """
    text = config
    for name in NESTED:
        inner = text.get(name)
        text = inner if isinstance(inner, Mapping) else text
    return {**{name: config[name] for name in (_TIED,) if name in config}, **text}


def hidden_size(fields: Fields) -> int:
    """Return the width of the residual stream [1].

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    int
        Width [1].

    References
    ----------
    transformers 5.24.0, the configuration class of each model type.

    Examples
    --------
    >>> hidden_size(Fields({"d_model": 4096}))
    4096
    """
    return fields.count(*HIDDEN)


def head_dim(fields: Fields) -> int:
    """Return the width of a head [1], `hidden / heads` where the configuration leaves it out.

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    int
        Width [1].

    References
    ----------
    transformers 5.24.0, models/llama/modeling_llama.py.

    Examples
    --------
    >>> head_dim(Fields({"hidden_size": 4096, "num_attention_heads": 32}))
    128
    """
    return fields.count(*HEAD_DIM, default=hidden_size(fields) // fields.count(*HEADS))


def layer_entry(fields: Fields, name: str, layer: int, *, required: bool = False) -> object:
    """Return a layer's entry in a list, None where there is no list; a list that is too short is reported.

    Parameters
    ----------
    fields
        Configuration of the language model.
    name
        Key of the list.
    layer
        Position of the layer, from 0 [1].
    required
        Whether a list that is missing is reported.

    Returns
    -------
    object
        The entry as it stands in the file; None where there is none.

    References
    ----------
    transformers 5.24.0, configuration_utils.py, `layer_types`.

    Examples
    --------
    >>> layer_entry(Fields({"layer_types": ["full_attention"]}), "layer_types", 0)
    'full_attention'
    """
    values = fields.data.get(name)
    if not isinstance(values, list | tuple):
        if required or (values is not None and not isinstance(values, int)):
            fields.problem(name, "is no list", allowed="one entry a layer")
        return None
    if layer >= len(values):
        fields.problem(name, f"has {len(values)} entries", allowed="one a layer")
        return None
    return values[layer]


def shares_cache(fields: Fields, layer: int) -> bool:
    """Tell whether a layer of Gemma 3n or 4 borrows its keys and values from one below.

    Parameters
    ----------
    fields
        Configuration of the language model.
    layer
        Position of the layer, from 0 [1].

    Returns
    -------
    bool
        True for the last `num_kv_shared_layers` layers.

    References
    ----------
    transformers 5.24.0, models/gemma4/modeling_gemma4.py.

    Examples
    --------
    >>> [shares_cache(Fields({"num_hidden_layers": 3, "num_kv_shared_layers": 1}), layer) for layer in range(3)]
    [False, False, True]
    """
    return layer >= layer_count(fields) - fields.count("num_kv_shared_layers", default=0, minimum=0)


def block_kinds(fields: Fields) -> tuple[str, ...]:
    """Return the kinds of the blocks of a model that interleaves mixers and MLPs: mamba, attention, moe, mlp.

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of str
        One kind a block; empty when the configuration gives none that is known, which is reported.

    References
    ----------
    transformers 5.24.0, models/nemotron_h/configuration_nemotron_h.py.

    Examples
    --------
    >>> block_kinds(Fields({"hybrid_override_pattern": "M-*E"}))
    ('mamba', 'mlp', 'attention', 'moe')
    """
    listed = fields.words("layers_block_type")
    letters = fields.word("hybrid_override_pattern")
    kinds = listed or tuple(BLOCK_LETTERS.get(letter, letter) for letter in letters)
    if not 0 < len(kinds) <= MAX_BLOCKS or not set(kinds) <= set(BLOCK_LETTERS.values()):
        name = "layers_block_type" if listed else "hybrid_override_pattern"
        fields.problem(name, f"{len(kinds)} blocks are not allowed", allowed=_ALLOWED_BLOCKS)
        return ()
    return kinds
