"""The `vllm-gpu` accounting against published sizes."""

from __future__ import annotations

import pytest

from kvplan.core.kv.vllm import VllmSetup, vllm_accounting
from kvplan.schema.model import (
    ChunkedAttention,
    CompressedAttention,
    FullAttention,
    LatentAttention,
    LayerGroup,
    Recurrent,
    SharedKeyWindow,
    SlidingAttention,
)

Groups = tuple[LayerGroup, ...]

GPT_OSS_120B: Groups = (
    FullAttention(layers=18, kv_heads=8, key_dim=64, value_dim=64),
    SlidingAttention(layers=18, kv_heads=8, key_dim=64, value_dim=64, window_tokens=128),
)
GEMMA_4_31B: Groups = (
    SlidingAttention(layers=50, kv_heads=16, key_dim=256, value_dim=256, window_tokens=1024),
    FullAttention(layers=10, kv_heads=4, key_dim=512, value_dim=512),
)
LLAMA_4: Groups = (
    FullAttention(layers=12, kv_heads=8, key_dim=128, value_dim=128),
    ChunkedAttention(layers=36, kv_heads=8, key_dim=128, value_dim=128, chunk_tokens=8192),
)
QWEN_35_27B: Groups = (
    FullAttention(layers=16, kv_heads=4, key_dim=256, value_dim=256),
    Recurrent(layers=48, conv_elements=30_720, conv_columns=3, state_elements=786_432),
)
DEEPSEEK_V4_FLASH: Groups = (
    CompressedAttention(layers=21, ratio=4, entry_dim=512, index_dim=128),
    CompressedAttention(layers=20, ratio=128, entry_dim=512),
    SharedKeyWindow(layers=43, key_dim=512, window_tokens=128),
)


@pytest.mark.parametrize(
    ("groups", "setup", "bytes_per_token"),
    [
        (
            GPT_OSS_120B,
            VllmSetup("0.14.1", hybrid_manager=False),
            73_728,
        ),  # IBM Redbook MD260021, alvarobartt/hf-mem#60
        (GPT_OSS_120B, VllmSetup("0.14.1"), 36_864),
        (GPT_OSS_120B, VllmSetup("0.14.1", hybrid_manager=False, tp=4), 18_432),
        (GEMMA_4_31B, VllmSetup("0.33.0", hybrid_manager=False), 901_120),
        (GEMMA_4_31B, VllmSetup("0.33.0"), 81_920),
        (LLAMA_4, VllmSetup("0.33.0"), 196_608),  # vllm-project/vllm#16118
        (LLAMA_4, VllmSetup("0.33.0", hybrid_manager=True), 49_152),
        (QWEN_35_27B, VllmSetup("0.33.0"), 65_536),
    ],
)
def test_published_slopes(groups: Groups, setup: VllmSetup, bytes_per_token: int) -> None:
    assert vllm_accounting(groups, "bf16", 131_072, setup).bytes_per_token == bytes_per_token


def test_gpt_oss_windows_are_fixed_bytes() -> None:
    """Window 128 and 8,192 batched tokens: 520 blocks and one more, of 18 layers."""
    on = vllm_accounting(GPT_OSS_120B, "bf16", 131_072, VllmSetup("0.14.1"))
    assert on.fixed_bytes == 521 * 18 * 16 * 2048
    assert on.context_bytes == 131_072 * 36_864 + on.fixed_bytes


@pytest.mark.parametrize(("tp", "heads"), [(1, 8), (2, 4), (8, 1), (16, 1)])
def test_heads_are_divided_and_then_replicated(tp: int, heads: int) -> None:
    llama = (FullAttention(layers=32, kv_heads=8, key_dim=128, value_dim=128),)
    accounting = vllm_accounting(llama, "bf16", 1, VllmSetup("0.14.1", tp=tp))
    assert accounting.bytes_per_token == 32 * heads * 512
    assert accounting.scope == f"one GPU of TP {tp}"


def test_a_latent_is_not_divided() -> None:
    """kaito-project/kaito#2132: Mistral-Small-4 keeps 23,040 B/token on each of two GPUs."""
    mistral = (LatentAttention(layers=36, latent_dim=256, rope_dim=64),)
    assert vllm_accounting(mistral, "bf16", 1, VllmSetup("0.21.0", tp=2)).bytes_per_token == 23_040


def test_states_are_divided_and_kept_in_pages() -> None:
    """Qwen3.5-27B on one GPU: states in pages of 784 tokens for each of 3 groups of 16 layers, by version 1 or 2."""
    older, accounting = (vllm_accounting(QWEN_35_27B, "bf16", 32_768, VllmSetup(name)) for name in ("0.19.0", "0.24.0"))
    page_bytes = 784 * 4096
    assert (older.fixed_bytes, accounting.fixed_bytes) == (3 * 16 * page_bytes, 3 * 16 * 2 * page_bytes)
    assert accounting.context_bytes == 42 * 16 * page_bytes + accounting.fixed_bytes
    halved = vllm_accounting(QWEN_35_27B, "bf16", 32_768, VllmSetup("0.24.0", tp=2))
    assert halved.context_bytes * 2 == accounting.context_bytes


def test_contexts_are_rounded_to_blocks() -> None:
    sizes = [vllm_accounting(GPT_OSS_120B[:1], "bf16", tokens, VllmSetup("0.14.1")).context_bytes for tokens in (1, 17)]
    assert sizes == [16 * 36_864, 32 * 36_864]


def test_the_formula_has_the_numbers() -> None:
    accounting = vllm_accounting(GEMMA_4_31B, "bf16", 262_144, VllmSetup("0.33.0"))
    assert accounting.formula == (
        "50 sliding layers: 5 groups x (ceil(min(n, 9,215) / 16) + 1) blocks x 2,621,440 B = 7,562,854,400 B",
        "10 full layers: (ceil(n / 32)) blocks x 2,621,440 B = 21,474,836,480 B",
    )
    assert accounting.rule == "vLLM 0.33.0, hybrid manager on; groups: 6, smallest block: 16 tokens"


def test_promoted_layers_are_named() -> None:
    accounting = vllm_accounting(GPT_OSS_120B, "bf16", 131_072, VllmSetup("0.14.1", hybrid_manager=False))
    assert "hybrid manager off, window and chunk layers kept in full; groups: 1" in accounting.rule
    assert accounting.formula == ("18 full + 18 sliding layers: (ceil(n / 16)) blocks x 1,179,648 B = 9,663,676,416 B",)


def test_packed_models_are_the_plain_sum() -> None:
    """DeepSeek-V4-Flash: 6,880 B/token at 16 bits by its config.json; vLLM's own packing is not modelled."""
    accounting = vllm_accounting(DEEPSEEK_V4_FLASH, "bf16", 131_072, VllmSetup("0.33.0", tp=8))
    assert accounting.bytes_per_token == 6880
    assert accounting.fixed_bytes == 43 * 1024 * 16 * 521
    assert "plain sum of the layers, not vLLM's layout: vLLM packs pages" in accounting.rule


def test_recurrent_hybrids_without_the_manager_say_that_they_do_not_start() -> None:
    accounting = vllm_accounting(QWEN_35_27B, "bf16", 32_768, VllmSetup("0.14.1", hybrid_manager=False))
    assert accounting.fixed_bytes == 48 * 3_207_168
    assert accounting.formula[1] == "48 recurrent layers: 1 block x 153,944,064 B = 153,944,064 B"
    assert "does not start a recurrent hybrid" in accounting.rule


def test_a_model_without_cache_takes_nothing() -> None:
    accounting = vllm_accounting((), "bf16", 131_072, VllmSetup("0.33.0"))
    assert (accounting.bytes_per_token, accounting.fixed_bytes, accounting.context_bytes) == (0, 0, 0)
