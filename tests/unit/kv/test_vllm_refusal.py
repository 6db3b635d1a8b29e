"""Memory that does not hold one request: vLLM refuses to start and names what it would need."""

from __future__ import annotations

import pytest

from kvplan.api import kv_report
from kvplan.core.kv.vllm import VllmSetup
from kvplan.core.kv.vllm_log import predict_log
from kvplan.render.kv_view import kv_report_view
from kvplan.schema.model import FullAttention
from kvplan.schema.reports import KvRequest
from kvplan.units import GIB

MINIMAX_M2 = (FullAttention(layers=62, kv_heads=8, key_dim=128, value_dim=128),)
"""MiniMax-M2.7, of which eugr/spark-vllm-docker#396 prints 23.25 GiB for 196,608 tokens on two GPUs."""
SETUP = VllmSetup("0.29.1rc1", tp=2)


def test_the_error_of_an_engine_that_does_not_start() -> None:
    log = predict_log(MINIMAX_M2, "bf16", int(22.5 * GIB), 196_608, SETUP)
    assert log.max_concurrency < 1
    assert log.needed_bytes == 23.25 * GIB
    assert log.estimated_max_length is not None
    assert log.estimated_max_length == pytest.approx(22.5 / 23.25 * 196_608, rel=1e-3)


def test_an_engine_with_exactly_enough_starts() -> None:
    log = predict_log(MINIMAX_M2, "bf16", int(23.25 * GIB), 196_608, SETUP)
    assert (log.max_concurrency, log.needed_bytes, log.estimated_max_length) == (1.0, None, None)


def test_the_report_says_so() -> None:
    request = KvRequest(
        model="meta-llama/Llama-3.1-8B-Instruct",
        context_tokens=100_000,
        vllm_version="0.14.1",
        available_bytes=int(3.81 * GIB),
    )
    section = next(part for part in kv_report_view(kv_report(request)) if "vLLM 0.14.1" in part.title)
    assert section.title == "vLLM 0.14.1 does not start"
    assert section.lines == (
        "Available KV cache memory: 3.81 GiB",
        "one request of 100,000 tokens needs 12.21 GiB",
        "estimated maximum model length: 31,200 tokens",
    )
