"""The same thing spelled differently: what each key of a `config.json` does to the layer groups."""

from __future__ import annotations

import pytest

from kvplan.core.hf.reader import read_config
from kvplan.schema.model import CrossAttention, ModelSpec, Recurrent, SlidingAttention

Config = dict[str, object]

SLIDING, FULL, LINEAR = "sliding_attention", "full_attention", "linear_attention"
HEADS: Config = {"num_hidden_layers": 4, "hidden_size": 64, "num_attention_heads": 8, "num_key_value_heads": 2}
WINDOW: Config = {**HEADS, "sliding_window": 16, "max_position_embeddings": 4096}
LATENT: Config = {"num_hidden_layers": 4, "kv_lora_rank": 24, "qk_rope_head_dim": 8, "index_head_dim": 16}
MAMBA2: Config = {
    "mamba_n_heads": 4,
    "mamba_n_groups": 1,
    "mamba_d_state": 8,
    "mamba_d_conv": 4,
    "mamba_expand": 2,
}
NEMOTRON: Config = {
    "mamba_num_heads": 4,
    "mamba_head_dim": 16,
    "n_groups": 1,
    "ssm_state_size": 8,
    "conv_kernel": 4,
    "head_dim": 8,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
}
V4: Config = {**LATENT, "head_dim": 64, "sliding_window": 8}
KDA: Config = {"linear_num_heads": 2, "linear_head_dim": 16, "linear_conv_kernel_dim": 4}


def _read(model_type: str, config: Config) -> ModelSpec:
    """Read what must be right."""
    return read_config({"model_type": model_type, **config}, model_id="x", source="config.json")


SPELLINGS: dict[str, tuple[str, Config, str]] = {
    # patterns
    "tail of a list is cut": ("gpt_oss", {**WINDOW, "layer_types": [SLIDING, FULL] * 3}, "sliding 2, full 2"),
    "a list gives the number of layers": (
        "gpt_oss",
        {**WINDOW, "num_hidden_layers": None, "layer_types": [SLIDING, FULL] * 3},
        "sliding 3, full 3",
    ),
    "a listed type of a plain model": ("llama", {**WINDOW, "layer_types": [SLIDING, FULL] * 2}, "sliding 2, full 2"),
    "a window without a list in a plain model": ("llama", WINDOW, "full 4"),
    "an interval": ("gemma3_text", {**WINDOW, "sliding_window_pattern": 2}, "sliding 2, full 2"),
    "an interval of GPT-OSS": ("gpt_oss", WINDOW, "sliding 2, full 2"),
    "letters": ("exaone4", {**WINDOW, "sliding_window_pattern": "LG"}, "sliding 2, full 2"),
    "no window, no pattern": ("exaone4", {**WINDOW, "sliding_window": None}, "full 4"),
    "an interval of AFMoE": ("afmoe", {**WINDOW, "global_attn_every_n_layers": 2}, "sliding 2, full 2"),
    "a listed prefix": (
        "cohere2_moe",
        {**WINDOW, "layer_types": [FULL, SLIDING, SLIDING, FULL]},
        "full 2, sliding 2",
    ),
    "a dense prefix": ("cohere2_moe", {**WINDOW, "first_k_dense_replace": 2}, "full 2, sliding 2"),
    # windows
    "a window beyond the longest context": ("phi3", {**WINDOW, "max_position_embeddings": 16}, "full 4"),
    "a window of unknown context": ("phi3", {**HEADS, "sliding_window": 16}, "sliding 4"),
    "a window of null": ("mixtral", {**WINDOW, "sliding_window": None}, "full 4"),
    "Ministral's list": ("ministral", {**WINDOW, "layer_types": [SLIDING, FULL] * 2}, "sliding 2, full 2"),
    "a switch that is off": ("qwen2", {**WINDOW, "use_sliding_window": False, "max_window_layers": 2}, "full 4"),
    "a switch that is on": (
        "qwen3",
        {**WINDOW, "use_sliding_window": True, "max_window_layers": 1},
        "full 1, sliding 3",
    ),
    "a switch and a list": (
        "qwen3_moe",
        {**WINDOW, "use_sliding_window": True, "layer_types": [SLIDING, FULL] * 2},
        "sliding 2, full 2",
    ),
    "a switch that is off beats a list": ("smollm3", {**WINDOW, "layer_types": [SLIDING] * 4}, "full 4"),
    "no switch, as dots.llm1": ("dots1", {**WINDOW, "max_window_layers": 3}, "full 3, sliding 1"),
    "chunks by list": (
        "llama4_text",
        {**HEADS, "attention_chunk_size": 8, "layer_types": ["chunked_attention", FULL] * 2},
        "chunked 2, full 2",
    ),
    "chunks by rotary positions": (
        "llama4_text",
        {**HEADS, "attention_chunk_size": 8, "no_rope_layers": [1, 1, 1, 0]},
        "chunked 3, full 1",
    ),
    "chunks by interval": (
        "llama4_text",
        {**HEADS, "attention_chunk_size": 8, "no_rope_layer_interval": 2},
        "chunked 2, full 2",
    ),
    "a chunk of null": ("llama4_text", {**HEADS, "attention_chunk_size": None, "no_rope_layers": []}, "full 4"),
    "Inkling by local layers": ("inkling_text", {**WINDOW, "local_layer_ids": [0, 1, 3]}, "sliding 3, full 1"),
    "Inkling by list": (
        "inkling_text",
        {**WINDOW, "layer_types": ["hybrid", "hybrid_sliding"] * 2},
        "full 2, sliding 2",
    ),
    "Gemma 3n's own interval": ("gemma3n_text", {**WINDOW, "num_kv_shared_layers": 1}, "sliding 3, shared 1"),
    "Gemma 4's last layer": ("gemma4_text", {**WINDOW, "layer_types": [SLIDING] * 4}, "sliding 3, full 1"),
    # latents and compression
    "indexers by letters": ("glm_moe_dsa", {**LATENT, "index_topk_pattern": "FSSF"}, "latent 4, indexer 2"),
    "indexers by list": ("glm_moe_dsa", {**LATENT, "index_topk_pattern": ["full"] * 4}, "latent 4, indexer 4"),
    "indexers by frequency": (
        "glm_moe_dsa",
        {**LATENT, "index_topk_freq": 4, "index_skip_topk_offset": 2},
        "latent 4, indexer 2",
    ),
    "no indexer at all": ("deepseek_v32", {**LATENT, "layer_types": [FULL] * 4}, "latent 4"),
    "layers that do not share": (
        "mistral_large4_text",
        {**LATENT, "kv_source_layers": [0, 1, 2, 3]},
        "latent 4, indexer 4",
    ),
    "V4 by list": (
        "deepseek_v4",
        {**V4, "layer_types": ["sliding_attention", "compressed_sparse_attention"] * 2},
        "shared-key-window 4, compressed 2",
    ),
    "V4 without compression": ("deepseek_v4", {**V4, "compress_ratios": [0] * 4}, "shared-key-window 4"),
    "M3 by list": (
        "minimax_m3_text",
        {**HEADS, "index_head_dim": 16, "layer_types": [FULL, "minimax_m3_sparse"] * 2},
        "full 4, indexer 2",
    ),
    "M3 without sparse attention": (
        "minimax_m3_text",
        {**HEADS, "sparse_attention_config": {"use_sparse_attention": False, "sparse_attention_freq": [1] * 4}},
        "full 4",
    ),
    # recurrent
    "Granite by the old name": (
        "granitemoehybrid",
        {**HEADS, **MAMBA2, "layers_block_type": ["mamba", "attention"] * 2},
        "recurrent 2, full 2",
    ),
    "Nemotron by the new name": (
        "nemotron_h",
        {**NEMOTRON, "layer_types": [LINEAR, "mlp", FULL, "moe"]},
        "recurrent 1, none 2, full 1",
    ),
    "Nemotron without a number of layers": (
        "nemotron_h",
        {**NEMOTRON, "hybrid_override_pattern": "M-M*"},
        "recurrent 2, none 1, full 1",
    ),
    "Nemotron's letters cut": (
        "nemotron_h",
        {**NEMOTRON, "num_hidden_layers": 4, "hybrid_override_pattern": "M-M*M"},
        "recurrent 2, none 1, full 1",
    ),
    "Falcon-H1 by expansion": ("falcon_h1", {**HEADS, **MAMBA2}, "full 4, recurrent 4"),
    "Zamba2 without attention": (
        "zamba2",
        {**HEADS, **MAMBA2, "layers_block_type": ["mamba"] * 4},
        "recurrent 4",
    ),
    "Mamba by its inner width": (
        "mamba",
        {"n_layer": 4, "intermediate_size": 128, "state_size": 16, "conv_kernel": 4},
        "recurrent 4",
    ),
    "Kimi Linear as transformers saves it": (
        "kimi_linear",
        {**LATENT, **KDA, "layer_types": [LINEAR, LINEAR, LINEAR, FULL]},
        "recurrent 3, latent 1",
    ),
    "MiniMax-01 by numbers": ("minimax_text_01", {**HEADS, "attn_type_list": [0, 0, 0, 1]}, "recurrent 3, full 1"),
    "LFM2 by numbers": ("lfm2", {**HEADS, "conv_L_cache": 3, "full_attn_idxs": [1]}, "recurrent 3, full 1"),
    # shared, searched, crossing
    "CLA that is off": ("hunyuan", {**HEADS, "use_cla": False, "cla_share_factor": 2}, "full 4"),
    "CLA with an odd number": (
        "hunyuan",
        {**HEADS, "num_hidden_layers": 5, "use_cla": True, "cla_share_factor": 2},
        "full 3, shared 2",
    ),
    "CLA of one": ("hunyuan", {**HEADS, "use_cla": True, "cla_share_factor": 1}, "full 4"),
    "NAS without an attention": (
        "nemotron-nas",
        {**HEADS, "block_configs": [{"attention": None}, {"attention": {"num_key_value_heads": 2}}] * 2},
        "none 2, full 2",
    ),
    "NAS with a linear layer": (
        "nemotron-nas",
        {**HEADS, "block_configs": [{"attention": {"replace_with_linear": True}}] * 4},
        "none 4",
    ),
    "heads listed per layer": (
        "deci",
        {**HEADS, "num_key_value_heads_per_layer": [4, 4, 2, 0]},
        "full 2, full 1, none 1",
    ),
    "Llama 3.2 Vision's default": ("mllama_text_model", HEADS, "full 3, cross 1"),
    "a decoder of its own depth": (
        "t5",
        {"d_model": 64, "d_kv": 8, "num_heads": 8, "num_layers": 2, "num_decoder_layers": 3},
        "full 3, cross 3",
    ),
    # nesting
    "the thinker of an omni model": (
        "qwen2_5_omni",
        {"thinker_config": {"text_config": {"model_type": "qwen2_5_omni_text", **WINDOW}}},
        "full 4",
    ),
    "a language_config": ("kimi_vl", {"language_config": LATENT}, "latent 4"),
    "an llm_config": ("internvl_chat", {"llm_config": {"model_type": "qwen2", **WINDOW}}, "full 4"),
    "a flat wrapper": ("qwen2_vl", WINDOW, "full 4"),
    "an inner type that only the outer explains": (
        "qwen3_vl",
        {"text_config": {"model_type": "qwen3_vl_language", **HEADS, "head_dim": 8}},
        "full 4",
    ),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_spelling_gives_these_layers(spelling: str) -> None:
    model_type, config, layers = SPELLINGS[spelling]
    spec = _read(model_type, config)
    assert ", ".join(f"{group.kind} {group.layers}" for group in spec.groups) == layers


KV_HEADS: dict[str, tuple[str, Config, int]] = {
    "no key: as many as heads": ("llama", {**HEADS, "num_key_value_heads": None}, 8),
    "Falcon with a switch": ("falcon", {**HEADS, "num_kv_heads": 4, "new_decoder_architecture": True}, 4),
    "Falcon without": ("falcon", {**HEADS, "num_kv_heads": 8, "multi_query": True}, 1),
    "Falcon without either": ("falcon", {**HEADS, "multi_query": False}, 8),
    "StarCoder": ("gpt_bigcode", {"n_layer": 4, "n_embd": 64, "n_head": 8}, 1),
    "StarCoder with all heads": ("gpt_bigcode", {"n_layer": 4, "n_embd": 64, "n_head": 8, "multi_query": False}, 8),
    "ChatGLM with all heads": ("chatglm", HEADS, 8),
    "GPT-2 ignores KV heads": ("gpt2", HEADS, 8),
    "MPT by its kind": (
        "mpt",
        {"n_layers": 4, "n_heads": 8, "d_model": 64, "attn_config": {"attn_type": "multiquery_attention"}},
        1,
    ),
    "MPT by number": ("mpt", {"n_layers": 4, "n_heads": 8, "d_model": 64, "attn_config": {"kv_n_heads": 2}}, 2),
    "MPT without": ("mpt", {"n_layers": 4, "n_heads": 8, "d_model": 64}, 8),
    "BART names its decoder": (
        "bart",
        {"decoder_layers": 4, "decoder_attention_heads": 8, "d_model": 64, "max_position_embeddings": 32},
        8,
    ),
}


@pytest.mark.parametrize("spelling", KV_HEADS)
def test_spelling_gives_these_kv_heads(spelling: str) -> None:
    model_type, config, kv_heads = KV_HEADS[spelling]
    group = _read(model_type, config).groups[0]
    assert group.kind == "full"
    assert (group.layers, group.kv_heads, group.key_dim) == (4, kv_heads, 8)


def test_sliding_layers_may_have_heads_of_their_own() -> None:
    other = {"num_attention_groups": 4, "head_dim": 16}
    spec = _read("step3p5", {**WINDOW, "layer_types": [FULL, SLIDING] * 2, "attention_other_setting": other})
    sliding = spec.groups[1]
    assert isinstance(sliding, SlidingAttention)
    assert (sliding.kv_heads, sliding.key_dim, sliding.value_dim) == (4, 16, 16)


@pytest.mark.parametrize(("name", "width"), [("bfloat16", 2), ("float32", 4), ("auto", 4), ("torch.float16", 2)])
def test_state_dtype_is_the_one_the_file_names(name: str, width: int) -> None:
    spec = _read("nemotron_h", {**NEMOTRON, "hybrid_override_pattern": "M*", "mamba_ssm_cache_dtype": name})
    state = spec.groups[0]
    assert isinstance(state, Recurrent)
    assert state.state_bytes_per_element == width


def test_compression_ratio_by_name() -> None:
    rates = {"compressed_sparse_attention": 8}
    spec = _read("deepseek_v4", {**V4, "compress_ratios": [4, 4, 128, 0], "compress_rates": rates})
    assert [group.ratio for group in spec.groups if group.kind == "compressed"] == [8, 128]


@pytest.mark.parametrize(
    ("config", "mtp_layers"),
    [
        ({"num_nextn_predict_layers": 2}, 2),
        ({"mtp_num_hidden_layers": 1}, 1),
        ({"num_mtp_modules": 3}, 3),
        ({"num_nextn_predict_layers": None}, 0),
        ({"mtp_config": {"num_nextn_predict_layers": 8}}, 8),
    ],
)
def test_draft_layers_under_every_name(config: Config, mtp_layers: int) -> None:
    spec = _read("llama", {**HEADS, **config})
    assert spec.mtp_layers == mtp_layers
    assert spec.groups[0].layers == 4


def test_the_record_says_where_it_comes_from() -> None:
    spec = _read("gemma3", {"text_config": WINDOW, "torch_dtype": "bfloat16"})
    assert (spec.id, spec.source, spec.confidence) == ("x", "config.json", "vendor")
    assert (spec.model_type, spec.weights_dtype, spec.attention_heads) == ("gemma3", "bfloat16", 8)
    assert spec.max_position_tokens == 4096
    assert spec.params_total is None


def test_class_defaults_are_noted() -> None:
    spec = _read("qwen3", HEADS)
    assert spec.note == "class defaults of transformers 5.24.0: head_dim 128"
    assert spec.groups[0].kind == "full"
    assert spec.groups[0].key_dim == 128


def test_a_copy_that_lost_its_indexers_says_so() -> None:
    assert "every layer counted as owning an indexer" in _read("glm_moe_dsa", LATENT).note
    assert _read("deepseek_v32", LATENT).note == ""


@pytest.mark.parametrize(
    ("model_type", "config", "why", "elements"),
    [
        ("t5", {"d_model": 64, "d_kv": 8, "num_heads": 8, "num_layers": 3}, "the encoder takes any length", "384"),
        (
            "mllama",
            {
                "text_config": {
                    "model_type": "mllama_text_model",
                    "num_hidden_layers": 40,
                    "hidden_size": 4096,
                    "num_attention_heads": 32,
                    "num_key_value_heads": 8,
                    "cross_attention_layers": [3, 8, 13, 18, 23, 28, 33, 38],
                }
            },
            "how many image tokens there are depends on the request",
            "16,384",
        ),
    ],
)
def test_a_source_of_unknown_length_is_noted(model_type: str, config: Config, why: str, elements: str) -> None:
    """T5Config and MllamaTextConfig of transformers 5.24.0: 3 x 8 x 2 x 8 and 8 x 8 x 2 x 128 elements a token."""
    spec = _read(model_type, config)
    cross = spec.groups[1]
    assert isinstance(cross, CrossAttention)
    assert cross.source_tokens == 0
    assert spec.note == (
        f"cross-attention layers are counted with 0 source tokens: {why}; each source token adds {elements} cached "
        "elements to a sequence"
    )


def test_a_source_of_known_length_is_not_noted() -> None:
    decoder = {"decoder_layers": 4, "d_model": 384, "decoder_attention_heads": 6}
    assert "0 source tokens" not in _read("whisper", {**decoder, "max_source_positions": 1500}).note
    assert "the longest source" in _read("bart", {**decoder, "max_position_embeddings": 1024}).note
    assert _read("mllama_text_model", {**HEADS, "cross_attention_layers": []}).note == ""


@pytest.mark.parametrize(
    ("key", "tokens"), [("n_positions", 1024), ("max_seq_len", 2048), ("max_target_positions", 448)]
)
def test_longest_context_under_every_name(key: str, tokens: int) -> None:
    assert _read("gpt2", {"n_layer": 2, "n_embd": 64, "n_head": 8, key: tokens}).max_position_tokens == tokens
