"""The defaults that decide: tensor parallelism, cache back end, chunks, hybrid manager, and GPU memory."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from support import plan_for

from kvplan import InputError, Request, load_catalogue
from kvplan.core.sizing.hbm import Fleet, MemoryBudget, hbm_check, kv_bytes_per_gpu
from kvplan.core.sizing.inputs import Stack
from kvplan.core.sizing.setup import setup_of
from kvplan.core.sizing.versions import outside, release_key

if TYPE_CHECKING:
    from kvplan.schema.software import BackendId

GPT_OSS = "openai/gpt-oss-120b"
DEEPSEEK = "deepseek-ai/DeepSeek-V3"
LLAMA_405B = "meta-llama/Meta-Llama-3.1-405B"


@pytest.mark.parametrize(
    ("model", "gpu", "context_tokens", "tp"),
    [
        (GPT_OSS, "rtx-pro-6000", 130_000, 1),  # 65.2 GB of weights and 9.6 GB of KV in 92.4 - 6.2 GB
        (GPT_OSS, "l40s", 100_000, 2),  # 32.6 + 6.2 + 3.7 GB in 43.5 GB
        (GPT_OSS, "l40s", 130_000, 4),  # 32.6 + 6.2 + 4.8 GB no longer
        (DEEPSEEK, "h200", 32_000, 8),  # 671 GB of weights in 129.5 GB a GPU
        (LLAMA_405B, "h100", 32_000, 16),  # 811.7 GB of weights in 70.8 GB a GPU
    ],
)
def test_tp_is_the_fewest_gpus_that_hold_weights_and_one_context(
    model: str, gpu: str, context_tokens: int, tp: int
) -> None:
    plan = plan_for(model=model, gpu=gpu, context_tokens=context_tokens)
    assert plan.request.tp == tp
    assert plan.hbm.contexts_that_fit >= 1
    assert plan.hbm.engines == 128 // tp
    if tp > 1:
        half = plan_for(model=model, gpu=gpu, context_tokens=context_tokens, tp=tp // 2)
        assert half.hbm.contexts_that_fit == 0


@pytest.mark.parametrize(("gpus", "tp"), [(1, 1), (2, 2), (3, 2), (4, 4), (7, 4)])
def test_tp_stays_within_the_fleet(gpus: int, tp: int) -> None:
    plan = plan_for(model=DEEPSEEK, gpus=gpus)
    assert plan.request.tp == tp
    assert plan.hbm.contexts_that_fit == 0
    assert plan.hbm.needs_shared_tier
    too_small = next(warning for warning in plan.warnings if warning.id == "engine-too-small")
    assert too_small.severity == "error"
    assert plan.warnings[0] == too_small


def test_tp_as_asked_wins() -> None:
    plan = plan_for(tp=8)
    assert (plan.request.tp, plan.hbm.engines) == (8, 16)
    assert plan.hbm.weights_bytes_per_gpu == math.ceil(plan.model.weights_bytes / 8)
    assert plan.kv.accounting.vllm_gpu.bytes_per_token == 73_728 / 8
    assert plan.kv.stored_bytes_per_token == 73_728


def test_tp_beyond_the_fleet_is_refused() -> None:
    with pytest.raises(InputError) as refused:
        plan_for(tp=129)
    assert [problem.where for problem in refused.value.problems] == ["--tp"]


def test_gpus_left_over_are_named() -> None:
    plan = plan_for(tp=3)
    assert plan.hbm.engines == 42
    assert "idle-gpus" in {warning.id for warning in plan.warnings}
    assert "idle-gpus" not in {warning.id for warning in plan_for(tp=4).warnings}


def test_a_context_beyond_the_maximum_is_refused_and_can_be_insisted_on() -> None:
    assert plan_for(context_tokens=131_072).request.context_tokens == 131_072
    with pytest.raises(InputError) as refused:
        plan_for(context_tokens=131_073)
    (problem,) = refused.value.problems
    assert (problem.where, "131,072" in problem.allowed) == ("--context", True)
    plan = plan_for(context_tokens=131_073, beyond_max=True)
    assert plan.request.beyond_max
    assert "beyond-max" in {warning.id for warning in plan.warnings}
    assert "beyond-max" not in {warning.id for warning in plan_for(beyond_max=True).warnings}


def test_the_reference_software() -> None:
    # Published: Dynamo 0.9.0, vLLM 0.14.1; 16-token blocks; vLLM 0.14.1 turns the hybrid manager off with a connector.
    request = plan_for().request
    assert (request.software, request.vllm_version, request.cache_backend) == ("reference", "0.14.1", "kvbm-g4")
    assert (request.chunk_tokens, request.block_tokens, request.hybrid_manager) == (16, 16, False)
    assert request.kv_dtype == "bf16"


def test_the_current_software_drops_the_windows() -> None:
    plan = plan_for(software="current")
    request = plan.request
    assert (request.cache_backend, request.chunk_tokens, request.hybrid_manager) == ("vllm-fs", 256, True)
    assert plan.kv.stored_bytes_per_token == 36_864
    # 508 chunks of 256 tokens in the full layers, and one chunk's worth of windows at the end of the prompt.
    assert plan.kv.context_stored_bytes == pytest.approx(130_000 * 36_864, rel=0.01)
    assert "windows-in-full" not in {warning.id for warning in plan.warnings}


@pytest.mark.parametrize("software", ["reference", "current"])
def test_the_plan_says_what_the_other_software_would_change(software: str) -> None:
    plan = plan_for(software=software, tp=1)
    other = plan.other_software
    assert {software, other.software} == {"reference", "current"}
    same = plan_for(software=other.software, tp=1)
    assert (other.cache_backend, other.chunk_tokens) == (same.request.cache_backend, same.request.chunk_tokens)
    assert other.hybrid_manager == same.request.hybrid_manager
    assert other.stored_bytes_per_token == same.kv.stored_bytes_per_token
    assert other.loaded_bytes_per_token == same.kv.loaded_bytes_per_token
    assert other.context_stored_bytes == same.kv.context_stored_bytes
    assert other.context_loaded_bytes == same.kv.context_loaded_bytes


def test_the_other_software_keeps_its_own_defaults_whatever_was_asked() -> None:
    asked = plan_for(chunk_tokens=1024, checkpoint_tokens=8192, hybrid_manager=False, cache_backend="lmcache-fs")
    assert asked.other_software == plan_for().other_software.model_copy(update={"text": asked.other_software.text})


@pytest.mark.parametrize(
    ("software", "backend", "chunk_tokens"),
    [
        ("reference", "kvbm-g4", 16),
        ("reference", "vllm-fs", 256),
        ("reference", "lmcache-gds", 256),
        ("current", "vllm-fs", 256),
        ("current", "kvbm-disk", 16),
    ],
)
def test_chunks_are_those_of_the_back_end(software: str, backend: BackendId, chunk_tokens: int) -> None:
    request = plan_for(software=software, cache_backend=backend).request
    assert (request.cache_backend, request.chunk_tokens) == (backend, chunk_tokens)
    assert request.checkpoint_tokens == max(chunk_tokens, 256)


def test_chunks_and_checkpoints_as_asked() -> None:
    request = plan_for(chunk_tokens=512).request
    assert (request.chunk_tokens, request.checkpoint_tokens) == (512, 512)
    request = plan_for(chunk_tokens=512, checkpoint_tokens=4096).request
    assert (request.chunk_tokens, request.checkpoint_tokens) == (512, 4096)


@pytest.mark.parametrize(
    ("software", "backend", "asked", "on"),
    [
        ("reference", None, None, False),
        ("reference", None, True, False),  # kvbm-g4 never works with it
        ("reference", "vllm-fs", True, False),  # vLLM 0.14.1 is older than 0.23
        ("reference", "llmd-fs", True, False),  # and than 0.22
        ("current", None, None, True),
        ("current", None, False, False),
        ("current", "llmd-fs", None, True),
        ("current", "lmcache-fs", None, True),
        ("current", "lmcache-gds", None, False),
        ("current", "kvbm-disk", True, False),
    ],
)
def test_the_hybrid_manager_needs_back_end_and_version(
    software: str,
    backend: str | None,
    *,
    asked: bool | None,
    on: bool,
) -> None:
    plan = plan_for(software=software, cache_backend=backend, hybrid_manager=asked)
    assert plan.request.hybrid_manager is on
    said = "hybrid-manager-off" in {warning.id for warning in plan.warnings}
    assert said == (asked is True and not on)


@pytest.mark.parametrize(("vllm", "on"), [("0.22.9", False), ("0.23", True), ("0.23.0", True), ("1.0", True)])
def test_the_hybrid_manager_starts_with_a_version(vllm: str, *, on: bool) -> None:
    catalogue = load_catalogue()
    software = catalogue.software("current").model_copy(update={"vllm": vllm})
    asked = Request(model=GPT_OSS, context_tokens=1_000, gpus=1)
    assert setup_of(asked, Stack(software, catalogue.backend("vllm-fs")), 1, ()).hybrid_manager is on


def test_concurrency_is_assumed_only_when_nobody_gives_it() -> None:
    assumed, asked = plan_for(), plan_for(concurrency=7)
    point = "constants.hbm.concurrency_per_engine"
    assert assumed.request.concurrency == asked.request.concurrency == 7
    assert point in {item.id for item in assumed.open_points}
    assert point not in {item.id for item in asked.open_points}


@pytest.mark.parametrize(("concurrency", "needs"), [(1, False), (2, False), (3, True)])
def test_a_shared_tier_is_needed_when_memory_holds_fewer_contexts_than_are_in_flight(
    concurrency: int,
    *,
    needs: bool,
) -> None:
    # 19.6 GiB hold two contexts of 9.58 GB.
    plan = plan_for(concurrency=concurrency)
    assert plan.hbm.contexts_that_fit == 2
    assert plan.hbm.needs_shared_tier is needs
    assert ("memory-suffices" in {warning.id for warning in plan.warnings}) is not needs


def test_memory_utilisation_moves_what_is_left() -> None:
    more = plan_for(gpu_memory_utilisation=0.95).hbm
    less = plan_for().hbm
    assert more.kv_bytes_per_gpu - less.kv_bytes_per_gpu == pytest.approx(0.05 * less.gpu_memory_bytes, abs=2)


def test_weights_beyond_memory_leave_nothing() -> None:
    budget = MemoryBudget(memory_bytes=80 * 10**9, utilisation=0.9, overhead_bytes=6 * 10**9)
    assert kv_bytes_per_gpu(budget, 66 * 10**9, 1) == 0
    assert kv_bytes_per_gpu(budget, 65 * 10**9, 1) == 10**9
    assert kv_bytes_per_gpu(budget, 3 * 10**9 + 1, 3) == 65 * 10**9 - 1
    nothing = hbm_check(budget, Fleet(gpus=8, tp=1, concurrency=1), 100 * 10**9, 10**9)
    assert (nothing.kv_bytes_per_gpu, nothing.contexts_that_fit, nothing.needs_shared_tier) == (0, 0, True)


def test_a_context_of_no_bytes_is_held_by_nobody() -> None:
    budget = MemoryBudget(memory_bytes=80 * 10**9, utilisation=0.9, overhead_bytes=0)
    assert hbm_check(budget, Fleet(1, 1, 1), 0, 0).contexts_that_fit == 0


@pytest.mark.parametrize(
    ("version", "first", "last", "missed"),
    [
        ("0.14.1", "0.14.1", "0.14", ""),
        ("0.14.0", "0.14.1", "", "0.14.1 or later"),
        ("0.22.3", "0.14", "0.22", ""),
        ("0.23.0", "0.14", "0.22", "0.22 or earlier"),
        ("1.7.0", "", "", ""),
    ],
)
def test_version_ranges(version: str, first: str, last: str, missed: str) -> None:
    assert outside(version, first, last) == missed


def test_releases_sort_by_number_not_by_letter() -> None:
    assert release_key("0.24") == release_key("0.24.0")
    assert outside("0.24", "0.24.0", "0.24.0") == ""
    assert release_key("0.9.0") < release_key("0.14.1") < release_key("0.23.0rc1") < release_key("1.0")
