"""Published models whose layers attend by heads: the keys that decide, and the bytes that must come out.

The configurations hold only keys that decide the KV size. Bytes are at 16 bits: what every further token adds, and what
does not grow (windows full, recurrent state in its own dtype). Sources: the `config.json` copies of
ai-dynamo/aiconfigurator@095f58a `model_configs`, vllm-project/vllm-spyre@fc6b54b and
inference-sim/inference-sim@f90a1e3, kvcache-ai/kvcache-blog@9753288 `models.yaml`, Lightning-AI/litgpt@2685705
`litgpt/config.py`, LMCache/LMCache `examples/kv_cache_calculator/modelconfig.json`, AI-Hypercomputer/maxtext@e591f30,
transformers 5.24.0 class defaults.
"""

from __future__ import annotations

import pytest
from support import dense, published_bytes

from kvplan.core.hf.reader import read_config

Config = dict[str, object]

SLIDING, FULL = "sliding_attention", "full_attention"
NAS_ATTENTION: Config = {"attention": {"n_heads_in_group": 8, "no_op": False, "replace_with_linear": False}}
NAS_NOTHING: Config = {"attention": {"n_heads_in_group": None, "no_op": True, "replace_with_linear": False}}
NAS_BLOCKS = [NAS_ATTENTION] * 49 + [NAS_NOTHING] * 31


MODELS: dict[str, tuple[Config, int, int]] = {
    # MHA, MQA, GQA
    "meta-llama/Llama-2-7b-hf": (dense("llama", 32, 32, 32, 4096), 524_288, 0),
    "mosaicml/mpt-7b": (
        {
            "model_type": "mpt",
            "n_layers": 32,
            "n_heads": 32,
            "d_model": 4096,
            "attn_config": {"attn_type": "multihead_attention"},
        },
        524_288,
        0,
    ),
    "CohereLabs/c4ai-command-r-v01": (dense("cohere", 40, 64, 64, 8192), 1_310_720, 0),
    "tiiuae/falcon-7b": (dense("falcon", 32, 71, 71, 4544, multi_query=True), 8_192, 0),
    "tiiuae/falcon-40b": (
        dense("falcon", 60, 128, 0, 8192, num_kv_heads=8, new_decoder_architecture=True, multi_query=True),
        122_880,
        0,
    ),
    "meta-llama/Meta-Llama-3.1-405B": (dense("llama", 126, 128, 8, 16384), 516_096, 0),
    "Qwen/Qwen3-32B": (dense("qwen3", 64, 64, 8, 5120, head_dim=128, use_sliding_window=False), 262_144, 0),
    "Qwen/Qwen2.5-7B-Instruct": (
        dense("qwen2", 28, 28, 4, 3584, sliding_window=131_072, max_window_layers=28, use_sliding_window=False),
        57_344,
        0,
    ),
    "MiniMaxAI/MiniMax-M2.7": (dense("minimax_m2", 62, 48, 8, 3072, head_dim=128), 253_952, 0),
    "ibm-granite/granite-3.3-8b-instruct": (dense("granite", 40, 32, 8, 4096), 163_840, 0),
    "databricks/dbrx-base": (
        {"model_type": "dbrx", "n_layers": 40, "n_heads": 48, "d_model": 6144, "attn_config": {"kv_n_heads": 8}},
        163_840,
        0,
    ),
    "THUDM/glm-4-9b-chat": (
        {
            "model_type": "chatglm",
            "num_layers": 40,
            "num_attention_heads": 32,
            "hidden_size": 4096,
            "kv_channels": 128,
            "multi_query_attention": True,
            "multi_query_group_num": 2,
        },
        40_960,
        0,
    ),
    "Qwen/Qwen3-VL-235B-A22B-Instruct": (
        {
            "model_type": "qwen3_vl_moe",
            "text_config": dense("qwen3_vl_moe_text", 94, 64, 4, 4096, head_dim=128),
            "vision_config": {"hidden_size": 1152},
        },
        192_512,
        0,
    ),
    "tencent/Hunyuan-A13B-Instruct": (
        dense("hunyuan_v1_moe", 32, 32, 8, 4096, attention_head_dim=128, use_cla=False, cla_share_factor=2),
        131_072,
        0,
    ),
    # GQA with shared, searched and crossing layers
    "tencent/Hunyuan-Large": (dense("hunyuan", 64, 80, 8, 6400, use_cla=True, cla_share_factor=2), 81_920, 0),
    "nvidia/Llama-3_3-Nemotron-Super-49B-v1": (
        {
            "model_type": "nemotron-nas",
            "num_hidden_layers": 80,
            "hidden_size": 8192,
            "num_attention_heads": 64,
            "num_key_value_heads": None,
            "block_configs": NAS_BLOCKS,
        },
        200_704,
        0,
    ),
    "meta-llama/Llama-3.2-11B-Vision": (
        {
            "model_type": "mllama",
            "text_config": dense(
                "mllama_text_model", 40, 32, 8, 4096, cross_attention_layers=[3, 8, 13, 18, 23, 28, 33, 38]
            ),
        },
        131_072,
        0,
    ),
    # windows
    "openai/gpt-oss-120b": (
        dense("gpt_oss", 36, 64, 8, 2880, head_dim=64, sliding_window=128, layer_types=[SLIDING, FULL] * 18),
        36_864,
        4_718_592,
    ),
    "mistralai/Mistral-7B-v0.1": (
        dense("mistral", 32, 32, 8, 4096, sliding_window=4096, max_position_embeddings=32_768),
        0,
        536_870_912,
    ),
    "mistralai/Mistral-Nemo-Instruct-2407": (
        dense("mistral", 40, 32, 8, 5120, head_dim=128, sliding_window=None),
        163_840,
        0,
    ),
    "microsoft/Phi-3-mini-128k-instruct": (
        dense("phi3", 32, 32, 32, 3072, sliding_window=262_144, max_position_embeddings=131_072),
        393_216,
        0,
    ),
    "google/gemma-2-27b": (dense("gemma2", 46, 32, 16, 4608, head_dim=128, sliding_window=4096), 188_416, 771_751_936),
    "google/gemma-3-27b-it": (
        {
            "model_type": "gemma3",
            "text_config": {
                "model_type": "gemma3_text",
                "num_hidden_layers": 62,
                "num_attention_heads": 32,
                "num_key_value_heads": 16,
                "head_dim": 128,
                "hidden_size": 5376,
                "sliding_window": 1024,
            },
        },
        81_920,
        436_207_616,
    ),
    "google/gemma-3-4b-it": (
        {
            "model_type": "gemma3",
            "text_config": {
                "model_type": "gemma3_text",
                "num_hidden_layers": 34,
                "hidden_size": 2560,
                "sliding_window": 1024,
            },
        },
        20_480,
        121_634_816,
    ),
    "google/gemma-3-1b-it": (
        dense("gemma3_text", 26, 4, 1, 1152, head_dim=256, sliding_window=512, sliding_window_pattern=6),
        4_096,
        11_534_336,
    ),
    "google/gemma-3n-E4B": (
        dense("gemma3n_text", 35, 8, 2, 2048, head_dim=256, sliding_window=512, num_kv_shared_layers=15),
        8_192,
        16_777_216,
    ),
    "google/gemma-4-26B-A4B": (
        {
            "model_type": "gemma4",
            "text_config": dense(
                "gemma4_text",
                30,
                16,
                8,
                2816,
                head_dim=256,
                global_head_dim=512,
                num_global_key_value_heads=2,
                attention_k_eq_v=True,
                num_kv_shared_layers=0,
                sliding_window=1024,
                layer_types=([SLIDING] * 5 + [FULL]) * 5,
            ),
        },
        20_480,
        209_715_200,
    ),
    "google/gemma-4-E4B": (
        dense(
            "gemma4_text",
            42,
            8,
            2,
            2560,
            head_dim=256,
            global_head_dim=512,
            num_global_key_value_heads=None,
            attention_k_eq_v=False,
            num_kv_shared_layers=18,
            sliding_window=512,
        ),
        16_384,
        20_971_520,
    ),
    "CohereLabs/c4ai-command-a-03-2025": (
        dense("cohere2", 64, 96, 8, 12288, sliding_window=4096, sliding_window_pattern=4),
        65_536,
        805_306_368,
    ),
    "CohereLabs/command-a-plus-05-2026-bf16": (
        dense("cohere2_moe", 32, 128, 8, 8192, head_dim=128, sliding_window=4096),
        32_768,
        402_653_184,
    ),
    "allenai/Olmo-3-32B": (dense("olmo3", 64, 40, 8, 5120, sliding_window=4096), 65_536, 805_306_368),
    "allenai/Olmo-3-7B-Instruct": (
        dense("olmo3", 32, 32, 32, 4096, sliding_window=4096, layer_types=[SLIDING, SLIDING, SLIDING, FULL] * 8),
        131_072,
        1_610_612_736,
    ),
    "stepfun-ai/Step-3.7-Flash": (
        dense(
            "step3p7",
            45,
            64,
            8,
            4096,
            head_dim=128,
            sliding_window=512,
            layer_types=[FULL, SLIDING, SLIDING, SLIDING] * 11 + [FULL],
            num_nextn_predict_layers=3,
        ),
        49_152,
        69_206_016,
    ),
    "XiaomiMiMo/MiMo-V2-Flash": (
        dense(
            "mimo_v2_flash",
            48,
            64,
            4,
            4096,
            head_dim=192,
            v_head_dim=128,
            swa_num_key_value_heads=8,
            swa_head_dim=192,
            swa_v_head_dim=128,
            sliding_window=128,
            hybrid_layer_pattern=[0, 1, 1, 1, 1, 0, *([1] * 5 + [0]) * 7],
        ),
        23_040,
        25_559_040,
    ),
    "thinkingmachines/Inkling": (
        {
            "model_type": "inkling_mm_model",
            "text_config": dense(
                "inkling_text",
                66,
                64,
                8,
                6144,
                head_dim=128,
                swa_num_key_value_heads=16,
                swa_head_dim=128,
                sliding_window_size=512,
            ),
        },
        45_056,
        230_686_720,
    ),
    "meta-llama/Llama-4-Scout-17B-16E-Instruct": (
        {
            "model_type": "llama4",
            "text_config": dense(
                "llama4_text", 48, 40, 8, 5120, head_dim=128, attention_chunk_size=8192, no_rope_layers=[]
            ),
        },
        49_152,
        1_207_959_552,
    ),
}


@pytest.mark.parametrize("model_id", MODELS)
def test_published_model_has_the_published_bytes(model_id: str) -> None:
    config, slope, fixed = MODELS[model_id]
    assert published_bytes(config, model_id) == (slope, fixed)


def test_borrowing_layers_have_a_group_of_their_own() -> None:
    config, _, _ = MODELS["tencent/Hunyuan-Large"]
    spec = read_config(config, model_id="hunyuan", source="config.json")
    assert {group.kind: group.layers for group in spec.groups} == {"full": 32, "shared": 32}


def test_draft_layers_are_recorded_and_keep_nothing() -> None:
    config, _, _ = MODELS["stepfun-ai/Step-3.7-Flash"]
    spec = read_config(config, model_id="step", source="config.json")
    assert spec.mtp_layers == 3
    assert sum(group.layers for group in spec.groups) == 45
