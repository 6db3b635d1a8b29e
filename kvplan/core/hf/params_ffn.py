"""Weights of one layer's feed-forward part: dense, experts, or both; all of them and those of one token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kvplan.core.hf.params_formulas import mlp_params
from kvplan.core.hf.params_keys import ParamCounts, block_kinds, hidden_size, layer_entry, shares_cache

if TYPE_CHECKING:
    from collections.abc import Callable

    from kvplan.core.hf.keys import Fields

EXPERT_KEYS = ("n_routed_experts", "num_local_experts", "num_experts", "moe_num_experts")
TOP_K_KEYS = ("num_experts_per_tok", "num_experts_per_token", "top_k_experts", "moe_k", "experts_per_token")
SHARED_COUNT_KEYS = ("n_shared_experts", "num_shared_experts", "moe_num_shared_experts")
SHARED_WIDTH_KEYS = (
    "shared_expert_intermediate_size",
    "moe_shared_expert_intermediate_size",
    "shared_intermediate_size",
)


@dataclass(frozen=True, slots=True)
class FeedForward:
    """How a model type builds its feed-forward part.

    `matrices` is 3 for gated blocks and 2 for plain ones; `expert_width` and `dense_width` name the keys of the
    widths; `dense_multiple` is the width in units of the hidden size where the key may be absent (0: it may not);
    `shared_experts` is their number where no key says so; `beside` means that experts add to the dense block;
    `blocks` that a layer is one block of an interleaved pattern.
    """

    experts: bool = False
    matrices: int = 3
    expert_width: str = "moe_intermediate_size"
    dense_width: str = "intermediate_size"
    dense_multiple: int = 0
    shared_experts: int = 0
    beside: bool = False
    blocks: bool = False


def _dense(fields: Fields, form: FeedForward) -> int:
    """Count a dense block."""
    hidden = hidden_size(fields)
    multiple = fields.count("expansion_ratio", default=form.dense_multiple) if form.dense_multiple else 0
    width = fields.count(form.dense_width, default=multiple * hidden if multiple else None)
    return mlp_params(hidden, width, matrices=form.matrices)


def _shared(fields: Fields, form: FeedForward) -> int:
    """Count the experts that every token passes through."""
    count = fields.count(*SHARED_COUNT_KEYS, default=form.shared_experts, minimum=0)
    named = fields.count(*SHARED_WIDTH_KEYS, default=0, minimum=0)
    width = named * max(count, 1) if named else count * fields.count(form.expert_width)
    return mlp_params(hidden_size(fields), width, matrices=form.matrices)


def _experts(fields: Fields, form: FeedForward) -> ParamCounts:
    """Count router, routed and shared experts, and the projections to a latent that experts may work on."""
    hidden, experts, chosen = hidden_size(fields), fields.count(*EXPERT_KEYS), fields.count(*TOP_K_KEYS)
    if chosen > experts:
        fields.problem(TOP_K_KEYS[0], f"{chosen} is not allowed", allowed=f"at most {experts} experts")
    latent = fields.count("moe_latent_size", default=0, minimum=0)
    expert = mlp_params(latent or hidden, fields.count(form.expert_width), matrices=form.matrices)
    always = hidden * experts + _shared(fields, form) + 2 * hidden * latent
    return ParamCounts(always + experts * expert, always + chosen * expert)


def _after_first_dense(fields: Fields, layer: int) -> bool:
    """Hold from the first expert layer on."""
    return layer >= fields.count("first_k_dense_replace", "moe_layer_start_index", default=0, minimum=0)


def _before_last(fields: Fields, layer: int) -> bool:
    """Hold up to the last expert layer (Ernie 4.5); -1 means the model's last layer."""
    if fields.data.get("moe_layer_end_index") == -1:
        return True
    return layer <= fields.count("moe_layer_end_index", default=layer, minimum=0)


def _in_steps(fields: Fields, layer: int) -> bool:
    """Hold on every n-th layer, counted from 1."""
    step = fields.count("decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_interval", default=1)
    return (layer + 1) % step == 0


def _at_frequency(fields: Fields, layer: int) -> bool:
    """Hold where `moe_layer_freq` says so: a list of 0 and 1, or every n-th layer counted from 0."""
    entry = layer_entry(fields, "moe_layer_freq", layer)
    if entry is not None:
        return bool(entry)
    return layer % fields.count("moe_layer_freq", default=1) == 0


def _not_excepted(fields: Fields, layer: int) -> bool:
    """Hold unless the layer is listed as dense."""
    return (
        layer not in (fields.numbers("mlp_only_layers") or ())
        and layer_entry(fields, "mlp_layer_types", layer) != "dense"
    )


_EXPERT_LAYER_RULES: tuple[Callable[[Fields, int], bool], ...] = (
    _after_first_dense,
    _before_last,
    _in_steps,
    _at_frequency,
    _not_excepted,
)


def feed_forward_params(fields: Fields, form: FeedForward, layer: int) -> ParamCounts:
    """Count one layer's feed-forward part.

    `total = h E + S + E m h w`, `active = h E + S + k m h w`

    Parameters
    ----------
    fields
        The configuration.
    form
        How the model type builds its feed-forward part.
    layer
        Index of the layer, from 0.

    Returns
    -------
    ParamCounts
        Parameters [1]: router h E, shared experts S, and all E or the chosen k routed experts of m matrices.
        Dense layers have all parameters active.

    Notes
    -----
    Without biases and the gate of a shared expert.

    Examples
    --------
    Mixtral-8x7B, one layer:

    >>> from kvplan.core.hf.keys import Fields
    >>> fields = Fields({"hidden_size": 4096, "intermediate_size": 14336,
    ...                  "num_local_experts": 8, "num_experts_per_tok": 2})
    >>> feed_forward_params(fields, FeedForward(experts=True, expert_width="intermediate_size"), 0)
    ParamCounts(total=1409318912, active=352354304)

    References
    ----------
    transformers 5.24.0, models/mixtral/modeling_mixtral.py and models/deepseek_v3/modeling_deepseek_v3.py.
    """
    if form.blocks:
        return _block(fields, form, layer)
    sparse = form.experts and all(rule(fields, layer) for rule in _EXPERT_LAYER_RULES)
    if not sparse:
        return _all_active(_dense(fields, form))
    if not form.beside:
        return _experts(fields, form)
    return _beside(fields, form, layer)


def _block(fields: Fields, form: FeedForward, layer: int) -> ParamCounts:
    """Count one block of an interleaved pattern; mixers have no feed-forward part."""
    kind = block_kinds(fields)[layer]
    if kind == "moe":
        return _experts(fields, form)
    return _all_active(_dense(fields, form) if kind == "mlp" else 0)


def _beside(fields: Fields, form: FeedForward, layer: int) -> ParamCounts:
    """Count a Gemma 4 layer: the dense block, twice as wide on sharing layers where so set, and experts if enabled."""
    doubled = shares_cache(fields, layer) and fields.flag("use_double_wide_mlp", default=False)
    dense = _dense(fields, form) * (2 if doubled else 1)
    if not fields.flag("enable_moe_block", default=False):
        return _all_active(dense)
    experts = _experts(fields, form)
    return ParamCounts(dense + experts.total, dense + experts.active)


def _all_active(count: int) -> ParamCounts:
    """Return a count of which every token uses all."""
    return ParamCounts(count, count)
