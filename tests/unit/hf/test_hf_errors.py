"""What is wrong with a configuration: every trap has a message that helps, and all come at once."""

from __future__ import annotations

import pytest

from kvplan.core.hf.reader import read_config
from kvplan.core.hf.registry import known_model_types
from kvplan.errors import InputError

Config = dict[str, object]

LLAMA: Config = {
    "model_type": "llama",
    "num_hidden_layers": 4,
    "hidden_size": 64,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "max_position_embeddings": 4096,
}
LATENT: Config = {"num_hidden_layers": 3, "kv_lora_rank": 24, "qk_rope_head_dim": 8, "index_head_dim": 16}
MAMBA: Config = {
    "mamba_num_heads": 4,
    "mamba_head_dim": 16,
    "n_groups": 1,
    "ssm_state_size": 8,
    "conv_kernel": 4,
    "head_dim": 16,
}
NEMOTRON: Config = {**LLAMA, **MAMBA, "model_type": "nemotron_h"}
KDA: Config = {"num_heads": 2, "head_dim": 16, "short_conv_kernel_size": 4}


def _problems(config: object) -> list[str]:
    """Read what must fail."""
    with pytest.raises(InputError) as caught:
        read_config(config, model_id="x", source="c.json")  # type: ignore[arg-type]
    return [str(problem) for problem in caught.value.problems]


TRAPS: dict[str, tuple[Config, str]] = {
    "boolean as number": (
        {**LLAMA, "num_hidden_layers": True},
        "c.json: num_hidden_layers: true is not allowed; a whole number from 1 to 10,000",
    ),
    "text as number": (
        {**LLAMA, "num_key_value_heads": "eight"},
        "c.json: num_key_value_heads: 'eight' is not allowed; a whole number from 1 to 1,048,576",
    ),
    "fraction": (
        {**LLAMA, "head_dim": 12.5},
        "c.json: head_dim: 12.5 is not allowed; a whole number from 1 to 1,048,576",
    ),
    "negative": (
        {**LLAMA, "hidden_size": -64},
        "c.json: hidden_size: -64 is not allowed; a whole number from 1 to 1,048,576",
    ),
    "zero": (
        {**LLAMA, "num_attention_heads": 0},
        "c.json: num_attention_heads: 0 is not allowed; a whole number from 1 to 1,048,576",
    ),
    "absurd": (
        {**LLAMA, "num_hidden_layers": 10**9},
        "c.json: num_hidden_layers: 1000000000 is not allowed; a whole number from 1 to 10,000",
    ),
    "list as number": (
        {**LLAMA, "num_key_value_heads": [2, 2]},
        "c.json: num_key_value_heads: a list is not allowed; a whole number from 1 to 1,048,576",
    ),
    "KV heads do not divide": (
        {**LLAMA, "num_key_value_heads": 3},
        "c.json: num_key_value_heads: 3 does not divide the 8 attention heads; a divisor of 8",
    ),
    "hidden / heads not whole": (
        {**LLAMA, "hidden_size": 100},
        "c.json: head_dim: is missing and hidden / heads is not whole: 100 / 8; head_dim: a number",
    ),
    "missing key with a slip": (
        {"num_hiden_layers": 4, **{key: value for key, value in LLAMA.items() if key != "num_hidden_layers"}},
        "is missing; also spelled n_layer, n_layers, num_layers; did you mean 'num_hiden_layers'?",
    ),
    "nested path": (
        {"model_type": "qwen3_vl", "text_config": {**LLAMA, "model_type": "qwen3_vl_text", "num_key_value_heads": -1}},
        "c.json: text_config.num_key_value_heads: -1 is not allowed; a whole number from 1 to 1,048,576",
    ),
    "nested part is no object": (
        {"model_type": "gemma4", "text_config": [1]},
        "c.json: text_config: a list is not allowed; an object",
    ),
    "wrong flag": (
        {**LLAMA, "model_type": "qwen2", "use_sliding_window": "no"},
        "c.json: use_sliding_window: 'no' is not allowed; true or false",
    ),
    "wrong dtype": ({**LLAMA, "torch_dtype": 16}, "c.json: torch_dtype: 16 is not allowed; a text"),
    "pattern too short": (
        {**LLAMA, "model_type": "gpt_oss", "sliding_window": 8, "layer_types": ["full_attention"]},
        "c.json: layer_types: has 1 entries; at least 4, one a layer",
    ),
    "empty pattern": (
        {**LLAMA, "model_type": "gpt_oss", "num_hidden_layers": None, "layer_types": []},
        "c.json: layer_types: has 0 entries; at least one",
    ),
    "slip in a pattern": (
        {**LLAMA, "model_type": "gpt_oss", "sliding_window": 8, "layer_types": ["full_atention"] * 4},
        "sliding_attention, hybrid_sliding; did you mean 'full_attention'?",
    ),
    "kind that the type does not have": (
        {**LLAMA, "layer_types": ["conv"] * 4},
        "c.json: layer_types[0]: 'conv' is not known here; full_attention, attention, sliding_attention",
    ),
    "number in a pattern of names": (
        {**LLAMA, "layer_types": ["full_attention", 1, "full_attention", "full_attention"]},
        "c.json: layer_types[1]: 1 is not allowed; a list of texts",
    ),
    "pattern is no list": (
        {**LLAMA, "layer_types": "full"},
        "c.json: layer_types: 'full' is not allowed; a list of texts",
    ),
    "unknown letter": (
        {**NEMOTRON, "hybrid_override_pattern": "MX**"},
        "c.json: hybrid_override_pattern[1]: 'X' is not known; M * E -",
    ),
    "letters of a window pattern": (
        {**LLAMA, "model_type": "exaone4", "sliding_window": 8, "sliding_window_pattern": "LLX"},
        "c.json: sliding_window_pattern: 'LLX' is not allowed; a number, or letters L (window) and G (full)",
    ),
    "unknown ratio": (
        {**LATENT, "model_type": "deepseek_v4", "head_dim": 64, "sliding_window": 8, "compress_ratios": [4, 16, 128]},
        "c.json: compress_ratios[1]: 16 is not allowed; 0 or 4 or 128",
    ),
    "window not named": (
        {**LLAMA, "model_type": "mistral"},
        "sliding_window: is missing; a number of tokens, or null; Mistral-7B v0.1 has 4096, v0.2 and later null",
    ),
    "listed window not named": (
        {**LLAMA, "model_type": "gpt_oss"},
        "also spelled sliding_window_size; layers of this model slide over a window; null means none",
    ),
    "switched window without a list": (
        {**LLAMA, "model_type": "qwen3_moe", "use_sliding_window": True, "sliding_window": 8},
        "c.json: layer_types: is missing; with use_sliding_window only a list says which layers slide",
    ),
    "switched window without a first layer": (
        {**LLAMA, "model_type": "qwen3", "use_sliding_window": True, "sliding_window": 8},
        "c.json: max_window_layers: is missing",
    ),
    "no latent": (
        {"model_type": "deepseek_v3", "num_hidden_layers": 3, "qk_rope_head_dim": 8},
        "c.json: kv_lora_rank: is missing",
    ),
    "indexer type": (
        {**LATENT, "model_type": "glm_moe_dsa", "indexer_types": ["full", "sharde", "full"]},
        "c.json: indexer_types[1]: 'sharde' is not known; full or shared; did you mean 'shared'?",
    ),
    "indexers too few": (
        {**LATENT, "model_type": "glm_moe_dsa", "indexer_types": ["full"]},
        "c.json: indexer_types: has 1 entries; at least 3, one a layer",
    ),
    "layers that share a latent": (
        {**LATENT, "model_type": "mistral_large4_text", "kv_source_layers": [0, 0, 2]},
        "c.json: kv_source_layers: layers share a cache; every layer its own; not modelled yet",
    ),
    "all layers borrow": (
        {**LLAMA, "model_type": "gemma4_text", "sliding_window": 8, "num_kv_shared_layers": 4},
        "c.json: num_kv_shared_layers: 4 of 4 layers; fewer than the layers",
    ),
    "state dtype": (
        {**NEMOTRON, "hybrid_override_pattern": "MM**", "mamba_ssm_cache_dtype": "int3"},
        "c.json: mamba_ssm_cache_dtype: 'int3' is not known; auto, float32, bfloat16, float16",
    ),
    "KDA layer beyond the last": (
        {**LATENT, "model_type": "kimi_linear", "linear_attn_config": {**KDA, "full_attn_layers": [0, 3]}},
        "c.json: linear_attn_config.full_attn_layers: 0 is not a layer; 1 to 3",
    ),
    "KDA layer in neither list": (
        {
            **LATENT,
            "model_type": "kimi_linear",
            "linear_attn_config": {**KDA, "full_attn_layers": [3], "kda_layers": [1]},
        },
        "c.json: linear_attn_config.kda_layers: and full_attn_layers do not name each layer once; 1 to 3",
    ),
    "KDA without its layers": (
        {**LATENT, "model_type": "kimi_linear", "linear_attn_config": KDA},
        "c.json: linear_attn_config.full_attn_layers: is missing",
    ),
    "NAS blocks missing": (
        {**LLAMA, "model_type": "nemotron-nas"},
        "c.json: block_configs: is missing",
    ),
    "NAS block is no object": (
        {**LLAMA, "model_type": "nemotron-nas", "block_configs": [1, 2, 3, 4]},
        "c.json: block_configs[0]: 1 is not allowed; a list of objects",
    ),
    "NAS blocks too few": (
        {**LLAMA, "model_type": "nemotron-nas", "block_configs": [{"attention": {"n_heads_in_group": 4}}]},
        "c.json: block_configs: has 1 entries; at least 4, one a layer",
    ),
    "NAS group does not divide": (
        {**LLAMA, "model_type": "nemotron-nas", "block_configs": [{"attention": {"n_heads_in_group": 3}}] * 4},
        "c.json: block_configs[0].attention.n_heads_in_group: 3 does not divide the 8 attention heads",
    ),
    "NAS window": (
        {
            **LLAMA,
            "model_type": "nemotron-nas",
            "block_configs": [{"attention": {"n_heads_in_group": 4, "window_length": 512}}] * 4,
        },
        "attention.window_length: is not supported; null; give the layer groups to `kvplan catalogue add`",
    ),
    "heads per layer missing": (
        {**LLAMA, "model_type": "deci"},
        "c.json: num_key_value_heads_per_layer: is missing",
    ),
    "heads per layer out of range": (
        {**LLAMA, "model_type": "deci", "num_key_value_heads_per_layer": [4, 4, 9, 4]},
        "c.json: num_key_value_heads_per_layer[2]: 9 is not allowed; 0 to 8",
    ),
    "cross layer beyond the last": (
        {**LLAMA, "model_type": "mllama_text_model", "cross_attention_layers": [1, 7]},
        "c.json: cross_attention_layers: names layers twice or beyond the last; 0 to 3",
    ),
    "sparse layers without a dimension": (
        {**LLAMA, "model_type": "minimax_m3_text", "layer_types": ["minimax_m3_sparse"] * 4},
        "c.json: index_head_dim: is missing",
    ),
}


@pytest.mark.parametrize("trap", TRAPS)
def test_trap_has_a_message_that_helps(trap: str) -> None:
    config, message = TRAPS[trap]
    assert message in "\n".join(_problems(config))


PATTERNLESS: dict[str, Config] = {
    "hybrid_layer_pattern": {**LLAMA, "model_type": "mimo_v2", "sliding_window": 8},
    "layer_types": {**LLAMA, "model_type": "step3p7", "sliding_window": 8},
    "compress_ratios": {**LATENT, "model_type": "deepseek_v4", "head_dim": 64, "sliding_window": 8},
    "hybrid_override_pattern": NEMOTRON,
    "layers_block_type": {**LLAMA, "model_type": "zamba2"},
}


@pytest.mark.parametrize("key", PATTERNLESS)
def test_missing_pattern_is_never_guessed(key: str) -> None:
    assert any(problem.startswith(f"c.json: {key}: is missing") for problem in _problems(PATTERNLESS[key]))


@pytest.mark.parametrize("model_type", ["granitemoehybrid", "minimax", "lfm2"])
def test_missing_list_of_layers_is_never_guessed(model_type: str) -> None:
    assert any(
        problem.startswith("c.json: layer_types: is missing; also spelled")
        for problem in _problems({**LLAMA, "model_type": model_type})
    )


def test_all_problems_come_at_once_and_once() -> None:
    problems = _problems({"model_type": "jamba", "num_hidden_layers": False, "mamba_d_conv": "4", "torch_dtype": 2})
    keys = [problem.split(": ")[1] for problem in problems]
    assert len(keys) == len(set(keys))
    assert {
        "num_hidden_layers",
        "num_attention_heads",
        "hidden_size",
        "mamba_expand",
        "mamba_d_state",
        "mamba_d_conv",
        "attn_layer_period",
        "attn_layer_offset",
        "torch_dtype",
    } <= set(keys)


def test_keys_of_every_kind_of_layer_are_looked_at_even_without_a_pattern() -> None:
    keys = [problem.split(": ")[1] for problem in _problems({"model_type": "nemotron_h", "head_dim": 64})]
    assert {"hybrid_override_pattern", "mamba_num_heads", "ssm_state_size", "conv_kernel"} <= set(keys)


def test_unknown_type_is_refused_with_what_decides_and_the_way_out() -> None:
    (problem,) = _problems({**LLAMA, "model_type": "qwen3_mo"})
    assert problem.startswith("c.json: model_type: 'qwen3_mo' is not known, so the size of its cache is not either")
    for part in ("did you mean 'qwen3_moe'", "num_key_value_heads", "kv_lora_rank", "sliding_window"):
        assert part in problem
    assert "`kvplan catalogue add`" in problem


def test_unknown_type_inside_a_wrapper_is_named_with_its_path() -> None:
    (problem,) = _problems({"model_type": "llava", "text_config": {**LLAMA, "model_type": "novel"}})
    assert problem.startswith("c.json: text_config.model_type: 'novel' is not known")


def test_wrapper_of_any_model_must_say_which() -> None:
    inner = {key: value for key, value in LLAMA.items() if key != "model_type"}
    assert _problems({"model_type": "llava", "text_config": inner}) == [
        "c.json: text_config.model_type: is missing; llava wraps any language model"
    ]
    assert _problems({"model_type": "llava"}) == ["c.json: text_config: is missing; llava wraps any language model"]


def test_missing_type_is_reported() -> None:
    (problem,) = _problems({"num_hidden_layers": 4})
    assert problem.startswith("c.json: model_type: is missing; decided by num_hidden_layers")


def test_what_is_no_object_is_refused() -> None:
    assert _problems([1, 2]) == ["c.json: a list is not a configuration; a JSON object"]


def test_sizes_that_multiply_beyond_reason_are_a_problem_and_no_traceback() -> None:
    config = {**NEMOTRON, "hybrid_override_pattern": "MM**", "mamba_num_heads": 10**6, "mamba_head_dim": 10**6}
    assert any("the keys together give state_elements = 8000000000000" in problem for problem in _problems(config))


def test_known_types_are_sorted_and_hold_wrappers_too() -> None:
    types = known_model_types()
    assert list(types) == sorted(set(types))
    assert {"llama", "gemma4", "kimi_k3", "nemotron-nas", "deepseek_ref", "whisper"} <= set(types)
