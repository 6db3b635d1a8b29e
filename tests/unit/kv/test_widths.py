"""Bytes of a cached token by kind and KV dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pytest

from kvplan.core.kv.widths import VECTOR_FORMATS, index_bytes, state_bytes, token_bytes, vector_bytes
from kvplan.schema.model import (
    ChunkedAttention,
    CompressedAttention,
    CrossAttention,
    FullAttention,
    Indexer,
    LatentAttention,
    NoCache,
    Recurrent,
    SharedCache,
    SharedKeyWindow,
    SlidingAttention,
)
from kvplan.schema.request import KvDtype

if TYPE_CHECKING:
    from kvplan.schema.model import LayerGroup

GPT_OSS_LAYER = FullAttention(layers=18, kv_heads=8, key_dim=64, value_dim=64)
V3_LATENT = LatentAttention(layers=61, latent_dim=512, rope_dim=64)
V3_INDEXER = Indexer(layers=61, key_dim=128)
V4_CSA = CompressedAttention(layers=21, ratio=4, entry_dim=512, index_dim=128)
V4_HCA = CompressedAttention(layers=20, ratio=128, entry_dim=512)
V4_WINDOW = SharedKeyWindow(layers=43, key_dim=512, window_tokens=128)


def test_every_dtype_of_the_request_has_a_format() -> None:
    assert set(VECTOR_FORMATS) == set(get_args(KvDtype))


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [("bf16", 128), ("fp16", 128), ("fp8", 64), ("int8", 68), ("int4", 36), ("nvfp4", 36), ("fp8_ds_mla", 64)],
)
def test_vector_of_64(dtype: KvDtype, expected: int) -> None:
    """Per vLLM 0.33.0: fp8 without scales, 4 B a token-head vector for int8 and int4, hd/2 + hd/16 for nvfp4."""
    assert vector_bytes(64, dtype) == expected
    assert token_bytes(GPT_OSS_LAYER, dtype) == 8 * 2 * expected


def test_odd_lengths_are_rounded_up_to_whole_bytes() -> None:
    assert vector_bytes(7, "int4") == 4 + 4
    assert vector_bytes(17, "nvfp4") == 9 + 2


@pytest.mark.parametrize(
    ("group", "dtype", "expected"),
    [
        (V3_LATENT, "bf16", 1152),
        (V3_LATENT, "fp8", 576),
        (V3_LATENT, "int8", 580),
        (V3_LATENT, "fp8_ds_mla", 656),
        (LatentAttention(layers=36, latent_dim=256, rope_dim=64), "fp8_ds_mla", 320),
        (V3_INDEXER, "bf16", 256),
        (V3_INDEXER, "fp8", 132),
        (V3_INDEXER, "fp8_ds_mla", 132),
        (V4_CSA, "bf16", 1280),
        (V4_CSA, "fp8", 512 + 132),
        (V4_CSA, "fp8_ds_mla", 584 + 132),
        (V4_HCA, "bf16", 1024),
        (V4_HCA, "fp8_ds_mla", 584),
        (V4_WINDOW, "bf16", 1024),
        (V4_WINDOW, "fp8_ds_mla", 584),
        (SharedKeyWindow(layers=3, key_dim=64, window_tokens=20), "fp8_ds_mla", 64),
    ],
)
def test_vectors_without_heads(group: LayerGroup, dtype: KvDtype, expected: int) -> None:
    """656 B (DeepSeek-V3.2) and 584 B (V4): vLLM 0.33.0 flashmla_sparse.py; 132 B indexer: vLLM and SGLang."""
    assert token_bytes(group, dtype) == expected


@pytest.mark.parametrize(
    "group",
    [Recurrent(layers=3, conv_elements=9, conv_columns=3), SharedCache(layers=5), NoCache(layers=4)],
)
def test_kinds_that_do_not_grow(group: LayerGroup) -> None:
    assert token_bytes(group, "bf16") == 0


@pytest.mark.parametrize(
    "group",
    [
        GPT_OSS_LAYER,
        SlidingAttention(layers=18, kv_heads=8, key_dim=64, value_dim=64, window_tokens=128),
        ChunkedAttention(layers=36, kv_heads=8, key_dim=64, value_dim=64, chunk_tokens=8192),
        CrossAttention(layers=8, kv_heads=8, key_dim=64, value_dim=64, source_tokens=1601),
    ],
)
def test_head_count_of_one_rank(group: LayerGroup) -> None:
    assert token_bytes(group, "bf16") == 2048
    assert token_bytes(group, "bf16", kv_heads=2) == 512


def test_head_count_has_no_effect_on_a_latent() -> None:
    assert token_bytes(V3_LATENT, "bf16", kv_heads=1) == 1152


def test_no_indexer_no_bytes() -> None:
    assert index_bytes(0, "bf16") == index_bytes(0, "fp8") == 0


def test_state_follows_its_own_width() -> None:
    """MiniMax-Text-01 keeps lightning attention in bf16, Qwen3.5 its recurrent state in float32 (transformers 5.24)."""
    assert state_bytes(Recurrent(layers=2, state_elements=6 * 16 * 16, state_bytes_per_element=2)) == 3072
    assert state_bytes(Recurrent(layers=48, conv_elements=30_720, conv_columns=3, state_elements=786_432)) == 3_207_168
