"""What the reader of a Plan is told, by the stable id of each finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support import plan_for

from kvplan.core.sizing.buys import buys
from kvplan.core.sizing.candidates import limit_sentence, physical_choice
from kvplan.core.sizing.demand import redbook_demand
from kvplan.core.sizing.guidance import guidance_gaps
from kvplan.schema.ece import Limit

if TYPE_CHECKING:
    from kvplan import Plan

GPT_OSS = "openai/gpt-oss-120b"
SMALL = "meta-llama/Llama-3.1-8B-Instruct"
DEEPSEEK = "deepseek-ai/DeepSeek-V3"
HYBRID = "Qwen/Qwen3.5-27B"
SEVERITIES = ("error", "warning", "info")


def severities(plan: Plan) -> dict[str, str]:
    return {warning.id: warning.severity for warning in plan.warnings}


@pytest.mark.parametrize("model", [GPT_OSS, HYBRID, DEEPSEEK])
def test_the_gravest_comes_first_and_each_names_its_source(model: str) -> None:
    warnings = plan_for(model=model, gpus=8).warnings
    order = [SEVERITIES.index(warning.severity) for warning in warnings]
    assert order == sorted(order)
    assert all(warning.id and warning.text and warning.source for warning in warnings)


def test_latent_models_are_oversized_by_the_rule() -> None:
    # DeepSeek-V3, 671B: the guidance asks for the large class, a token is only 61 x 576 x 2 B = 70,272 B.
    plan = plan_for(model=DEEPSEEK, gpus=64, gpu="h200", cache_backend="lmcache-fs")
    assert plan.profile.name == "large-16"
    assert plan.kv.stored_bytes_per_token == 70_272
    assert severities(plan)["rule-oversizes"] == "warning"
    text = next(warning.text for warning in plan.warnings if warning.id == "rule-oversizes")
    assert "70,272" in text
    assert "compact-4" in text


def test_every_rank_stores_a_latent_unless_the_back_end_knows_better() -> None:
    every_rank = plan_for(model=DEEPSEEK, gpus=64, gpu="h200", tp=8)
    assert every_rank.kv.stored_bytes_per_token == 8 * 70_272
    assert "latent-copies" in severities(every_rank)
    assert "latent-copies" not in severities(plan_for(model=DEEPSEEK, gpus=64, tp=8, cache_backend="lmcache-fs"))
    assert "latent-copies" not in severities(plan_for(tp=8))


def test_the_rule_does_not_oversize_what_bandwidth_asks_for() -> None:
    # 256 GPUs ask 300 GB/s; 70 % of no smaller tier covers that.
    assert "rule-oversizes" not in severities(plan_for(gpus=256))


def test_130k_contexts_are_an_eighth_of_a_hit_per_second() -> None:
    # 1.17 GB/s a GPU over 9.58 GB a context = 0.122 hits a second and engine of one GPU.
    plan = plan_for()
    assert severities(plan)["slow-hits"] == "warning"
    assert "0.12" in next(warning.text for warning in plan.warnings if warning.id == "slow-hits")
    assert "slow-hits" not in severities(plan_for(context_tokens=32_000))


def test_recurrent_hybrids_checkpoint_their_state() -> None:
    # 48 layers x (786,432 x 4 B + 30,720 x 2 B) = 153.9 MB of state, every 256 tokens beside 65,536 B of attention.
    plan = plan_for(model=HYBRID, gpus=64)
    assert plan.kv.stored_bytes_per_token == 65_536 + 153_944_064 / 256
    assert plan.kv.loaded_bytes_per_token == 65_536
    assert severities(plan)["recurrent-state"] == "warning"
    wide = plan_for(model=HYBRID, gpus=64, software="current", checkpoint_tokens=16_384)
    assert wide.kv.stored_bytes_per_token == pytest.approx(65_536 + 153_944_064 / 16_384)
    assert severities(wide)["recurrent-state"] == "info"


@pytest.mark.parametrize(
    ("changes", "severity"),
    [
        ({"cache_backend": "kvbm-disk"}, "error"),
        ({"cache_backend": "kvbm-disk", "software": "current"}, "error"),
        ({"cache_backend": "vllm-fs"}, "error"),
        ({"software": "current", "hybrid_manager": False}, "error"),
        ({"software": "current"}, None),
    ],
)
def test_recurrent_hybrids_need_a_back_end_that_stores_state(changes: dict[str, object], severity: str | None) -> None:
    found = severities(plan_for(model=HYBRID, gpus=64, **changes))
    assert found.get("recurrent-unsupported") == severity


def test_chunks_of_a_recurrent_hybrid_are_multiples_of_its_blocks() -> None:
    # vLLM grows the blocks of such a model until a page of attention is as large as the state.
    plan = plan_for(model=HYBRID, gpus=64, software="current")
    text = next(warning.text for warning in plan.warnings if warning.id == "chunk-not-multiple")
    block_tokens = int(text.rpartition(" ")[2])
    assert block_tokens % 16 == 0
    fitting = plan_for(model=HYBRID, gpus=64, software="current", chunk_tokens=2 * block_tokens)
    assert "chunk-not-multiple" not in severities(fitting)
    assert "chunk-not-multiple" not in severities(plan_for(software="current"))


def test_attention_models_have_no_state_to_speak_of() -> None:
    assert not {"recurrent-state", "recurrent-unsupported"} & severities(plan_for()).keys()


def test_private_files_are_no_shared_tier() -> None:
    found = severities(plan_for(cache_backend="kvbm-disk"))
    assert found["backend-private"] == "warning"
    assert not {"backend-unreleased", "backend-no-eviction"} & found.keys()


def test_the_reference_back_end_is_in_no_release() -> None:
    found = severities(plan_for())
    assert found["backend-unreleased"] == "warning"
    assert found["backend-evicts-itself"] == "info"
    assert not {"backend-private", "backend-version", "backend-no-eviction"} & found.keys()


@pytest.mark.parametrize("software", ["reference", "current"])
def test_a_shared_store_of_lmcache_needs_an_evictor(software: str) -> None:
    # Neither LMCache 0.3.13 nor the fs adapter of 0.5.6, which has no capacity, deletes a file.
    plan = plan_for(software=software, cache_backend="lmcache-fs")
    assert "backend-evicts-itself" not in severities(plan)
    (told,) = [warning.text for warning in plan.warnings if warning.id == "backend-no-eviction"]
    assert "spares files that are still being read" in told


def test_reads_and_writes_together_may_overload() -> None:
    # 1,000 GPUs: each direction fits the storage NIC alone, both together do not.
    assert severities(plan_for(gpus=1000))["network-overload"] == "warning"


@pytest.mark.parametrize(
    ("software", "backend", "mismatches"),
    [("reference", "vllm-fs", 2), ("reference", "lmcache-fs", 0), ("current", "vllm-fs", 0), ("current", "llmd-fs", 2)],
)
def test_versions_outside_the_back_ends_range(software: str, backend: str, mismatches: int) -> None:
    plan = plan_for(software=software, cache_backend=backend)
    assert [warning.id for warning in plan.warnings].count("backend-version") == mismatches


def test_windows_in_full() -> None:
    assert severities(plan_for())["windows-in-full"] == "warning"
    assert "windows-in-full" not in severities(plan_for(model=SMALL))


def test_short_contexts_are_recomputed_faster() -> None:
    least = plan_for().performance.break_even_tokens
    assert least is not None
    assert severities(plan_for(context_tokens=int(least)))["short-context"] == "warning"
    assert "short-context" not in severities(plan_for(context_tokens=int(least) + 1))


def test_parameters_from_the_name_are_to_be_confirmed() -> None:
    assert severities(plan_for(model=SMALL))["params-from-name"] == "info"
    assert "params-from-name" not in severities(plan_for(model=SMALL, params_total=8_030_000_000))


def test_a_source_that_talks_of_names_is_no_parameter_count_from_a_name() -> None:
    # The catalogue row of this model has both counts; its source only happens to contain the word.
    plan = plan_for(model="ibm-granite/granite-4.0-h-small")
    assert "name" in plan.model.params_source
    assert "params-from-name" not in severities(plan)


def test_writes_beyond_what_the_drives_are_rated_for() -> None:
    plan = plan_for()
    wear = plan.profile.endurance
    assert wear.demanded_drive_writes_per_day > wear.rated_drive_writes_per_day
    assert severities(plan)["drive-endurance"] == "warning"
    assert "drive-endurance" not in severities(plan_for(gpus=8))


def test_writes_beyond_what_the_tier_takes() -> None:
    found = severities(plan_for(model=HYBRID, gpus=64))
    assert {"limit-write-bandwidth", "network-overload"} <= found.keys()
    assert not {"limit-write-bandwidth", "network-overload"} & severities(plan_for()).keys()


def test_a_guideline_that_leaves_no_reserve_is_named() -> None:
    # 256 GPUs ask for 300 GB/s: 95 % of what eight nodes read, 70 % of which is 220 GB/s; 300 / 0.7 / 39.375 = 10.9.
    warnings = {warning.id: warning.text for warning in plan_for(gpus=256).warnings}
    assert "11 nodes" in warnings["rule-undersizes"]
    assert "rule-undersizes" not in severities(plan_for(gpus=128))


def test_heads_that_do_not_divide_over_the_ranks_are_an_error() -> None:
    assert severities(plan_for(tp=3))["uneven-heads"] == "error"
    assert "uneven-heads" not in severities(plan_for(tp=2))


def test_limits_that_only_warn_are_passed_on() -> None:
    plan = plan_for()
    chosen = next(item for item in plan.candidates if item.chosen)
    soft = {limit.name for limit in chosen.limits if not limit.holds}
    assert soft == {"recommended_nodes", "spares_for_a_node", "rack_failure_domains"}
    assert {f"limit-{name.replace('_', '-')}" for name in soft} <= severities(plan).keys()
    assert chosen.accepted


def test_rack_domains_come_with_the_current_storage_release() -> None:
    assert "limit-rack-failure-domains" not in severities(plan_for(software="current"))


def test_open_points_are_the_assumed_values() -> None:
    plan = plan_for()
    found = {point.id for point in plan.open_points}
    assumed = {f"constants.{name}" for name, item in plan.constants.items() if item.confidence == "assumed"}
    assert assumed <= found
    assert {"drives.micron-e3s-7.68", "backends.kvbm-g4"} <= found
    assert len(found) == len(plan.open_points)


def test_a_model_without_a_known_maximum_is_an_open_point() -> None:
    plan = plan_for(model="tiiuae/falcon-40b", context_tokens=2_000)
    assert plan.model.max_position_tokens is None
    assert "models.tiiuae/falcon-40b.max-position" in {point.id for point in plan.open_points}
    assert not any(point.id.endswith(".max-position") for point in plan_for().open_points)


def test_a_model_that_is_assumed_is_an_open_point() -> None:
    name = "ByteDance-Seed/Seed-OSS-36B-Instruct"
    plan = plan_for(model=name)
    assert plan.model.confidence == "assumed"
    assert f"models.{name}" in {point.id for point in plan.open_points}


def test_a_limit_in_words() -> None:
    counted = Limit(name="gpus", need=128, have=64, unit="GPUs", margin=-0.5, holds=False, text="not this")
    assert limit_sentence(counted) == "gpus: needs 128 GPUs, has 64 GPUs"
    worded = counted.model_copy(update={"name": "servers_total", "text": "at most 256 servers"})
    assert limit_sentence(worded) == "at most 256 servers"


def test_physics_keeps_a_share_of_reads_in_reserve() -> None:
    def reads(have: float) -> tuple[Limit, ...]:
        return (
            Limit(name="gpus", need=2, have=1, unit="GPUs", margin=-0.5, holds=False),
            Limit(name="read_bandwidth", need=100, have=have, unit="B/s", margin=None, holds=have >= 100),
        )

    assert physical_choice([reads(142), reads(143)], 0.7) == 1
    assert physical_choice([reads(142)], 0.7) is None
    broken = Limit(name="capacity", need=2, have=1, unit="B", margin=-0.5, holds=False)
    assert physical_choice([(*reads(200), broken)], 0.7) is None


def test_a_guidance_without_profiles_has_no_gaps() -> None:
    assert guidance_gaps((), 80, 50_000_000_000) == ()


def test_nothing_loaded_is_no_division_by_zero() -> None:
    nothing = plan_for().kv.model_copy(update={"context_loaded_bytes": 0, "context_stored_bytes": 0})
    demand = redbook_demand(nothing, 8, 56, rate_per_gpu=1e9, hit_share=0.8)
    assert (demand.read_bytes_per_s, demand.write_bytes_per_s, demand.capacity_bytes) == (8e9, 0, 0)
    bought = buys(nothing, gpus=8, usable_bytes=10**12, planned_read_bytes_per_s=7e8, engine_read_bytes_per_s=80e9)
    assert (bought.hits_per_s, bought.contexts_held, bought.load_s) == (0, 0, 0)


def test_every_candidate_says_why() -> None:
    for item in plan_for().candidates:
        failing = [limit.title for limit in item.limits if not limit.holds and limit.severity == "error"]
        assert item.accepted == (not failing)
        for name in failing:
            assert name in item.reason
