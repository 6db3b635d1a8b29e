"""Bytes that a model's weights take, by how they are quantised."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping

from kvplan.core.hf.keys import DTYPES
from kvplan.core.hf.params_keys import language_part
from kvplan.errors import InputError

BYTES_PER_WEIGHT: Mapping[str, float] = {
    "fp32": 4.0,
    "bf16": 2.0,
    "fp16": 2.0,
    "fp8": 1.0,
    "mxfp8": 1 + 1 / 32,
    "int8": 1.0,
    "nvfp4": 0.5 + 1 / 16,
    "mxfp4": 0.5 + 1 / 32,
    "int4": 0.5 + 2 / 32,
    "awq": 0.5 + 2.5 / 128,
    "gptq": 0.5 + 2.5 / 128,
}
"""Bytes per weight with its share of the scales: one byte per 16 (NVFP4) or 32 values (MX), two bytes per 32 (int4 as
Kimi-K2.5 ships it), two bytes and a 4-bit zero point per 128 (AWQ, GPTQ). The scales of fp8 blocks of 128 x 128 and
of int8 channels are negligible."""

_LONG_NAMES: Mapping[str, str] = {"bfloat16": "bf16", "float16": "fp16", "half": "fp16", "float32": "fp32"}
_METHODS: Mapping[str, str] = {"fp8": "fp8", "fbgemm_fp8": "fp8", "mxfp4": "mxfp4"}
_ALGORITHMS: Mapping[str, str] = {
    "FP8": "fp8",
    "FP8_PB_WO": "fp8",
    "FP8_PER_CHANNEL_PER_TOKEN": "fp8",
    "INT4_AWQ": "awq",
    "INT8_SQ": "int8",
    "MXFP4": "mxfp4",
    "MXFP8": "mxfp8",
    "NVFP4": "nvfp4",
    "W4A16_AWQ": "awq",
    "W4A16_NVFP4": "nvfp4",
    "W4A8_AWQ": "awq",
}
_GROUPED: Mapping[tuple[object, object, object], str] = {
    ("float", 4, 16): "nvfp4",
    ("float", 4, 32): "mxfp4",
    ("float", 8, 32): "mxfp8",
    ("int", 4, 32): "int4",
    ("int", 4, 128): "awq",
}
_UNGROUPED: Mapping[tuple[object, object], str] = {("float", 8): "fp8", ("int", 8): "int8", ("int", 4): "int4"}
_BY_BITS: Mapping[tuple[str, object], str] = {
    ("awq", 4): "awq",
    ("gptq", 4): "gptq",
    ("gptq", 8): "int8",
    ("auto-round", 4): "gptq",
}


_NAMED: Mapping[str, str] = {
    "gptq-int8": "int8",
    "gptq": "gptq",
    "awq": "awq",
    "w4a16": "awq",
    "nvfp4": "nvfp4",
    "mxfp4": "mxfp4",
    "mxfp8": "mxfp8",
    "fp8": "fp8",
    "fp4": "nvfp4",
    "w8a8": "int8",
    "w8a16": "int8",
    "int8": "int8",
    "8bit": "int8",
    "int4": "int4",
    "4bit": "int4",
}
"""Formats as published names state them, the more specific first: -AWQ-4bit is AWQ, NVIDIA's early -FP4 is NVFP4."""
_IN_NAME: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(rf"(?<![a-z0-9]){word}(?![a-z0-9])"), dtype) for word, dtype in _NAMED.items()
)


def bytes_per_weight(dtype: str) -> float:
    """Return what one weight takes, with its share of the scales.

    `b / 8 + s / g`, with b bits a weight and s bytes of scale for g weights.

    Parameters
    ----------
    dtype
        A name of `BYTES_PER_WEIGHT`, or `bfloat16`, `float16`, `half`, `float32`; letter case does not matter.

    Returns
    -------
    float
        Bytes of one weight [B].

    Raises
    ------
    InputError
        When the name is none of these.

    Notes
    -----
    Holds for the quantised layers. Embeddings, attention and routers often stay in 16 bit.

    Examples
    --------
    >>> bytes_per_weight("bfloat16"), bytes_per_weight("fp8"), bytes_per_weight("mxfp4")
    (2.0, 1.0, 0.53125)

    References
    ----------
    OCP Microscaling Formats v1.0 (MXFP4: one 8-bit scale per 32 values); NVIDIA TensorRT Model Optimizer (NVFP4:
    one FP8 scale per 16 values); AWQ (arXiv:2306.00978) and GPTQ (arXiv:2210.17323) at group size 128;
    vLLM 0.33.0, vllm/v1/kv_cache_interface.py, for the same layout of NVFP4.
    """
    name = dtype.strip().lower()
    size = BYTES_PER_WEIGHT.get(_LONG_NAMES.get(name, name))
    if size is None:
        allowed = f"one of {', '.join(BYTES_PER_WEIGHT)}"
        what = f"{dtype!r} is not a weight format"
        raise InputError.single(where="weights", what=what, key="weights_dtype", allowed=allowed)
    return size


def weights_bytes(params_total: int, dtype: str) -> int:
    """Return what all weights take if all are in one format.

    `P b`, rounded up

    Parameters
    ----------
    params_total
        Parameters P of the model [1].
    dtype
        The format, as `bytes_per_weight` takes it.

    Returns
    -------
    int
        Bytes of the weights [B].

    Notes
    -----
    A lower bound for 4-bit checkpoints, which keep some layers in 16 bit: gpt-oss-120b is published with
    65,190,340,224 B, 5 % more than this says.

    Examples
    --------
    >>> weights_bytes(8_030_261_248, "bf16")
    16060522496
    >>> weights_bytes(116_829_156_672, "mxfp4")
    62065489482

    References
    ----------
    meta-llama/Meta-Llama-3.1-8B and openai/gpt-oss-120b configurations instantiated with transformers 5.24.0.
    """
    return math.ceil(params_total * bytes_per_weight(dtype))


def quantisation_of(config: Mapping[str, object], name: str = "") -> str:
    """Name the format of the weights that a configuration describes.

    format = `quantization_config`, else a format in the published name, else `dtype` or `torch_dtype`

    Parameters
    ----------
    config
        A whole `config.json`; `quantization_config` is read wherever it stands.
    name
        Published name of the model, such as `nvidia/DeepSeek-V3.2-NVFP4`; letter case does not matter.

    Returns
    -------
    str
        A name of `BYTES_PER_WEIGHT`; for a scheme that is not known its own name, which `bytes_per_weight` then
        refuses. `bf16` when the configuration says nothing.

    Notes
    -----
    Where layers differ the format of most listed layers counts, and of experts before that of other layers.
    Some publishers keep the quantisation in a file of its own (`hf_quant_config.json`), which is not seen here: then
    only the name tells. A name never overrules a `quantization_config`.

    Examples
    --------
    >>> quantisation_of({"quantization_config": {"quant_method": "mxfp4"}, "torch_dtype": "bfloat16"})
    'mxfp4'
    >>> quantisation_of({"torch_dtype": "float16"}), quantisation_of({})
    ('fp16', 'bf16')
    >>> quantisation_of({"torch_dtype": "bfloat16"}, "nvidia/DeepSeek-V3.2-NVFP4")
    'nvfp4'

    References
    ----------
    transformers 5.24.0, utils/quantization_config.py; compressed-tensors, quantization schemes; NVIDIA TensorRT
    Model Optimizer, unified Hugging Face checkpoints.
    """
    parts = (language_part(config), config)
    for part in parts:
        scheme = part.get("quantization_config")
        if isinstance(scheme, Mapping) and scheme:
            return _scheme_name(scheme, parts[0].get("expert_dtype"))
    if published := _named_format(name):
        return published
    listed = (part.get(key) for part in parts for key in DTYPES)
    dtype = next((word for word in listed if isinstance(word, str)), "bf16").removeprefix("torch.")
    return _LONG_NAMES.get(dtype, dtype)


def _named_format(name: str) -> str:
    """Read a format off a published name, nothing where it states none."""
    words = name.rpartition("/")[2].lower().replace("_", "-")
    return next((dtype for pattern, dtype in _IN_NAME if pattern.search(words)), "")


def _scheme_name(scheme: Mapping[str, object], expert_dtype: object) -> str:
    """Name the format of a `quantization_config`: by algorithm, experts, groups, bits, then method."""
    method = str(scheme.get("quant_method", ""))
    # The most specific statement wins: the algorithm, then the experts, the groups, the bits, the method.
    algorithm = _algorithm(scheme)
    if algorithm is not None:
        return _ALGORITHMS.get(algorithm, algorithm.lower())
    if expert_dtype == "fp4":
        return "mxfp4"
    grouped = _group_name(scheme)
    if grouped is not None:
        return grouped
    if method == "bitsandbytes":
        return "int4" if scheme.get("load_in_4bit") is True else "int8"
    bits = scheme.get("bits", scheme.get("w_bit"))
    return _by_bits(method, bits) or _METHODS.get(method, method or "unknown")


def _by_bits(method: str, bits: object) -> str | None:
    """Name the format of a method that comes in several widths, None where no width is given."""
    if not isinstance(bits, int):
        return None
    return _BY_BITS.get((method, bits), f"{method}-{bits}bit")


def _algorithm(scheme: Mapping[str, object]) -> str | None:
    """Return the algorithm of the experts, of most listed layers, or of the whole, in this order."""
    experts = scheme.get("moe_quant_algo")
    if isinstance(experts, str):
        return experts
    listed = scheme.get("quantized_layers")
    if isinstance(listed, Mapping):
        named = Counter(str(layer.get("quant_algo")) for layer in listed.values() if isinstance(layer, Mapping))
        if named:
            return named.most_common(1)[0][0]
    whole = scheme.get("quant_algo")
    return whole if isinstance(whole, str) else None


def _group_name(scheme: Mapping[str, object]) -> str | None:
    """Name the widest format among `config_groups`, None where there are none."""
    groups = scheme.get("config_groups")
    if not isinstance(groups, Mapping):
        return None
    weights = (group.get("weights") for group in groups.values() if isinstance(group, Mapping))
    names = [_group_format(weight) for weight in weights if isinstance(weight, Mapping)]
    return max(names, key=lambda name: BYTES_PER_WEIGHT.get(name, math.inf), default=None)


def _group_format(weights: Mapping[str, object]) -> str:
    """Name the format of one group by kind, bits and group size."""
    kind, bits, size = weights.get("type"), weights.get("num_bits"), weights.get("group_size")
    grouped = next((name for key, name in _GROUPED.items() if key == (kind, bits, size)), None)
    if grouped is not None:
        return grouped
    return next((name for key, name in _UNGROUPED.items() if key == (kind, bits)), f"{kind}{bits}")
