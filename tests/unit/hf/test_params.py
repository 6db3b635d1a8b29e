"""Counts of hand-written configurations against published ones.

Source of every count: the model's public config.json instantiated on meta tensors with transformers 5.24.0. The
configurations hold the keys that decide the count, as found in ai-dynamo/aiconfigurator@095f58a model_configs,
inference-sim/inference-sim@f90a1e3 model_configs and intel/intel-extension-for-pytorch@6d3ba89. No copy of the
configuration was at hand for DeepSeek-V2-Lite, Falcon-40B, Granite 4 and MiMo-V2-Flash: their keys are written from
the models' descriptions, and agreeing with the published count is what confirms them.
"""

from __future__ import annotations

from typing import Any

import pytest

from kvplan.core.hf.params import RECIPES, ParamCounts, count_params
from kvplan.core.hf.params_mixers import MIXERS

TOLERANCE = 0.03
Config = dict[str, Any]


def _sizes(hidden: int, layers: int, heads: int, vocab: int, **more: object) -> Config:
    """Spell the keys that every configuration has."""
    common = {"hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads, "vocab_size": vocab}
    return {**common, **more}


def _experts(count: int, chosen: int, width: int, **more: object) -> Config:
    return {"num_experts": count, "num_experts_per_tok": chosen, "moe_intermediate_size": width, **more}


def _latent(q_rank: int | None, nope: int, value: int) -> Config:
    ranks = {"q_lora_rank": q_rank, "kv_lora_rank": 512}
    return {**ranks, "qk_nope_head_dim": nope, "qk_rope_head_dim": 64, "v_head_dim": value}


def _deltanet(value_heads: int) -> Config:
    keys = {"linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_num_key_heads": 16}
    return {**keys, "linear_num_value_heads": value_heads, "linear_value_head_dim": 128, "head_dim": 256}


def _mamba2(heads: int, state: int) -> Config:
    keys = {"mamba_num_heads": heads, "mamba_head_dim": 64, "n_groups": 8}
    return {**keys, "ssm_state_size": state, "conv_kernel": 4, "head_dim": 128}


_DEEPSEEK_MOE = {"n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8}
_DEEPSEEK_V3 = _sizes(7168, 61, 128, 129280, intermediate_size=18432, moe_intermediate_size=2048) | _latent(
    1536, 128, 128
)
_DEEPSEEK_V3 |= {**_DEEPSEEK_MOE, "first_k_dense_replace": 3, "moe_layer_freq": 1}
_GLM5 = _sizes(6144, 78, 64, 154880, intermediate_size=12288, moe_intermediate_size=2048) | _latent(2048, 192, 256)
_GLM5 |= {**_DEEPSEEK_MOE, "first_k_dense_replace": 3, "index_n_heads": 32, "index_head_dim": 128}
_V4_INDEX = {"index_n_heads": 64, "index_head_dim": 128, "head_dim": 512, "hc_mult": 4, "o_lora_rank": 1024}
_LLAMA4 = _sizes(5120, 48, 40, 202048, num_key_value_heads=8, head_dim=128, intermediate_size=8192)
_LLAMA4 |= {"intermediate_size_mlp": 16384, "num_experts_per_tok": 1, "model_type": "llama4_text"}
_GPT_OSS = {"num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 2880, "num_experts_per_tok": 4}
_GRANITE4 = _sizes(4096, 40, 32, 100352, num_key_value_heads=8, intermediate_size=768, shared_intermediate_size=1536)
_GRANITE4 |= {"num_local_experts": 72, "num_experts_per_tok": 10, "mamba_n_heads": 128, "mamba_d_head": 64}
_MIMO_V2 = _sizes(4096, 48, 64, 152576, num_key_value_heads=4, head_dim=192, v_head_dim=128, intermediate_size=16384)
_MIMO_V2 |= {"swa_num_key_value_heads": 8, "swa_head_dim": 192, "swa_v_head_dim": 128, "moe_intermediate_size": 2048}
_GEMMA4 = _sizes(2816, 30, 16, 262144, num_key_value_heads=8, head_dim=256, global_head_dim=512, intermediate_size=2112)
_GEMMA4 |= {"num_global_key_value_heads": 2, "attention_k_eq_v": True, "enable_moe_block": True, "top_k_experts": 8}

PUBLISHED: dict[str, tuple[Config, int, int]] = {
    "meta-llama/Meta-Llama-3.1-8B": (
        _sizes(4096, 32, 32, 128256, model_type="llama", num_key_value_heads=8, intermediate_size=14336),
        8_030_261_248,
        8_030_261_248,
    ),
    "meta-llama/Meta-Llama-3.1-405B": (
        _sizes(16384, 126, 128, 128256, model_type="llama", num_key_value_heads=8, intermediate_size=53248),
        405_853_388_800,
        405_853_388_800,
    ),
    "meta-llama/Llama-4-Scout-17B-16E-Instruct": (
        {"model_type": "llama4", "text_config": _LLAMA4 | {"num_local_experts": 16, "interleave_moe_layer_step": 1}},
        107_769_861_120,
        17_172_894_720,
    ),
    "meta-llama/Llama-4-Maverick-17B-128E-Instruct": (
        {"model_type": "llama4", "text_config": _LLAMA4 | {"num_local_experts": 128, "interleave_moe_layer_step": 2}},
        400_711_848_960,
        17_184_691_200,
    ),
    "mistralai/Mixtral-8x7B-v0.1": (
        _sizes(4096, 32, 32, 32000, model_type="mixtral", num_key_value_heads=8, intermediate_size=14336)
        | {"num_local_experts": 8, "num_experts_per_tok": 2},
        46_702_792_704,
        12_879_925_248,
    ),
    "Qwen/Qwen2.5-7B-Instruct": (
        _sizes(3584, 28, 28, 152064, model_type="qwen2", num_key_value_heads=4, intermediate_size=18944),
        7_615_616_512,
        7_615_616_512,
    ),
    "Qwen/Qwen3-0.6B": (
        _sizes(1024, 28, 16, 151936, model_type="qwen3", num_key_value_heads=8, head_dim=128, intermediate_size=3072)
        | {"tie_word_embeddings": True},
        596_049_920,
        596_049_920,
    ),
    "Qwen/Qwen3-235B-A22B": (
        _sizes(4096, 94, 64, 151936, model_type="qwen3_moe", num_key_value_heads=4, head_dim=128)
        | _experts(128, 8, 1536, decoder_sparse_step=1, mlp_only_layers=[]),
        235_093_634_560,
        22_190_763_520,
    ),
    "Qwen/Qwen3.5-27B": (
        {
            "model_type": "qwen3_5",
            "text_config": _sizes(5120, 64, 24, 248320, model_type="qwen3_5_text", num_key_value_heads=4)
            | _deltanet(48)
            | {"intermediate_size": 17408, "full_attention_interval": 4},
        },
        26_895_998_464,
        26_895_998_464,
    ),
    "Qwen/Qwen3.5-122B-A10B": (
        {
            "model_type": "qwen3_5_moe",
            "text_config": _sizes(3072, 48, 32, 248320, model_type="qwen3_5_moe_text", num_key_value_heads=2)
            | _deltanet(64)
            | _experts(256, 8, 1024, shared_expert_intermediate_size=1024)
            | {"layer_types": (["linear_attention"] * 3 + ["full_attention"]) * 12},
        },
        122_111_526_912,
        9_771_288_576,
    ),
    "openai/gpt-oss-120b": (
        _sizes(2880, 36, 64, 201088, model_type="gpt_oss", num_local_experts=128) | _GPT_OSS,
        116_829_156_672,
        5_711_982_912,
    ),
    "openai/gpt-oss-20b": (
        _sizes(2880, 24, 64, 201088, model_type="gpt_oss", num_local_experts=32) | _GPT_OSS,
        20_914_757_184,
        4_187_440_704,
    ),
    "deepseek-ai/DeepSeek-V2-Lite": (
        _sizes(2048, 27, 16, 102400, model_type="deepseek_v2", intermediate_size=10944, moe_intermediate_size=1408)
        | _latent(None, 128, 128)
        | {"n_routed_experts": 64, "n_shared_experts": 2, "num_experts_per_tok": 6, "first_k_dense_replace": 1},
        15_706_484_224,
        2_661_150_208,
    ),
    "deepseek-ai/DeepSeek-V3": (_DEEPSEEK_V3 | {"model_type": "deepseek_v3"}, 671_026_404_352, 37_552_282_624),
    "deepseek-ai/DeepSeek-V3.2": (
        _DEEPSEEK_V3 | {"model_type": "deepseek_v32", "index_n_heads": 64, "index_head_dim": 128},
        671_877_929_216,
        38_403_807_488,
    ),
    "deepseek-ai/DeepSeek-V4-Flash": (
        _sizes(4096, 43, 64, 129280, model_type="deepseek_v4", q_lora_rank=1024, o_groups=8)
        | _V4_INDEX
        | {"n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 6, "moe_intermediate_size": 2048}
        | {"compress_ratios": [0, 0, *[4, 128] * 20, 4, 0]},
        284_332_230_231,
        13_799_622_231,
    ),
    "moonshotai/Kimi-K2-Instruct": (
        _DEEPSEEK_V3
        | {"model_type": "kimi_k2", "num_attention_heads": 64, "vocab_size": 163840}
        | {"n_routed_experts": 384, "first_k_dense_replace": 1},
        1_026_408_209_408,
        32_861_477_888,
    ),
    "zai-org/GLM-5": (_GLM5 | {"model_type": "glm_moe_dsa"}, 743_911_199_232, 41_784_709_632),
    "zai-org/GLM-5.2": (
        _GLM5
        | {"model_type": "glm_moe_dsa", "mlp_layer_types": ["dense"] * 3 + ["sparse"] * 75}
        | {"indexer_types": ["full"] * 3 + (["shared"] * 3 + ["full"]) * 18 + ["shared"] * 3},
        743_377_000_704,
        41_250_511_104,
    ),
    "MiniMaxAI/MiniMax-M2.5": (
        _sizes(3072, 62, 48, 200064, model_type="minimax_m2", num_key_value_heads=8, head_dim=128)
        | {"intermediate_size": 1536, "num_local_experts": 256, "num_experts_per_tok": 8}
        | {"shared_intermediate_size": 0},
        228_689_748_992,
        11_030_537_216,
    ),
    "google/gemma-4-26B-A4B": (
        {
            "model_type": "gemma4",
            "tie_word_embeddings": True,
            "text_config": _GEMMA4
            | {"model_type": "gemma4_text", "num_experts": 128, "moe_intermediate_size": 704}
            | {"layer_types": (["sliding_attention"] * 5 + ["full_attention"]) * 5},
        },
        25_233_141_760,
        3_822_530_560,
    ),
    "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": (
        _sizes(2688, 52, 32, 131072, model_type="nemotron_h", num_key_value_heads=2, intermediate_size=1856)
        | _mamba2(64, 128)
        | {"n_routed_experts": 128, "n_shared_experts": 1, "num_experts_per_tok": 6, "moe_intermediate_size": 1856}
        | {"moe_shared_expert_intermediate_size": 3712}
        | {"hybrid_override_pattern": "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME"},
        31_577_937_344,
        3_580_073_408,
    ),
    "nvidia/Nemotron-H-56B-Base-8K": (
        _sizes(8192, 118, 64, 131072, model_type="nemotron_h", num_key_value_heads=8, intermediate_size=32768)
        | _mamba2(256, 256)
        | {"hybrid_override_pattern": "M-M-M-M*-" + "M-M-M-M-M*-" * 9 + "M-M-M-M-M-"},
        56_324_350_464,
        56_324_350_464,
    ),
    "ibm-granite/granite-4.0-h-small": (
        _GRANITE4
        | {"model_type": "granitemoehybrid", "mamba_n_groups": 1, "mamba_d_state": 128, "mamba_d_conv": 4}
        | {"layer_types": (["mamba"] * 9 + ["attention"]) * 4, "tie_word_embeddings": True},
        32_188_252_160,
        8_784_035_840,
    ),
    "XiaomiMiMo/MiMo-V2-Flash": (
        _MIMO_V2
        | {"model_type": "mimo_v2_flash", "n_routed_experts": 256, "n_shared_experts": None, "num_experts_per_tok": 8}
        | {"moe_layer_freq": [0] + [1] * 47, "hybrid_layer_pattern": [0, 1, 1, 1, 1, *[0, 1, 1, 1, 1, 1] * 7, 0]},
        308_778_768_832,
        15_445_924_288,
    ),
    "mosaicml/mpt-7b": (
        {"model_type": "mpt", "d_model": 4096, "n_heads": 32, "n_layers": 32, "vocab_size": 50432},
        6_649_286_656,
        6_649_286_656,
    ),
    "tiiuae/falcon-40b": (
        _sizes(8192, 60, 128, 65024, model_type="falcon", num_kv_heads=8, new_decoder_architecture=True),
        41_303_293_952,
        41_303_293_952,
    ),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_counts_match_the_published_ones(name: str) -> None:
    config, total, active = PUBLISHED[name]
    counts = count_params(config)
    assert counts is not None
    assert counts.total == pytest.approx(total, rel=TOLERANCE)
    assert counts.active == pytest.approx(active, rel=TOLERANCE)


@pytest.mark.parametrize("name", ["meta-llama/Meta-Llama-3.1-8B", "mistralai/Mixtral-8x7B-v0.1", "mosaicml/mpt-7b"])
def test_models_without_biases_are_counted_exactly(name: str) -> None:
    config, total, active = PUBLISHED[name]
    assert count_params(config) == ParamCounts(total, active)


def test_glm_5_2_shares_57_of_78_indexers() -> None:
    """An indexer has 2048 x 32 x 128 + 6144 x (128 + 32) parameters; the published counts differ by 57 of them."""
    full, shared = (count_params(PUBLISHED[f"zai-org/{name}"][0]) for name in ("GLM-5", "GLM-5.2"))
    assert full is not None
    assert shared is not None
    assert full.total - shared.total == 57 * (2048 * 32 * 128 + 6144 * 160)


@pytest.mark.parametrize("published", [True, False])
def test_kimi_linear_reads_both_spellings_of_its_pattern(published: bool) -> None:  # noqa: FBT001 - a test parameter
    """moonshotai/Kimi-Linear-48B-A3B is published with 48 B in its name: 20 KDA and 7 latent layers."""
    full = {4, 8, 12, 16, 20, 24, 27}
    sizes = _sizes(2304, 27, 32, 163840, model_type="kimi_linear", intermediate_size=9216) | _latent(None, 128, 128)
    sizes |= {"num_experts": 256, "num_experts_per_token": 8, "moe_intermediate_size": 1024, "num_shared_experts": 1}
    kinds = ["full_attention" if layer in full else "linear_attention" for layer in range(1, 28)]
    inner = {"kda_layers": sorted(set(range(1, 28)) - full), "num_heads": 32, "head_dim": 128}
    spelled = (
        {"linear_attn_config": inner | {"short_conv_kernel_size": 4}, "first_k_dense_replace": 1}
        if published
        else {"layer_types": kinds, "linear_num_heads": 32, "linear_head_dim": 128, "linear_conv_kernel_dim": 4}
        | {"mlp_layer_types": ["dense"] + ["sparse"] * 26}
    )
    counts = count_params(sizes | spelled)
    assert counts is not None
    assert counts.total == pytest.approx(48e9, rel=TOLERANCE)


def test_ernie_has_a_first_and_a_last_expert_layer() -> None:
    """baidu/ERNIE-4.5-21B-A3B-PT is published with 21 B, 3 B of them active: the first of its layers is dense."""
    config = _sizes(2560, 28, 20, 103424, model_type="ernie4_5_moe", num_key_value_heads=4, intermediate_size=12288)
    config |= {"moe_num_experts": 64, "moe_k": 6, "moe_num_shared_experts": 2, "moe_intermediate_size": 1536}
    config |= {"moe_layer_start_index": 1, "moe_layer_interval": 1}
    counts = count_params(config | {"moe_layer_end_index": 27})
    assert counts is not None
    assert round(counts.total / 1e9) == 22
    assert round(counts.active / 1e9) == 3
    assert count_params(config | {"moe_layer_end_index": -1}) == counts
    earlier = count_params(config | {"moe_layer_end_index": 26})
    assert earlier is not None
    assert earlier.total < counts.total


def test_gemma_4_counts_per_layer_inputs_and_shares_key_and_value() -> None:
    """One shared layer has no key and value but, where so set, a feed-forward twice as wide."""
    config = _sizes(64, 2, 4, 100, model_type="gemma4_text", num_key_value_heads=1, head_dim=16, intermediate_size=8)
    config |= {"layer_types": ["sliding_attention", "full_attention"], "use_double_wide_mlp": True}
    plain = count_params(config)
    inputs = count_params(config | {"hidden_size_per_layer_input": 4, "vocab_size_per_layer_input": 100})
    shared = count_params(config | {"num_kv_shared_layers": 1})
    assert plain is not None
    assert inputs is not None
    assert shared is not None
    assert inputs.total - plain.total == 100 * 2 * 4 + 2 * 3 * 64 * 4
    assert shared.total - plain.total == 3 * 64 * 8 - 2 * 64 * 16


def test_minimax_m3_adds_an_indexer_to_its_sparse_layers() -> None:
    config = _sizes(64, 2, 4, 100, model_type="minimax_m3_vl", num_key_value_heads=1, head_dim=16)
    config |= {"intermediate_size": 8, "dense_intermediate_size": 16, "moe_layer_freq": [0, 1], "n_shared_experts": 1}
    config |= {"num_local_experts": 4, "num_experts_per_tok": 2, "shared_intermediate_size": 8}
    sparse = {"sparse_num_index_heads": 4, "sparse_index_dim": 8, "sparse_attention_freq": [0, 1]}
    dense = sparse | {"sparse_attention_freq": [0, 0]}
    with_indexer, without = (count_params(config | {"sparse_attention_config": part}) for part in (sparse, dense))
    assert with_indexer is not None
    assert without is not None
    assert with_indexer.total - without.total == 64 * (4 + 1) * 8
    assert count_params(config) is None


@pytest.mark.parametrize(("multi_query", "kv_heads"), [(True, 1), (False, 4)])
def test_old_falcon_has_one_key_head_or_one_a_query_head(multi_query: bool, kv_heads: int) -> None:  # noqa: FBT001
    config = _sizes(64, 1, 4, 10, model_type="falcon", multi_query=multi_query)
    norms, feed_forward, embedding = 3 * 64, 8 * 64 * 64, 10 * 64
    attention = 2 * 64 * 64 + 2 * 64 * 16 * kv_heads
    expected = norms + feed_forward + embedding + attention
    assert count_params(config) == ParamCounts(expected, expected)


def test_new_falcon_under_the_names_of_its_first_files() -> None:
    named = {"model_type": "falcon", "new_decoder_architecture": True}
    counts = [count_params(_sizes(64, 1, 4, 10, **named, **{key: 2})) for key in ("num_kv_heads", "n_head_kv")]
    assert counts[0] is not None
    assert counts[0] == counts[1]


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_size_is_needed(name: str) -> None:
    config = PUBLISHED[name][0]
    text = config.get("text_config", config)
    for key in {"vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads"} & set(text):
        if key == "num_hidden_layers" and "hybrid_override_pattern" in text:
            continue
        poorer = {other: value for other, value in text.items() if other != key}
        assert count_params({**config, "text_config": poorer} if text is not config else poorer) is None, key


BROKEN: dict[str, Config] = {
    "unknown type": {"model_type": "unheard-of"},
    "no type": {"model_type": None},
    "type is no text": {"model_type": ["llama"]},
    "text as size": {"hidden_size": "4096"},
    "boolean as size": {"num_hidden_layers": True},
    "negative size": {"intermediate_size": -1},
    "zero layers": {"num_hidden_layers": 0},
    "absurd layers": {"num_hidden_layers": 10**6},
}


@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN.keys())
def test_what_cannot_be_counted_is_none(change: Config) -> None:
    config = PUBLISHED["meta-llama/Meta-Llama-3.1-8B"][0]
    assert count_params({**config, **change}) is None


NEEDED: dict[str, Config] = {
    "openai/gpt-oss-120b": {"head_dim": None},
    "Qwen/Qwen3-235B-A22B": {"num_experts_per_tok": 129},
    "deepseek-ai/DeepSeek-V4-Flash": {"compress_ratios": [4, 128]},
    "nvidia/Nemotron-H-56B-Base-8K": {"hybrid_override_pattern": "MXM"},
    "ibm-granite/granite-4.0-h-small": {"layer_types": "mamba"},
    "mistralai/Mixtral-8x7B-v0.1": {"mlp_layer_types": "dense"},
    "XiaomiMiMo/MiMo-V2-Flash": {"hybrid_layer_pattern": None},
}


@pytest.mark.parametrize("name", NEEDED)
def test_a_broken_key_of_the_kind_is_not_guessed(name: str) -> None:
    assert count_params({**PUBLISHED[name][0], **NEEDED[name]}) is None


def test_kda_layers_must_be_listed() -> None:
    config = _sizes(64, 1, 4, 10, model_type="kimi_linear", linear_attn_config={"num_heads": 4})
    assert count_params(config) is None


def test_every_recipe_names_a_mixer() -> None:
    assert {recipe.mixer for recipe in RECIPES.values()} == set(MIXERS)
