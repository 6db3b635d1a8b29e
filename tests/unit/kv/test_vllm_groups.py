"""vLLM's pool: pages, blocks, groups, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kvplan.core.kv.vllm_groups import vllm_pool
from kvplan.core.kv.vllm_layers import layer_specs
from kvplan.core.kv.vllm_setup import VllmSetup, hybrid_manager_on
from kvplan.errors import InputError
from kvplan.schema.model import (
    ChunkedAttention,
    CompressedAttention,
    CrossAttention,
    FullAttention,
    Indexer,
    LatentAttention,
    LayerGroup,
    NoCache,
    Recurrent,
    SharedCache,
    SharedKeyWindow,
    SlidingAttention,
)

if TYPE_CHECKING:
    from kvplan.schema.request import KvDtype

Groups = tuple[LayerGroup, ...]

QWEN_36_35B: Groups = (
    FullAttention(layers=10, kv_heads=2, key_dim=256, value_dim=256),
    Recurrent(layers=30, conv_elements=24_576, conv_columns=3, state_elements=524_288),
)
KIMI_LINEAR: Groups = (
    LatentAttention(layers=7, latent_dim=512, rope_dim=64),
    Recurrent(layers=20, conv_elements=36_864, conv_columns=3, state_elements=524_288),
)
DEEPSEEK_V32: Groups = (
    LatentAttention(layers=61, latent_dim=512, rope_dim=64),
    Indexer(layers=61, key_dim=128),
)
DEEPSEEK_V4_FLASH: Groups = (
    CompressedAttention(layers=21, ratio=4, entry_dim=512, index_dim=128),
    CompressedAttention(layers=20, ratio=128, entry_dim=512),
    SharedKeyWindow(layers=43, key_dim=512, window_tokens=128),
)


def full(layers: int, kv_heads: int = 8) -> FullAttention:
    return FullAttention(layers=layers, kv_heads=kv_heads, key_dim=128, value_dim=128)


def window(layers: int, kv_heads: int = 8, window_tokens: int = 1024) -> SlidingAttention:
    return SlidingAttention(layers=layers, kv_heads=kv_heads, key_dim=128, value_dim=128, window_tokens=window_tokens)


def chunked(layers: int) -> ChunkedAttention:
    return ChunkedAttention(layers=layers, kv_heads=8, key_dim=128, value_dim=128, chunk_tokens=8192)


def test_attention_block_grows_to_hold_a_state() -> None:
    """noonghunna/club-3090#652: Qwen3.6-35B-A3B with fp8 KV, 2,096 tokens, 2,146,304 B, 10 layers a block."""
    pool = vllm_pool(QWEN_36_35B, "fp8", VllmSetup("0.24.0"))
    assert (pool.block_tokens, pool.groups, pool.block_bytes) == (2096, 4, 10 * 2_146_304)


def test_latent_blocks_come_in_steps_of_64() -> None:
    """vllm-project/vllm#28228: Kimi-Linear at TP 2, 960 tokens (the next multiple of 16 would be 944)."""
    pool = vllm_pool(KIMI_LINEAR, "bf16", VllmSetup("0.11.1-dev", tp=2))
    assert (pool.block_tokens, pool.groups, pool.block_bytes) == (960, 4, 7 * 960 * 1152)


def test_a_larger_block_than_the_state_needs_is_kept() -> None:
    specs = layer_specs(QWEN_36_35B, "fp8", VllmSetup("0.24.0", block_tokens=4096))
    assert {spec.block_tokens for spec in specs} == {4096}


def test_speculative_tokens_widen_the_state() -> None:
    """noonghunna/club-3090#642: Qwen3.6-27B with 3 MTP tokens at TP 2 has blocks of 1,600 tokens."""
    groups: Groups = (
        FullAttention(layers=17, kv_heads=4, key_dim=256, value_dim=256),
        Recurrent(layers=48, conv_elements=30_720, conv_columns=3, state_elements=786_432),
    )
    setup = VllmSetup("0.24.0", tp=2, speculative_tokens=3)
    state = next(spec for spec in layer_specs(groups, "fp8", setup) if spec.kind == "state")
    assert (state.page_bytes, state.block_tokens, state.constant_blocks) == ((122_880 + 3_145_728) // 2, 1600, 5)


@pytest.mark.parametrize(
    ("version", "prefix_caching", "speculative_tokens", "blocks"),
    [
        ("0.11.1-dev", True, 0, 1),  # vllm-project/vllm#28228
        ("0.19.0", True, 0, 1),  # vllm-project/vllm#40691
        ("0.19.0", True, 3, 4),
        ("0.20.0rc1", True, 0, 2),  # assumed
        ("0.20.2rc1.dev129", True, 3, 5),  # noonghunna/club-3090#142
        ("0.24.0", True, 0, 2),  # noonghunna/club-3090#652
        ("0.24.0", False, 0, 1),
    ],
)
def test_newer_versions_keep_a_second_state_for_prefix_caching(
    *, version: str, prefix_caching: bool, speculative_tokens: int, blocks: int
) -> None:
    setup = VllmSetup(version, prefix_caching=prefix_caching, speculative_tokens=speculative_tokens)
    assert layer_specs(QWEN_36_35B, "fp8", setup)[1].blocks(10**6) == blocks == setup.states


@pytest.mark.parametrize(
    ("full_layers", "window_layers", "groups", "group_size"),
    [(10, 50, 6, 10), (13, 12, 2, 13), (10, 14, 2, 14), (10, 15, 3, 10), (7, 20, 4, 7), (5, 5, 2, 5)],
)
def test_group_size_is_the_smallest_kind_or_the_largest_within_half(
    full_layers: int, window_layers: int, groups: int, group_size: int
) -> None:
    pool = vllm_pool((full(full_layers), window(window_layers)), "bf16", VllmSetup("0.33.0"))
    assert (pool.groups, pool.block_bytes) == (groups, group_size * 16 * 4096)


def test_equal_groups_of_the_model_are_one_kind() -> None:
    split = vllm_pool((full(3), window(20), full(7), window(30)), "bf16", VllmSetup("0.33.0"))
    assert split == vllm_pool((full(10), window(50)), "bf16", VllmSetup("0.33.0"))


def test_window_takes_batched_tokens_and_a_block_more() -> None:
    """noonghunna/club-3090#334: window 1,024 and 4,096 batched tokens take 321 blocks."""
    spec = layer_specs((window(25),), "bf16", VllmSetup("0.21.0", max_batched_tokens=4096))[0]
    assert [spec.blocks(tokens) for tokens in (10**6, 5119, 16, 1)] == [321, 321, 2, 2]
    assert spec.saturated_blocks == 321


def test_chunk_takes_batched_tokens() -> None:
    spec = layer_specs((chunked(36),), "bf16", VllmSetup("0.33.0"))[0]
    assert [spec.blocks(tokens) for tokens in (10**6, 8192, 1)] == [1024, 512, 1]


def test_cross_attention_is_a_group_of_fixed_length() -> None:
    """Whisper keeps 1,500 encoder positions."""
    cross = CrossAttention(layers=32, kv_heads=20, key_dim=64, value_dim=64, source_tokens=1500)
    own = FullAttention(layers=32, kv_heads=20, key_dim=64, value_dim=64)
    pool = vllm_pool((own, cross), "bf16", VllmSetup("0.33.0"))
    assert (pool.groups, pool.blocks_of(448)) == (2, 28 + 94)


def test_layers_that_keep_nothing_do_not_count() -> None:
    empty = CrossAttention(layers=8, kv_heads=8, key_dim=128, value_dim=128, source_tokens=0)
    groups: Groups = (full(32), SharedCache(layers=20), NoCache(layers=4), empty)
    assert vllm_pool(groups, "bf16", VllmSetup("0.33.0")) == vllm_pool((full(32),), "bf16", VllmSetup("0.33.0"))


@pytest.mark.parametrize(("dtype", "latent_bytes"), [("bf16", 1152), ("fp8_ds_mla", 656)])
def test_latent_and_indexer_are_one_group_on_every_rank(dtype: KvDtype, latent_bytes: int) -> None:
    """DeepSeek-V3.2: the indexer key is 132 B whatever the KV dtype (`flashmla_sparse.py`)."""
    pool = vllm_pool(DEEPSEEK_V32, dtype, VllmSetup("0.33.0", tp=8))
    assert (pool.groups, pool.block_bytes) == (1, 61 * 16 * (latent_bytes + 132))


def test_an_indexer_beside_full_attention_has_the_kv_dtype() -> None:
    pool = vllm_pool((full(60), Indexer(layers=57, key_dim=128)), "bf16", VllmSetup("0.33.0"))
    assert pool.block_bytes == 16 * (60 * 4096 + 57 * 256)


def test_no_manager_before_0_10() -> None:
    setup = VllmSetup("0.9.2", hybrid_manager=True)
    assert not hybrid_manager_on((full(1), window(1)), setup)
    assert vllm_pool((window(32),), "bf16", setup).blocks_of(16_000) == 1000


def test_a_model_of_windows_alone_stays_one_with_the_manager_off() -> None:
    pool = vllm_pool((window(32),), "bf16", VllmSetup("0.14.1", hybrid_manager=False))
    assert (pool.promoted, pool.blocks_of(131_072)) == (False, 577)


@pytest.mark.parametrize(("setting", "on"), [(None, False), (True, True), (False, False)])
def test_chunked_models_have_the_manager_off_by_default(*, setting: bool | None, on: bool) -> None:
    setup = VllmSetup("0.33.0", hybrid_manager=setting)
    assert hybrid_manager_on((full(12), chunked(36)), setup) is on


@pytest.mark.parametrize(
    ("groups", "setup", "reason"),
    [
        (DEEPSEEK_V4_FLASH, VllmSetup("0.33.0"), "several sizes into one block"),
        (QWEN_36_35B, VllmSetup("0.14.1", hybrid_manager=False), "does not start"),
        (QWEN_36_35B, VllmSetup("0.9.2"), "before 0.10.0"),
        (QWEN_36_35B[1:], VllmSetup("0.33.0"), "states, not tokens"),
        ((full(4, kv_heads=3), window(4, kv_heads=2)), VllmSetup("0.33.0"), "not multiples"),
        ((NoCache(layers=4),), VllmSetup("0.33.0"), "caches nothing"),
    ],
)
def test_layouts_that_are_not_modelled_say_why(groups: Groups, setup: VllmSetup, reason: str) -> None:
    assert reason in vllm_pool(groups, "bf16", setup).not_modelled


def test_all_problems_of_a_setup_come_at_once() -> None:
    with pytest.raises(InputError) as caught:
        VllmSetup("0.33.0", tp=0, block_tokens=0, max_batched_tokens=0, speculative_tokens=-1)
    assert [problem.key for problem in caught.value.problems] == [
        "tp",
        "block_tokens",
        "max_batched_tokens",
        "speculative_tokens",
    ]
