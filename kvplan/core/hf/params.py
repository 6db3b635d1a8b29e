"""Parameter counts of a model, from its raw configuration or from its published name."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from kvplan.core.hf.keys import HEAD_DIM, Fields
from kvplan.core.hf.params_ffn import FeedForward, feed_forward_params
from kvplan.core.hf.params_keys import ParamCounts, block_kinds, hidden_size, language_part
from kvplan.core.hf.params_mixers import MIXERS
from kvplan.core.hf.patterns import layer_count

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["RECIPES", "ParamCounts", "Recipe", "count_params", "params_from_name"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a model type is built, as far as its weights go.

    `tied` is whether input and output embeddings are one where the configuration does not say; `own_head_dim` that
    the head width does not follow from the hidden size, so that its key must be there.
    """

    mixer: str = "grouped"
    feed_forward: FeedForward = field(default_factory=FeedForward)
    tied: bool = False
    own_head_dim: bool = False


_EXPERTS = FeedForward(experts=True)
_WIDE_EXPERTS = FeedForward(experts=True, expert_width="intermediate_size")
_PLAIN = FeedForward(matrices=2)

_DENSE = Recipe()
_DENSE_TIED = Recipe(tied=True)
_DENSE_OWN = Recipe(own_head_dim=True)
_GEMMA = Recipe(tied=True, own_head_dim=True)
_GEMMA4 = Recipe("gemma4", FeedForward(experts=True, beside=True), tied=True, own_head_dim=True)
_MOE = Recipe(feed_forward=_EXPERTS)
_MOE_OWN = Recipe(feed_forward=_EXPERTS, own_head_dim=True)
_LATENT_MOE = Recipe("latent", _EXPERTS)
_SHARED_KEY = Recipe("shared-key", _EXPERTS)
_LLAMA4 = Recipe(
    feed_forward=FeedForward(
        experts=True, expert_width="intermediate_size", dense_width="intermediate_size_mlp", shared_experts=1
    )
)
_MINIMAX_M3 = Recipe(
    "minimax-m3",
    FeedForward(experts=True, expert_width="intermediate_size", dense_width="dense_intermediate_size"),
    own_head_dim=True,
)

RECIPES: Mapping[str, Recipe] = {
    "apertus": Recipe(feed_forward=_PLAIN),
    "arcee": Recipe(feed_forward=_PLAIN),
    "cohere": _DENSE_TIED,
    "cohere2": _DENSE_TIED,
    "deepseek_ref": _SHARED_KEY,
    "deepseek_v2": _LATENT_MOE,
    "deepseek_v3": _LATENT_MOE,
    "deepseek_v32": _LATENT_MOE,
    "deepseek_v4": _SHARED_KEY,
    "dots1": _MOE,
    "ernie4_5": _DENSE_TIED,
    "ernie4_5_moe": Recipe(feed_forward=_EXPERTS, tied=True),
    "exaone4": _DENSE,
    "falcon": Recipe("falcon", FeedForward(matrices=2, dense_width="ffn_hidden_size", dense_multiple=4), tied=True),
    "gemma": _GEMMA,
    "gemma2": _GEMMA,
    "gemma3_text": _GEMMA,
    "gemma4_text": _GEMMA4,
    "glm": _DENSE,
    "glm4": _DENSE,
    "glm4_moe": _MOE_OWN,
    "glm4v_text": _DENSE,
    "glm_moe_dsa": _LATENT_MOE,
    "gpt_oss": Recipe(feed_forward=_WIDE_EXPERTS, own_head_dim=True),
    "granite": _DENSE,
    "granitemoe": Recipe(feed_forward=_WIDE_EXPERTS),
    "granitemoehybrid": Recipe("granite-hybrid", _WIDE_EXPERTS),
    "internlm2": _DENSE,
    "internlm3": _DENSE,
    "kimi_k2": _LATENT_MOE,
    "kimi_linear": Recipe("kimi-delta", _EXPERTS),
    "llama": _DENSE,
    "llama4_text": _LLAMA4,
    "mimo": _DENSE,
    "mimo_v2_flash": Recipe("mimo-v2", _EXPERTS, own_head_dim=True),
    "minimax_m2": Recipe(feed_forward=_WIDE_EXPERTS, own_head_dim=True),
    "minimax_m3_vl": _MINIMAX_M3,
    "ministral3": _DENSE,
    "mistral": _DENSE,
    "mistral4": _LATENT_MOE,
    "mixtral": Recipe(feed_forward=_WIDE_EXPERTS),
    "mllama_text_model": _DENSE,
    "mpt": Recipe(feed_forward=FeedForward(matrices=2, dense_multiple=4), tied=True),
    "nemotron": Recipe(feed_forward=_PLAIN),
    "nemotron_h": Recipe("nemotron-h", FeedForward(experts=True, matrices=2, blocks=True), own_head_dim=True),
    "olmo": _DENSE,
    "olmo2": _DENSE,
    "olmo3": _DENSE,
    "olmoe": Recipe(feed_forward=_WIDE_EXPERTS),
    "phi": Recipe(feed_forward=_PLAIN),
    "phi3": _DENSE,
    "phimoe": Recipe(feed_forward=_WIDE_EXPERTS),
    "qwen2": _DENSE,
    "qwen2_5_vl": _DENSE,
    "qwen2_5_vl_text": _DENSE,
    "qwen2_moe": _MOE,
    "qwen2_vl": _DENSE,
    "qwen2_vl_text": _DENSE,
    "qwen3": _DENSE_OWN,
    "qwen3_5_moe_text": Recipe("deltanet", _EXPERTS, own_head_dim=True),
    "qwen3_5_text": Recipe("deltanet", own_head_dim=True),
    "qwen3_moe": _MOE_OWN,
    "qwen3_next": Recipe("deltanet", _EXPERTS, own_head_dim=True),
    "qwen3_vl_moe_text": _MOE_OWN,
    "qwen3_vl_text": _DENSE_OWN,
    "seed_oss": _DENSE_OWN,
    "smollm3": _DENSE_TIED,
    "solar_open": _MOE_OWN,
    "starcoder2": Recipe(feed_forward=_PLAIN, tied=True),
}
"""Model types that can be counted, as `model_type` spells them."""


def count_params(config: Mapping[str, object]) -> ParamCounts | None:
    """Count the parameters of the language model that a `config.json` describes.

    `e V h + h + sum over layers of (mixer + feed-forward + 2 h)`, e = 1 where the embeddings are tied, else 2

    Parameters
    ----------
    config
        The whole configuration, nested language model or not.

    Returns
    -------
    ParamCounts or None
        Total and active parameters [1]; None for a model type without a recipe and where a key is missing.

    Notes
    -----
    Vision and audio towers, multi-token prediction layers and biases are not counted. Within 3 % of the count from
    instantiating the configuration. Active leaves out the routed experts that a token does not choose, and counts
    both embeddings.

    Examples
    --------
    >>> count_params({"model_type": "llama", "vocab_size": 128256, "hidden_size": 4096, "intermediate_size": 14336,
    ...               "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8})
    ParamCounts(total=8030261248, active=8030261248)
    >>> count_params({"model_type": "unheard-of"}) is None
    True

    References
    ----------
    transformers 5.24.0, the modelling file of each model type.
    """
    fields = Fields(language_part(config))
    # A nested language model has a type of its own, which tells more than that of the whole.
    named = (part.get("model_type") for part in (fields.data, config))
    recipe = next((RECIPES[name] for name in named if isinstance(name, str) and name in RECIPES), None)
    if recipe is None:
        return None
    counts = _count(fields, recipe)
    return None if fields.problems else counts


def _count(fields: Fields, recipe: Recipe) -> ParamCounts:
    """Add up embeddings and layers by the recipe."""
    hidden = hidden_size(fields)
    layers = len(block_kinds(fields)) if recipe.feed_forward.blocks else layer_count(fields)
    if recipe.own_head_dim:
        fields.missing(*HEAD_DIM)
    copies = 1 if fields.flag("tie_word_embeddings", default=recipe.tied) else 2
    embeddings = copies * fields.count("vocab_size") * hidden + _per_layer_embeddings(fields)
    mixer = MIXERS[recipe.mixer]
    mixers = sum(mixer(fields, layer) for layer in range(layers))
    parts = [feed_forward_params(fields, recipe.feed_forward, layer) for layer in range(layers)]
    # The norms: one at the end, two in each layer.
    always = embeddings + hidden + mixers + 2 * hidden * layers
    return ParamCounts(always + sum(part.total for part in parts), always + sum(part.active for part in parts))


def _per_layer_embeddings(fields: Fields) -> int:
    """Count the embedding table that feeds every layer (small Gemma 4 models), usually none."""
    width = fields.count("hidden_size_per_layer_input", default=0, minimum=0)
    return fields.count("vocab_size_per_layer_input") * layer_count(fields) * width if width else 0


_SIZE = r"(?P<{name}>\d+(?:\.\d+)?)(?P<{name}_unit>[bt])"
_NAMED = re.compile(
    r"(?<![a-z0-9.])" + _SIZE.format(name="total") + r"(?:[-_]a" + _SIZE.format(name="active") + r")?(?![a-z0-9])"
)
_UNITS = {"b": 10**9, "t": 10**12}
_OTHER_SIZES = re.compile(r"\d+x\d|\d+e(?![a-z0-9])|(?<![a-z0-9])[ae]\d+(?:\.\d+)?b(?![a-z0-9])")


def params_from_name(name: str) -> ParamCounts | None:
    """Read the parameter count that a model's name publishes.

    Parameters
    ----------
    name
        A model's name, with or without its owner.

    Returns
    -------
    ParamCounts or None
        Total and active parameters [1], equal where the name gives one size; None where it gives none, several,
        or one that needs interpretation: `8x7B` (experts share attention, so not 56 B), `17B-128E`, `E4B`, a
        lone `A13B`.

    Notes
    -----
    A name rounds, and a mixture of experts may not say so: `gpt-oss-120b` reads as 120 B active.

    Examples
    --------
    >>> params_from_name("Qwen/Qwen3-235B-A22B")
    ParamCounts(total=235000000000, active=22000000000)
    >>> params_from_name("Llama-3.3-70B-Instruct")
    ParamCounts(total=70000000000, active=70000000000)
    >>> params_from_name("mistralai/Mixtral-8x7B-v0.1") is None
    True

    References
    ----------
    Naming customs of the publishers on the Hugging Face Hub.
    """
    short = name.rsplit("/", 1)[-1].lower()
    found = list(_NAMED.finditer(short))
    if len(found) != 1:
        return None
    match = found[0]
    # `8x7B`, `128E` or a lone `A13B` beside the size say that it is not that of the whole model.
    if _OTHER_SIZES.search(short[: match.start()] + short[match.end() :]):
        return None
    total = _scaled(match["total"], match["total_unit"])
    active = _scaled(match["active"], match["active_unit"]) if match["active"] else total
    return ParamCounts(total, active) if 0 < active <= total else None


def _scaled(number: str, unit: str) -> int:
    """Return a decimal number times its unit as a whole number."""
    return int(Decimal(number) * _UNITS[unit])
