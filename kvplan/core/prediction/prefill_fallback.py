"""A cold prefill from physics, for a model and GPU of which nobody has published how long it takes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kvplan.core.hf.weights import weights_bytes
from kvplan.core.prediction.prefill import PrefillModel
from kvplan.core.prediction.prefill_attention import attention_work, depth

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvplan.schema.base import Constant
    from kvplan.schema.hardware import Gpu
    from kvplan.schema.model import ModelSpec

_AT_FP8_RATE: Final = frozenset({"fp8", "mxfp8", "int8", "nvfp4"})
"""Formats of weights that are multiplied at the fp8 rate; the other narrow ones are widened to bf16 first."""
_SIXTEEN_BITS: Final = frozenset({"", "bf16", "fp16", "bfloat16", "float16", "half"})
"""Names of 16-bit weights; a model that names no format has them too."""
_SOURCE: Final = (
    "physics: 2 FLOP for each active parameter and token, attention, all-reduces, at shares of the GPU's dense peaks"
)


@dataclass(frozen=True, slots=True)
class PrefillEngine:
    """What computes a prompt: a model with its weights in one format, on `tp` GPUs of a kind.

    `params_total` and `params_active` [1] are its own or, where the model does not tell, what its name says.
    """

    spec: ModelSpec
    params_total: int
    params_active: int
    weights: str
    gpu: Gpu
    tp: int

    @property
    def has_experts(self) -> bool:
        """Whether a token passes through a part of the weights only."""
        return self.params_active < self.params_total

    @property
    def gpu_weights_bytes(self) -> float:
        """Weights that one GPU holds [B]."""
        form = computed_format(self.weights)
        known = self.spec.weights_bytes if form == computed_format(self.spec.weights_dtype) else None
        return (known or weights_bytes(self.params_total, form)) / self.tp


def computed_format(weights: str) -> str:
    """Return the name under which the prefill table has weights of a format.

    Parameters
    ----------
    weights
        A format as configurations name it, such as `float16`.

    Returns
    -------
    str
        The format; all of 16 bits are `bf16`, for they are multiplied at one rate.

    References
    ----------
    Data sheets: one dense peak for bf16 and fp16.

    Examples
    --------
    >>> computed_format("float16"), computed_format("FP8"), computed_format("")
    ('bf16', 'fp8', 'bf16')
    """
    name = weights.strip().lower()
    return "bf16" if name in _SIXTEEN_BITS else name


def fallback_model(engine: PrefillEngine, constants: Mapping[str, Constant]) -> PrefillModel | None:
    r"""Return the coefficients of a cold prefill as physics has them.

    .. math:: a = \frac{2 P}{g \, s F_w} + \frac{w}{g \, s_a F} + \frac{V}{s_c L}, \qquad
              b = \frac{q}{g \, s_a F}, \qquad c_0 = \frac{W}{M} \left(1 - \frac{P}{P_{all}}\right)

    Parameters
    ----------
    engine
        The model with P of P_all parameters active [1], and g GPUs with dense peaks F in bf16 and F_w in the format of
        the weights [FLOP/s], a link L and memory M [B/s], and weights W on each [B].
    constants
        Shares of the peaks: s is `prefill.linear_share`, of a mixture of experts `prefill.expert_share` of the bf16
        peak; s_a is `prefill.attention_share`, s_c `prefill.collective_share`. The derate comes from there too.

    Returns
    -------
    PrefillModel or None
        The coefficients, `derived`; None where the GPU's peaks or link, or the query heads, are not known.

    Notes
    -----
    q and w are the work of `attention_work`, V the bytes of `collective_bytes`. Embeddings count among the active
    parameters although hardly a token passes them: up to 13 % too much for small models. Experts on Blackwell are the
    weakest point: the table has gpt-oss-120b at about half of this speed. `fallback_errors` gives every error. A
    GPU that is short of FLOPS for its memory reaches more of its peak: an H20 took 15.2 s for 64K tokens of
    Qwen3-30B-A3B, of which this makes 23.8 s before the derate. All work is taken to divide evenly over the GPUs.

    References
    ----------
    2 P n: Kaplan et al., 2020 (arXiv:2001.08361). Shares fitted on the prefill table, peaks from data sheets.

    Examples
    --------
    Llama-3.1-8B on one H100; the table has 20.5 us and 0.397 ns:

    >>> import kvplan
    >>> tables = kvplan.load_catalogue()
    >>> llama = tables.model("Meta-Llama-3.1-8B")
    >>> engine = PrefillEngine(llama, llama.params_total, llama.params_active, "bf16", tables.gpu("h100"), 1)
    >>> model = fallback_model(engine, tables.constants())
    >>> round(model.a_s_per_token * 1e6, 1), round(model.b_s_per_token2 * 1e9, 3), model.c0_s
    (23.2, 0.439, 0.0)
    """
    work = attention_work(engine.spec, constants)
    peak = engine.gpu.bf16_flops_per_s
    linear = _linear_seconds(engine, constants)
    shared = _collective_seconds(engine, constants)
    if work is None or peak is None or linear is None or shared is None:
        return None
    attention = engine.tp * peak * constants["prefill.attention_share"].value
    idle = 1 - engine.params_active / engine.params_total
    return PrefillModel(
        c0_s=idle * engine.gpu_weights_bytes / engine.gpu.memory_bandwidth_bytes_per_s,
        a_s_per_token=linear + work.per_token / attention + shared,
        b_s_per_token2=work.per_square / attention,
        derate=constants["prefill.derate"].value,
        confidence="derived",
        source=_SOURCE,
    )


def collective_bytes(params_active: float, layers: int, tp: int) -> float:
    r"""Return what each GPU sends for one token so that tensor parallelism has whole activations again.

    .. math:: V = 2 l \cdot 2 h \cdot \frac{2 (g - 1)}{g}, \qquad h = \sqrt{P / 12 l}

    Parameters
    ----------
    params_active
        Active parameters P [1].
    layers
        Layers l [1], each with two all-reduces.
    tp
        GPUs g that share the model [1].

    Returns
    -------
    float
        Bytes [B/token].

    Notes
    -----
    Activations of 2 B, and a ring or something as good. The width h of the model is guessed from its size: 8,573 for
    the 8,192 of Llama-3.1-70B, 7,163 for the 7,168 of DeepSeek-V3, 3,636 for the 2,880 of gpt-oss-120b.

    References
    ----------
    P = 12 l h^2: Kaplan et al., 2020 (arXiv:2001.08361); all-reduce: Patarasu and Yuan, 2009.

    Examples
    --------
    >>> round(collective_bytes(70_553_706_496, 80, 4) / 1e6, 2), collective_bytes(70_553_706_496, 80, 1)
    (4.11, 0.0)
    """
    width = math.sqrt(params_active / (12 * layers))
    return 2 * layers * 2 * width * 2 * (tp - 1) / tp


def _linear_seconds(engine: PrefillEngine, constants: Mapping[str, Constant]) -> float | None:
    """Return the time for the products with the weights [s/token]."""
    gpu = engine.gpu
    # Experts are so small that the wider rate is no use: the rows with fp8 experts lie at the same share of bf16.
    narrow = computed_format(engine.weights) in _AT_FP8_RATE and not engine.has_experts
    peak = gpu.fp8_flops_per_s if narrow and gpu.fp8_flops_per_s else gpu.bf16_flops_per_s
    if peak is None:
        return None
    share = constants["prefill.expert_share" if engine.has_experts else "prefill.linear_share"].value
    return 2 * engine.params_active / (engine.tp * peak * share)


def _collective_seconds(engine: PrefillEngine, constants: Mapping[str, Constant]) -> float | None:
    """Return the time for the all-reduces [s/token]."""
    link = engine.gpu.link_bytes_per_s
    if engine.tp == 1:
        return 0.0
    if link is None:
        return None
    sent = collective_bytes(engine.params_active, depth(engine.spec), engine.tp)
    return sent / (link * constants["prefill.collective_share"].value)
