"""Multi-head latent attention: one compressed vector a token for all heads, with or without a sparse indexer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.hf.keys import MAX_LAYERS
from kvplan.core.hf.patterns import fitted, layer_count, listed_kinds
from kvplan.errors import did_you_mean
from kvplan.schema.model import Indexer, LatentAttention

if TYPE_CHECKING:
    from kvplan.core.hf.keys import Fields
    from kvplan.schema.model import LayerGroup

_ATTENTIONS_PER_LONGCAT_BLOCK = 2
_INDEXER_KEYS = ("indexer_types", "index_topk_pattern", "index_topk_freq")
_INDEXERS = {"F": "full", "S": "shared"}


def latent_layers(fields: Fields, layers: int) -> LatentAttention:
    """Build latent layers.

    elements a layer and token = kv_lora_rank + qk_rope_head_dim, without a factor 2

    Parameters
    ----------
    fields
        Configuration of the language model.
    layers
        Number of layers [1].

    Returns
    -------
    LatentAttention
        The layers, with dimensions in [elements].

    Notes
    -----
    `num_key_value_heads` and `head_dim` are there too and mean nothing here.

    References
    ----------
    DeepSeek-AI, "DeepSeek-V2", section 2.1; transformers 5.24.0 DeepseekV3Config.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> latent_layers(Fields({"kv_lora_rank": 512, "qk_rope_head_dim": 64}), 61)
    LatentAttention(kind='latent', layers=61, latent_dim=512, rope_dim=64)
    """
    rank, rope = fields.count("kv_lora_rank"), fields.count("qk_rope_head_dim", minimum=0)
    return LatentAttention(layers=layers, latent_dim=rank, rope_dim=rope)


def read_mla(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read DeepSeek-V2 and V3, Kimi-K2 and K2.5, Mistral Small 4 and their like.

    elements a token = layers x (kv_lora_rank + qk_rope_head_dim)

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Latent attention. Dimensions in [elements].

    Notes
    -----
    DeepSeek-V3: 61 x 576 x 2 B = 70,272 B/token; the formula for heads gives 25 times that.

    References
    ----------
    transformers 5.24.0 DeepseekV3Config; NVIDIA/TensorRT-LLM PR#16707 (bench used the formula for heads).

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> read_mla(Fields({"num_hidden_layers": 61, "kv_lora_rank": 512, "qk_rope_head_dim": 64}))
    (LatentAttention(kind='latent', layers=61, latent_dim=512, rope_dim=64),)
    """
    return (latent_layers(fields, layer_count(fields)),)


def read_longcat(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read LongCat-Flash, whose blocks have two attentions each.

    elements a token = 2 x num_layers x (kv_lora_rank + qk_rope_head_dim)

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Latent attention, two layers a block. Dimensions in [elements].

    Notes
    -----
    The file counts blocks in `num_layers`; `num_hidden_layers`, where a copy has it, counts attentions.

    References
    ----------
    transformers 5.24.0 LongcatFlashConfig (docstring checkpoint meituan-longcat/LongCat-Flash-Chat).

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> read_longcat(Fields({"num_layers": 28, "kv_lora_rank": 512, "qk_rope_head_dim": 64}))
    (LatentAttention(kind='latent', layers=56, latent_dim=512, rope_dim=64),)
    """
    blocks = fields.count("num_layers", maximum=MAX_LAYERS)
    return (latent_layers(fields, blocks * _ATTENTIONS_PER_LONGCAT_BLOCK),)


def read_mla_indexed(fields: Fields, *, listed: bool = False) -> tuple[LayerGroup, ...]:
    """Read MLA with a sparse-attention indexer: DeepSeek-V3.2, GLM-5, Mistral Large 4.

    elements a token = layers x (kv_lora_rank + qk_rope_head_dim) + indexed layers x index_head_dim

    Parameters
    ----------
    fields
        Configuration of the language model.
    listed
        Whether files of the type say which layers own an indexer, so that one that does not gets a note.

    Returns
    -------
    tuple of LayerGroup
        Latent attention, and the indexer of the layers that own one.

    Notes
    -----
    `indexer_types`, or a frequency, says which layers own an indexer and which share the one below; without either
    every layer owns one. A copy of GLM-5.2 that lost the list counts 78 instead of 21.

    References
    ----------
    transformers 5.24.0 GlmMoeDsaConfig and DeepseekV32Config; zai-org/GLM-5.2 and deepseek-ai/DeepSeek-V3.2
    `config.json` as kept in ai-dynamo/aiconfigurator@095f58a `model_configs`.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> config = {"num_hidden_layers": 3, "kv_lora_rank": 512, "qk_rope_head_dim": 64, "index_head_dim": 128,
    ...           "indexer_types": ["full", "full", "shared"]}
    >>> [(group.kind, group.layers) for group in read_mla_indexed(Fields(config))]
    [('latent', 3), ('indexer', 2)]
    """
    kinds = listed_kinds(fields, "layer_types", ("full", "indexed")) or ("indexed",) * layer_count(fields)
    if listed and not fields.has(*_INDEXER_KEYS):
        fields.note(f"none of {', '.join(_INDEXER_KEYS)} named: every layer counted as owning an indexer")
    owns = _indexer_owners(fields, len(kinds))
    indexers = sum(own and kind == "indexed" for own, kind in zip(owns, kinds, strict=False))
    sources = fields.numbers("kv_source_layers")
    if sources is not None and sources != tuple(range(len(sources))):
        fields.problem(
            "kv_source_layers", "layers share a cache", allowed="every layer its own", hint="not modelled yet"
        )
    latent = latent_layers(fields, max(1, len(kinds)))
    index_dim = fields.count("index_head_dim")
    return (latent, Indexer(layers=indexers, key_dim=index_dim)) if indexers else (latent,)


def _indexer_owners(fields: Fields, layers: int) -> list[bool]:
    """Tell for each layer whether it owns an indexer."""
    types = fields.words("indexer_types") or _letters(fields)
    if types is None:
        step = fields.count("index_topk_freq", default=1)
        offset = fields.count("index_skip_topk_offset", default=2, minimum=0)
        return [max(layer - offset + 1, 0) % step == 0 for layer in range(layers)]
    for at, name in enumerate(types):
        if name not in _INDEXERS.values():
            hint = did_you_mean(name, _INDEXERS.values())
            fields.problem(f"indexer_types[{at}]", f"{name[:40]!r} is not known", allowed="full or shared", hint=hint)
    return [name == "full" for name in fitted(fields, "indexer_types", types)]


def _letters(fields: Fields) -> tuple[str, ...] | None:
    """Read `index_topk_pattern`, a text of F and S or a list."""
    if isinstance(fields.data.get("index_topk_pattern"), str):
        return tuple(_INDEXERS.get(letter, letter) for letter in fields.word("index_topk_pattern"))
    return fields.words("index_topk_pattern")
