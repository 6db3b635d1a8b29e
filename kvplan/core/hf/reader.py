"""The reader of Hugging Face `config.json`: from the parsed object to a model's layer groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import ValidationError

from kvplan.core.hf.keys import DTYPES, HEADS, MAX_LAYERS, MAX_TOKENS, NESTED, POSITIONS, Fields
from kvplan.core.hf.registry import WRAPPERS, class_defaults, family_of, known_model_types
from kvplan.errors import InputError, did_you_mean, shown
from kvplan.schema.model import ModelSpec

if TYPE_CHECKING:
    from kvplan.core.hf.registry import Family
    from kvplan.schema.model import LayerGroup

_MTP = ("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules", "num_mtp_layers")
_DECODER_POSITIONS = ("max_target_positions",)

DECIDING_KEYS = (
    "num_hidden_layers",
    "num_key_value_heads",
    "head_dim",
    "layer_types",
    "sliding_window",
    "kv_lora_rank",
    "qk_rope_head_dim",
    "index_head_dim",
    "num_kv_shared_layers",
    "conv and state dimensions of recurrent layers",
)
"""What a person must know of an unknown model to describe its cache."""


def read_config(config: Mapping[str, object], *, model_id: str, source: str) -> ModelSpec:
    """Read the parsed `config.json` of a model into its layer groups.

    bytes(n) of the model = sum over its groups, see `kvplan.core.kv.terms.context_bytes`

    Parameters
    ----------
    config
        The parsed file.
    model_id
        Id to give the model.
    source
        Name of the file, for messages and as the record's source.

    Returns
    -------
    ModelSpec
        Layer groups, positions [tokens], attention heads and draft layers [1]; parameters are left out.

    Raises
    ------
    InputError
        With every problem found: an unknown model type, keys that are missing, of a wrong type or out of range,
        patterns that do not fit.

    Notes
    -----
    Nothing is guessed. What a file leaves to the class that loads it is filled in for the types where published
    files do so, and noted.

    References
    ----------
    transformers 5.24.0 configuration classes; `config.json` files as kept in ai-dynamo/aiconfigurator@095f58a
    `model_configs`.

    Examples
    --------
    >>> config = {"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
    ...           "num_key_value_heads": 8, "max_position_embeddings": 131072}
    >>> spec = read_config(config, model_id="meta-llama/Llama-3.1-8B", source="config.json")
    >>> spec.groups, spec.max_position_tokens
    ((FullAttention(kind='full', layers=32, kv_heads=8, key_dim=128, value_dim=128),), 131072)
    """
    if not isinstance(config, Mapping):
        raise InputError.single(source, f"{shown(config)} is not a configuration", allowed="a JSON object")
    top = Fields(config, source)
    text = _language_model(top)
    family, text_type = _family(top, text)
    if family is None:
        raise InputError(top.problems)
    filled = text.with_defaults(class_defaults(text_type))
    groups = _groups(filled, family)
    spec = _spec(top, filled, groups, model_id)
    if spec is None or top.problems:
        raise InputError(top.problems)
    return spec


def _language_model(top: Fields) -> Fields:
    """Descend to the object that describes the language model."""
    fields = top
    for name in NESTED:
        fields = fields.section(name) or fields
    return fields


def _family(top: Fields, text: Fields) -> tuple[Family | None, str]:
    """Find the reader by the language model's type, else by the whole model's; report what cannot be known."""
    outer, inner = top.word("model_type"), text.word("model_type")
    if not outer and not top.problems:
        top.missing("model_type", hint=_how_to_add())
    if outer and outer not in WRAPPERS and family_of(outer) is None:
        _unknown(top, outer)
    if top.problems:
        return None, ""
    for name in (inner, outer, WRAPPERS.get(outer, "")):
        if family := family_of(name):
            return family, name
    if inner and text is not top:
        _unknown(text, inner)
    else:
        text.missing("model_type" if text is not top else NESTED[2], hint=f"{outer} wraps any language model")
    return None, ""


def _unknown(fields: Fields, model_type: str) -> None:
    """Refuse a type, saying what decides the size and how to describe the model all the same."""
    meant = did_you_mean(model_type, known_model_types())
    fields.problem(
        "model_type",
        f"{model_type[:60]!r} is not known, so the size of its cache is not either",
        allowed=f"one of {len(known_model_types())} known types",
        hint="; ".join(filter(None, (meant, _how_to_add()))),
    )


def _how_to_add() -> str:
    """Name the keys that decide and the way to give the groups by hand."""
    keys = ", ".join(DECIDING_KEYS)
    return f"decided by {keys}; describe the layer groups yourself with `kvplan catalogue add`"


def _groups(fields: Fields, family: Family) -> tuple[LayerGroup, ...]:
    """Read the groups; sizes that multiply beyond reason are problems of the file too."""
    try:
        return family.read(fields)
    except ValidationError as error:
        for found in error.errors():
            name = ".".join(map(str, found["loc"]))
            fields.problem("model_type", f"the keys together give {name} = {shown(found['input'])}", hint=found["msg"])
        return ()


def _spec(top: Fields, text: Fields, groups: tuple[LayerGroup, ...], model_id: str) -> ModelSpec | None:
    """Put the record together; None where something is wrong."""
    positions = text.optional_count(*_DECODER_POSITIONS, *POSITIONS, maximum=MAX_TOKENS)
    heads = text.optional_count(*HEADS, "decoder_attention_heads")
    mtp_layers = _mtp_layers(top, text)
    weights_dtype = next((word for part in (text, top) for name in DTYPES if (word := part.word(name))), "")
    if top.problems or not groups:
        return None
    return ModelSpec(
        id=model_id,
        model_type=top.word("model_type"),
        attention_heads=heads or 0,
        groups=groups,
        max_position_tokens=positions,
        weights_dtype=weights_dtype,
        mtp_layers=mtp_layers,
        note="; ".join(top.notes),
        source=top.where,
        confidence="vendor",
    )


def _mtp_layers(top: Fields, text: Fields) -> int:
    """Read the layers of multi-token prediction; they keep nothing unless speculative decoding is on."""
    parts = (text, top, top.section("mtp_config"))
    counts = (part.optional_count(*_MTP, minimum=0, maximum=MAX_LAYERS) for part in parts if part is not None)
    return next((count for count in counts if count is not None), 0)
