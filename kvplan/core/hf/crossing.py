"""Cross attention: encoder-decoder models and Llama 3.2 Vision, which keep a source of fixed length once a sequence."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kvplan.core.hf.heads import HeadDims, head_dims, hidden_per_head
from kvplan.core.hf.keys import MAX_LAYERS, MAX_TOKENS
from kvplan.core.hf.patterns import layer_count

if TYPE_CHECKING:
    from kvplan.core.hf.keys import Fields
    from kvplan.schema.model import LayerGroup

_MLLAMA_DEFAULT = (3, 8, 13, 18, 23, 28, 33, 38)


def read_mllama(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read Llama 3.2 Vision, whose cross-attention layers keep image tokens and no text.

    elements = text layers x kv_heads x 2 x head_dim x n + cross layers x kv_heads x 2 x head_dim x image tokens

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Full attention, and cross attention with a source of 0 tokens. Dimensions in [elements].

    Notes
    -----
    How many image tokens there are depends on the request, so none are counted, which the model's note says; a tile of
    560 pixels has 1,601.

    References
    ----------
    transformers 5.24.0 MllamaTextConfig (docstring checkpoint meta-llama/Llama-3.2-11B-Vision).

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> config = {"num_hidden_layers": 40, "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8,
    ...           "cross_attention_layers": [3, 8, 13, 18, 23, 28, 33, 38]}
    >>> [(group.kind, group.layers) for group in read_mllama(Fields(config))]
    [('full', 32), ('cross', 8)]
    """
    dims, layers = head_dims(fields), layer_count(fields)
    listed = fields.numbers("cross_attention_layers")
    cross = set(_MLLAMA_DEFAULT if listed is None else listed) & set(range(layers))
    if listed is not None and len(cross) < len(listed):
        fields.problem("cross_attention_layers", "names layers twice or beyond the last", allowed=f"0 to {layers - 1}")
    text = dims.full(layers - len(cross)) if layers > len(cross) else ()
    if not cross:
        return text
    _note_no_source(fields, dims, len(cross), "how many image tokens there are depends on the request")
    return (*text, *dims.cross(len(cross), 0))


def read_t5(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read T5 and its like: a decoder with self attention and cross attention to the encoder's output.

    elements = layers x heads x 2 x d_kv x (n + source tokens)

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Full attention, and cross attention with a source of 0 tokens. Dimensions in [elements].

    Notes
    -----
    The encoder takes any length, so the source is not known and none is counted, which the model's note says.
    `num_layers` is the encoder's depth, and the decoder's too unless `num_decoder_layers` says otherwise.

    References
    ----------
    transformers 5.24.0 T5Config.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> config = {"num_layers": 24, "num_heads": 32, "d_kv": 128, "d_model": 1024}
    >>> [(group.kind, group.layers, group.kv_heads) for group in read_t5(Fields(config))]
    [('full', 24, 32), ('cross', 24, 32)]
    """
    heads, dim = fields.count("num_heads"), fields.count("d_kv")
    layers = fields.count("num_decoder_layers", "num_layers", maximum=MAX_LAYERS)
    dims = HeadDims(heads, dim, dim)
    _note_no_source(fields, dims, layers, "the encoder takes any length")
    return _decoder(dims, layers, 0)


def read_whisper(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read Whisper: the encoder's output always has `max_source_positions` frames.

    elements = layers x heads x 2 x head_dim x (n + max_source_positions)

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Full attention and cross attention.

    Notes
    -----
    Whisper pads every piece of sound to 30 s, so the source is as long as it can be.

    References
    ----------
    transformers 5.24.0 WhisperConfig.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> config = {"decoder_layers": 4, "d_model": 384, "decoder_attention_heads": 6, "max_source_positions": 1500}
    >>> [(group.kind, group.layers) for group in read_whisper(Fields(config))]
    [('full', 4), ('cross', 4)]
    """
    return _read_decoder(fields, fields.count("max_source_positions", maximum=MAX_TOKENS))


def read_bart(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read BART and mBART, whose encoder takes up to `max_position_embeddings` tokens.

    elements = layers x heads x 2 x head_dim x (n + max_position_embeddings)

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Full attention and cross attention. Dimensions in [elements].

    Notes
    -----
    The longest source is counted.

    References
    ----------
    transformers 5.24.0 BartConfig.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> config = {"decoder_layers": 12, "d_model": 1024, "decoder_attention_heads": 16,
    ...           "max_position_embeddings": 1024}
    >>> read_bart(Fields(config))[1].source_tokens
    1024
    """
    fields.note("cross attention counted for the longest source")
    return _read_decoder(fields, fields.count("max_position_embeddings", maximum=MAX_TOKENS))


def _note_no_source(fields: Fields, dims: HeadDims, layers: int, why: str) -> None:
    """Note that the source is not known, and what each of its tokens would add."""
    elements = layers * dims.kv_heads * (dims.key_dim + dims.value_dim)
    fields.note(
        f"cross-attention layers are counted with 0 source tokens: {why}; each source token adds {elements:,} cached "
        "elements to a sequence"
    )


def _read_decoder(fields: Fields, source_tokens: int) -> tuple[LayerGroup, ...]:
    """Read a decoder that has names of its own for layers and heads."""
    heads = fields.count("decoder_attention_heads")
    own = {"num_attention_heads": heads, "hidden_size": fields.count("d_model")}
    renamed = replace(fields, data=own)
    dim = hidden_per_head(renamed)
    return _decoder(HeadDims(heads, dim, dim), fields.count("decoder_layers", maximum=MAX_LAYERS), source_tokens)


def _decoder(dims: HeadDims, layers: int, source_tokens: int) -> tuple[LayerGroup, ...]:
    """Build a decoder: as many layers of self as of cross attention."""
    return (*dims.full(layers), *dims.cross(layers, source_tokens))
