from __future__ import annotations

from typing import Any

import pytest

from kvplan.core.hf.weights import BYTES_PER_WEIGHT, bytes_per_weight, quantisation_of, weights_bytes
from kvplan.errors import InputError

Scheme = dict[str, Any]


def _group(kind: str, bits: int, size: int | None) -> Scheme:
    return {"weights": {"type": kind, "num_bits": bits, "group_size": size}}


@pytest.mark.parametrize(
    ("dtype", "size"),
    [("bf16", 2), ("float16", 2), ("FP8", 1), ("float32", 4), ("mxfp4", 0.53125), ("nvfp4", 0.5625), ("int8", 1)],
)
def test_bytes_of_one_weight(dtype: str, size: float) -> None:
    assert bytes_per_weight(dtype) == size


def test_awq_keeps_a_scale_and_a_zero_point_for_128_weights() -> None:
    assert bytes_per_weight("awq") * 128 == 128 * 4 / 8 + 2 + 0.5


def test_an_unknown_format_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="'int3' is not a weight format; one of fp32, bf16"):
        bytes_per_weight("int3")


def test_weights_of_llama_3_1_8b_are_16_gb() -> None:
    """meta-llama/Meta-Llama-3.1-8B: 8,030,261,248 parameters in bf16, counted with transformers 5.24.0."""
    assert weights_bytes(8_030_261_248, "bfloat16") == 16_060_522_496


def test_gpt_oss_120b_is_published_5_percent_larger_than_all_mxfp4() -> None:
    """openai/gpt-oss-120b: 65,190,340,224 B, its experts alone in MXFP4."""
    assert weights_bytes(116_829_156_672, "mxfp4") == pytest.approx(65_190_340_224, rel=0.05)


def test_a_fraction_of_a_byte_counts_as_one() -> None:
    assert weights_bytes(3, "mxfp4") == 2


SCHEMES: dict[str, tuple[Scheme, str]] = {
    "DeepSeek-V3": ({"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]}, "fp8"),
    "gpt-oss-120b": ({"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]}, "mxfp4"),
    "Kimi-K2.5": (
        {
            "quant_method": "compressed-tensors",
            "format": "pack-quantized",
            "config_groups": {"0": _group("int", 4, 32)},
        },
        "int4",
    ),
    "Llama-4-Scout FP8-dynamic": (
        {"quant_method": "compressed-tensors", "config_groups": {"0": _group("float", 8, None)}},
        "fp8",
    ),
    "nvidia/Qwen3.5-122B-A10B-NVFP4": (
        {"quant_method": "modelopt", "quant_algo": "NVFP4", "config_groups": {"0": _group("float", 4, 16)}},
        "nvfp4",
    ),
    "nvidia/MiniMax-M3-NVFP4": (
        {
            "quant_method": "modelopt",
            "quant_algo": "MIXED_PRECISION",
            "quantized_layers": {
                "a": {"quant_algo": "NVFP4"},
                "b": {"quant_algo": "MXFP8"},
                "c": {"quant_algo": "NVFP4"},
            },
        },
        "nvfp4",
    ),
    "nvidia/DeepSeek-V4-Pro-NVFP4": (
        {"quant_method": "fp8", "quant_algo": "MIXED_PRECISION", "moe_quant_algo": "NVFP4"},
        "nvfp4",
    ),
    "modelopt without layers": ({"quant_method": "modelopt", "quant_algo": "FP8", "quantized_layers": {}}, "fp8"),
    "widest of several groups": (
        {
            "quant_method": "compressed-tensors",
            "config_groups": {"0": _group("float", 4, 16), "1": _group("int", 8, 1)},
        },
        "int8",
    ),
    "mxfp4 groups": ({"quant_method": "compressed-tensors", "config_groups": {"0": _group("float", 4, 32)}}, "mxfp4"),
    "AWQ": ({"quant_method": "awq", "bits": 4, "group_size": 128}, "awq"),
    "AWQ, older spelling": ({"quant_method": "awq", "w_bit": 4}, "awq"),
    "GPTQ": ({"quant_method": "gptq", "bits": 4}, "gptq"),
    "GPTQ 8 bit": ({"quant_method": "gptq", "bits": 8}, "int8"),
    "bitsandbytes 4 bit": ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "int4"),
    "bitsandbytes 8 bit": ({"quant_method": "bitsandbytes", "load_in_8bit": True}, "int8"),
}


@pytest.mark.parametrize("name", SCHEMES)
def test_formats_as_publishers_write_them(name: str) -> None:
    scheme, expected = SCHEMES[name]
    assert quantisation_of({"quantization_config": scheme, "torch_dtype": "bfloat16"}) == expected
    assert quantisation_of({"text_config": {"quantization_config": scheme}}) == expected
    assert quantisation_of({"thinker_config": {"text_config": {"quantization_config": scheme}}}) == expected
    assert expected in BYTES_PER_WEIGHT


UNKNOWN: dict[str, tuple[Scheme, str]] = {
    "method": ({"quant_method": "hqq"}, "hqq"),
    "no method": ({"fmt": "?"}, "unknown"),
    "bits": ({"quant_method": "gptq", "bits": 3}, "gptq-3bit"),
    "algorithm": ({"quant_method": "modelopt", "quant_algo": "W1A1"}, "w1a1"),
    "groups": ({"quant_method": "compressed-tensors", "config_groups": {"0": _group("int", 2, 64)}}, "int2"),
    "empty groups": ({"quant_method": "compressed-tensors", "config_groups": {"0": None}}, "compressed-tensors"),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_unknown_scheme_keeps_its_own_name_and_is_refused_later(name: str) -> None:
    scheme, expected = UNKNOWN[name]
    assert quantisation_of({"quantization_config": scheme}) == expected
    with pytest.raises(InputError):
        bytes_per_weight(expected)


def test_experts_in_fp4_count_before_the_rest_in_fp8() -> None:
    """deepseek-ai/DeepSeek-V4-Pro: `expert_dtype: fp4` beside an fp8 quantization_config."""
    assert quantisation_of({"expert_dtype": "fp4", "quantization_config": {"quant_method": "fp8"}}) == "mxfp4"


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, "bf16"),
        ({"torch_dtype": "float16"}, "fp16"),
        ({"dtype": "bfloat16"}, "bf16"),
        ({"dtype": None, "torch_dtype": "torch.float32"}, "fp32"),
        ({"dtype": "float16", "text_config": {"dtype": "bfloat16"}}, "bf16"),
        ({"quantization_config": {}, "dtype": "float16"}, "fp16"),
        ({"quantization_config": None}, "bf16"),
    ],
)
def test_without_quantisation_the_dtype_counts(config: Scheme, expected: str) -> None:
    assert quantisation_of(config) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # configurations without quantization_config, as kept in ai-dynamo/aiconfigurator@095f58a `model_configs`
        ("nvidia/DeepSeek-V3.1-NVFP4", "nvfp4"),
        ("nvidia/DeepSeek-V3.2-NVFP4", "nvfp4"),
        ("nvidia/GLM-5-NVFP4", "nvfp4"),
        ("nvidia/Llama-3.1-70B-Instruct-FP8", "fp8"),
        ("nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-FP8", "fp8"),
        ("nvidia/Qwen3-235B-A22B-NVFP4", "nvfp4"),
        # other spellings
        ("cyankiwi/MiniMax-M2.7-AWQ-4bit", "awq"),
        ("Qwen/Qwen2.5-72B-Instruct-GPTQ-Int4", "gptq"),
        ("Qwen/Qwen2.5-72B-Instruct-GPTQ-Int8", "int8"),
        ("RedHatAI/Llama-3.3-70B-Instruct-FP8-dynamic", "fp8"),
        ("RedHatAI/Llama-3.3-70B-Instruct-quantized.w8a8", "int8"),
        ("RedHatAI/Llama-3.3-70B-Instruct-quantized.w4a16", "awq"),
        ("amd/MiniMax-M2.7-MXFP4", "mxfp4"),
        ("someone/model_MXFP8", "mxfp8"),
        ("moonshot/Kimi-K2.5-INT4", "int4"),
        ("nvidia/DeepSeek-R1-FP4", "nvfp4"),
        # no format
        ("meta-llama/Llama-3.1-8B", "fp16"),
        ("awq/Llama-3.1-8B", "fp16"),
        ("someone/Hawq-8B-fp80", "fp16"),
        ("", "fp16"),
    ],
)
def test_without_quantisation_a_format_in_the_name_counts_before_the_dtype(name: str, expected: str) -> None:
    config = {"torch_dtype": "float16"}
    assert quantisation_of(config, name) == expected
    assert quantisation_of({**config, "quantization_config": {}}, name.lower()) == expected
    assert expected in BYTES_PER_WEIGHT


def test_a_name_never_overrules_the_configuration() -> None:
    """nvidia/Qwen3.6-27B-NVFP4 keeps most listed layers in FP8."""
    scheme = {"quant_method": "modelopt", "quant_algo": "FP8"}
    assert quantisation_of({"quantization_config": scheme}, "nvidia/Qwen3.6-27B-NVFP4") == "fp8"
