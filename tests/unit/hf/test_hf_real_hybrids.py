"""Published models with latents, compression or recurrent layers: keys in, published bytes out.

The configurations hold only keys that decide the KV size. Bytes are at 16 bits: what every further token adds, and what
does not grow (windows full, recurrent state in its own dtype). Sources: the `config.json` copies of
ai-dynamo/aiconfigurator@095f58a `model_configs`, kvcache-ai/kvcache-blog@9753288
`models.yaml`, AI-Hypercomputer/maxtext@e591f30, transformers 5.24.0 class defaults, vllm-project/vllm#28228
(Kimi Linear), kaito-project/kaito#2132 (Mistral Small 4).
"""

from __future__ import annotations

import pytest
from support import dense, published_bytes

from kvplan.core.hf.reader import read_config
from kvplan.core.kv.terms import fixed_bytes, slope_bytes_per_token
from kvplan.schema.model import Recurrent

Config = dict[str, object]

FULL, LINEAR = "full_attention", "linear_attention"
NANO = "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME"
NEMOTRON_56B = "M-M-M-M*-" + "M-M-M-M-M*-" * 9 + "M-M-M-M-M-"
WORDS = {"M": "mamba", "E": "moe", "*": "attention"}
QWEN35_LINEAR: Config = {
    "linear_num_key_heads": 16,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
    "linear_conv_kernel_dim": 4,
    "mamba_ssm_dtype": "float32",
}
MAMBA2_NANO: Config = {
    "mamba_num_heads": 64,
    "mamba_head_dim": 64,
    "n_groups": 8,
    "ssm_state_size": 128,
    "conv_kernel": 4,
    "mamba_ssm_cache_dtype": "float32",
}
MLA_V3: Config = {"kv_lora_rank": 512, "qk_rope_head_dim": 64, "num_attention_heads": 128, "num_key_value_heads": 128}
KIMI_K3_FULL = [*range(4, 93, 4), 93]


MODELS: dict[str, tuple[Config, int, int]] = {
    # latent
    "deepseek-ai/DeepSeek-V3": ({"model_type": "deepseek_v3", "num_hidden_layers": 61, **MLA_V3}, 70_272, 0),
    "deepseek-ai/DeepSeek-V2-Lite": ({"model_type": "deepseek_v2", "num_hidden_layers": 27, **MLA_V3}, 31_104, 0),
    "moonshotai/Kimi-K2-Instruct": ({"model_type": "kimi_k2", "num_hidden_layers": 61, **MLA_V3}, 70_272, 0),
    "moonshotai/Kimi-K2.5": (
        {"model_type": "kimi_k25", "text_config": {"model_type": "kimi_k2", "num_hidden_layers": 61, **MLA_V3}},
        70_272,
        0,
    ),
    "mistralai/Mistral-Small-4-119B-2603": (
        {"model_type": "mistral4", "num_hidden_layers": 36, "kv_lora_rank": 256, "qk_rope_head_dim": 64},
        23_040,
        0,
    ),
    "meituan-longcat/LongCat-Flash-Chat": ({"model_type": "longcat_flash", "num_layers": 28, **MLA_V3}, 64_512, 0),
    "deepseek-ai/DeepSeek-V3.2": (
        {"model_type": "deepseek_v32", "num_hidden_layers": 61, "index_head_dim": 128, **MLA_V3},
        85_888,
        0,
    ),
    "zai-org/GLM-5": (
        {"model_type": "glm_moe_dsa", "num_hidden_layers": 78, "index_head_dim": 128, **MLA_V3},
        109_824,
        0,
    ),
    "zai-org/GLM-5.2": (
        {
            "model_type": "glm_moe_dsa",
            "num_hidden_layers": 78,
            "index_head_dim": 128,
            "indexer_types": ["full"] * 3 + ["shared", "shared", "shared", "full"] * 18 + ["shared"] * 3,
            **MLA_V3,
        },
        95_232,
        0,
    ),
    "mistralai/Mistral-Large-4-1T-A52B": (
        {
            "model_type": "mistral_large4",
            "text_config": {
                "model_type": "mistral_large4_text",
                "num_hidden_layers": 72,
                "index_head_dim": 128,
                **MLA_V3,
            },
        },
        101_376,
        0,
    ),
    # compressed and indexed
    "deepseek-ai/DeepSeek-V4-Flash": (
        {
            "model_type": "deepseek_v4",
            "num_hidden_layers": 43,
            "head_dim": 512,
            "index_head_dim": 128,
            "sliding_window": 128,
            "compress_ratios": [0, 0, *[4, 128] * 20, 4, 0],
        },
        6_880,
        5_636_096,
    ),
    "deepseek-ai/DeepSeek-V4-Pro": (
        {
            "model_type": "deepseek_ref",
            "num_hidden_layers": 61,
            "head_dim": 512,
            "index_head_dim": 128,
            "sliding_window": 128,
            "compress_ratios": [128, *[128, 4] * 30, 0],
        },
        9_848,
        7_995_392,
    ),
    "MiniMaxAI/MiniMax-M3": (
        {
            "model_type": "minimax_m3_vl",
            "text_config": {
                "num_hidden_layers": 60,
                "num_attention_heads": 64,
                "num_key_value_heads": 4,
                "head_dim": 128,
                "sparse_attention_config": {
                    "use_sparse_attention": True,
                    "sparse_index_dim": 128,
                    "sparse_attention_freq": [0] * 3 + [1] * 57,
                },
            },
        },
        137_472,
        0,
    ),
    # recurrent hybrids
    "Qwen/Qwen3-Next-80B-A3B-Instruct": (
        dense("qwen3_next", 48, 16, 2, 2048, head_dim=256, linear_num_value_heads=32, **QWEN35_LINEAR),
        24_576,
        77_266_944,
    ),
    "Qwen/Qwen3.5-27B": (
        {
            "model_type": "qwen3_5",
            "text_config": dense(
                "qwen3_5_text",
                64,
                24,
                4,
                5120,
                head_dim=256,
                full_attention_interval=4,
                layer_types=[LINEAR, LINEAR, LINEAR, FULL] * 16,
                linear_num_value_heads=48,
                **QWEN35_LINEAR,
            ),
        },
        65_536,
        153_944_064,
    ),
    "moonshotai/Kimi-Linear-48B-A3B-Instruct": (
        {
            "model_type": "kimi_linear",
            "num_hidden_layers": 27,
            "linear_attn_config": {
                "num_heads": 32,
                "head_dim": 128,
                "short_conv_kernel_size": 4,
                "full_attn_layers": [4, 8, 12, 16, 20, 24, 27],
            },
            **MLA_V3,
        },
        8_064,
        43_417_600,
    ),
    "moonshotai/Kimi-K3": (
        {
            "model_type": "kimi_k3",
            "text_config": {
                "model_type": "kimi_linear",
                "num_hidden_layers": 93,
                "linear_attn_config": {
                    "num_heads": 96,
                    "head_dim": 128,
                    "short_conv_kernel_size": 4,
                    "full_attn_layers": KIMI_K3_FULL,
                    "kda_layers": sorted(set(range(1, 94)) - set(KIMI_K3_FULL)),
                },
                **MLA_V3,
            },
        },
        27_648,
        449_372_160,
    ),
    "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": (
        dense("nemotron_h", 52, 32, 2, 2688, head_dim=128, hybrid_override_pattern=NANO, **MAMBA2_NANO),
        6_144,
        49_082_368,
    ),
    "nvidia/NVIDIA-Nemotron-3.5-Lightning-30B-A3B-NVFP4": (
        {
            "model_type": "nemotron_h",
            "num_attention_heads": 32,
            "num_key_value_heads": 2,
            "head_dim": 128,
            "layers_block_type": [WORDS[letter] for letter in NANO],
            "mtp_layers_block_type": ["attention", "moe"],
            "num_nextn_predict_layers": 1,
            **MAMBA2_NANO,
        },
        6_144,
        49_082_368,
    ),
    "nvidia/Nemotron-H-56B-Base-8K": (
        dense(
            "nemotron_h",
            118,
            64,
            8,
            8192,
            attention_head_dim=128,
            hybrid_override_pattern=NEMOTRON_56B,
            mamba_num_heads=256,
            mamba_head_dim=64,
            n_groups=8,
            ssm_state_size=256,
            conv_kernel=4,
        ),
        40_960,
        912_605_184,
    ),
}


@pytest.mark.parametrize("model_id", MODELS)
def test_published_model_has_the_published_bytes(model_id: str) -> None:
    config, slope, fixed = MODELS[model_id]
    assert published_bytes(config, model_id) == (slope, fixed)


def test_jamba_state_is_float32_as_transformers_keeps_it() -> None:
    """At 2 B a state element the fixed part is 8,716,288 B; transformers 5.24.0, measured, keeps 4 B."""
    mamba: Config = {"mamba_expand": 2, "mamba_d_state": 16, "mamba_d_conv": 4}
    config = dense("jamba", 32, 32, 8, 4096, attn_layer_period=8, attn_layer_offset=4, **mamba)
    groups = read_config(config, model_id="ai21labs/Jamba-v0.1", source="config.json").groups
    at_16_bits = [
        group.model_copy(update={"state_bytes_per_element": 2}) if isinstance(group, Recurrent) else group
        for group in groups
    ]
    assert slope_bytes_per_token(groups, "bf16") == 16_384
    assert fixed_bytes(at_16_bits, "bf16") == 8_716_288
    assert fixed_bytes(groups, "bf16") == 8_716_288 + 28 * 131_072 * 2


def test_blocks_that_keep_nothing_have_a_group_of_their_own() -> None:
    config, _, _ = MODELS["nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"]
    spec = read_config(config, model_id="nano", source="config.json")
    assert {group.kind: group.layers for group in spec.groups} == {"recurrent": 23, "none": 23, "full": 6}
