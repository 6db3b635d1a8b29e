"""The KV calculator on its own."""

from __future__ import annotations

from typing import Any

import pytest

from kvplan.api import kv_report
from kvplan.schema.reports import KvReport, KvRequest

GPT_OSS = "openai/gpt-oss-120b"


def report(**changes: Any) -> KvReport:
    return kv_report(KvRequest.model_validate({"model": GPT_OSS, "context_tokens": 130_000, **changes}))


def test_three_accountings_and_the_volume() -> None:
    # 18 + 18 layers x 8 heads x 128 x 2 B; windows in full without the hybrid manager.
    result = report(concurrency=28)
    assert result.accounting.minimal.bytes_per_token == 36_864
    assert result.accounting.vllm_gpu.bytes_per_token == 73_728
    assert result.accounting.external_tier.context_bytes == 130_000 * 73_728
    assert result.volume_bytes == 28 * 130_000 * 73_728
    assert (result.tp, result.cache_backend, result.chunk_tokens) == (1, "kvbm-g4", 16)


def test_without_a_gpu_there_is_no_memory_check() -> None:
    result = report()
    assert (result.gpu, result.hbm, result.vllm_log) == (None, None, None)


def test_with_a_gpu_contexts_are_counted() -> None:
    # Published: 19.6 GiB left for KV on the reference GPU.
    result = report(gpu="rtx-pro-6000", concurrency=3)
    assert result.hbm is not None
    assert result.hbm.kv_bytes_per_gpu / 2**30 == pytest.approx(19.6, abs=0.05)
    assert (result.hbm.contexts_that_fit, result.hbm.needs_shared_tier, result.hbm.engines) == (2, True, 1)


@pytest.mark.parametrize(
    ("model", "gpu", "context_tokens", "tp"),
    [(GPT_OSS, "l40s", 128_000, 2), (GPT_OSS, "l40s", 130_000, 4), ("DeepSeek-V3", "h200", 128_000, 8)],
)
def test_tp_is_the_fewest_gpus(model: str, gpu: str, context_tokens: int, tp: int) -> None:
    assert report(model=model, gpu=gpu, context_tokens=context_tokens).tp == tp
    assert report(model=model, gpu=gpu, context_tokens=context_tokens, tp=16).tp == 16


def test_a_model_that_never_fits_ends_at_the_largest_tp() -> None:
    result = report(model="DeepSeek-V3", gpu="l40s", gpu_memory_utilisation=0.1)
    assert result.hbm is not None
    assert (result.tp, result.hbm.contexts_that_fit) == (1024, 0)


def test_the_published_tokens_fit_four_gpus() -> None:
    # 19.6 GiB "hold about 1.14 M tokens": 18,432 B a token on each GPU of TP 4.
    result = report(tp=4, available_bytes=int(19.6 * 2**30))
    assert result.vllm_log is not None
    assert result.vllm_log.tokens == pytest.approx(1.14e6, rel=0.005)
    assert result.vllm_log.max_concurrency == pytest.approx(result.vllm_log.tokens / 130_000)


@pytest.mark.parametrize(
    ("version", "backend", "stored"),
    [
        ("0.33.0", "vllm-fs", 36_864),
        ("0.14.1", "vllm-fs", 73_728),
        ("0.23.0", "vllm-fs", 73_728),
        ("0.33.0", "kvbm-g4", 73_728),
    ],
)
def test_a_version_given_by_hand_decides_for_engine_and_tier(version: str, backend: str, stored: int) -> None:
    # From 0.24 on a connector leaves the hybrid manager on where it supports it: 18 of 36 layers grow.
    result = report(vllm_version=version, cache_backend=backend)
    assert result.accounting.external_tier.bytes_per_token == stored
    assert result.accounting.vllm_gpu.bytes_per_token == stored


def test_the_log_of_a_version_given_by_hand_is_of_a_plain_engine() -> None:
    result = report(tp=4, vllm_version="0.14.1", available_bytes=2**34, max_model_len=65_536)
    assert result.vllm_log is not None
    assert (result.vllm_log.vllm_version, result.vllm_log.max_model_len) == ("0.14.1", 65_536)
    assert result.vllm_log.groups == 2
    assert any("without a KV connector" in note for note in result.notes)


def test_the_version_of_the_software_set_given_by_hand_changes_nothing() -> None:
    plain, named = (report(gpu="rtx-pro-6000", concurrency=4, vllm_version=version) for version in (None, "0.14.1"))
    assert plain.hbm == named.hbm
    assert plain.accounting == named.accounting


def test_chunked_attention_turns_the_hybrid_manager_off() -> None:
    # Llama 4: all 48 layers in full, one KV head a GPU at TP 8: 24,576 B a token.
    result = report(model="llama-4-scout-17b-16e-instruct", context_tokens=32_768, tp=8, software="current")
    assert result.accounting.vllm_gpu.bytes_per_token == 24_576


def test_current_software() -> None:
    result = report(software="current")
    assert (result.cache_backend, result.chunk_tokens, result.accounting.external_tier.bytes_per_token) == (
        "vllm-fs",
        256,
        36_864,
    )


def test_it_survives_the_file() -> None:
    result = report(gpu="h100", available_bytes=2**34)
    assert KvReport.model_validate_json(result.model_dump_json()) == result
