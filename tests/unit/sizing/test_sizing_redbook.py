"""The published guidance: IBM Redbook MD260021 'Context without Limits', tested system and sizing guidance."""

from __future__ import annotations

import math

import pytest

from kvplan import NoProfileFitsError, Plan, Request, size

GPT_OSS = "openai/gpt-oss-120b"
SMALL = "meta-llama/Llama-3.1-8B-Instruct"
READ_PER_GPU = 300e9 / 256
READ_PER_NODE = 315e9 / 8


def plan_for(gpus: int, model: str = GPT_OSS, context_tokens: int = 130_000) -> Plan:
    return size(Request(model=model, context_tokens=context_tokens, gpus=gpus))


def ids(plan: Plan) -> set[str]:
    return {warning.id for warning in plan.warnings}


def rejected_by(plan: Plan, name: str) -> set[str]:
    found = next(candidate for candidate in plan.candidates if candidate.name == name)
    return {limit.name for limit in found.limits if not limit.holds and limit.severity == "error"}


def test_the_reference_tier() -> None:
    # Published: 8 x ASG-1115S-NE316R with 16 x 7.68 TB, 8+2P, 983 TB raw, 315 GB/s read.
    tier = plan_for(128).profile
    assert (tier.name, tier.nodes, tier.erasure_code, tier.recovery_groups) == ("standard-8", 8, "8+2P", 1)
    assert tier.raw_bytes == 983.04e12
    assert tier.usable_bytes == pytest.approx(744.5e12, rel=0.01)
    assert tier.usable_fraction == pytest.approx(tier.usable_bytes / 983.04e12)
    assert tier.code_efficiency == 0.8
    assert tier.block_bytes == 4 * 2**20
    assert tier.read_bytes_per_s == pytest.approx(315e9)
    assert tier.read_bytes_per_s / tier.nodes == pytest.approx(39.375e9)


def test_the_reference_network() -> None:
    network = plan_for(128).network
    assert network.client_planned_bytes_per_s == 80e9
    assert network.client_servers == 32
    assert network.binding_stage == "client nic of the storage node"
    assert network.read_bytes_per_s == pytest.approx(315e9)


def test_the_reference_demand() -> None:
    # 300 GB/s for 256 GPUs, halved; seven contexts of 130,000 x 73,728 B in each of 128 engines.
    plan = plan_for(128)
    demand = plan.demand
    assert demand.read_bytes_per_s == pytest.approx(150e9)
    assert demand.capacity_bytes == 128 * 7 * 130_000 * 73_728
    hit_share = plan.constants["guidance.hit_share"].value
    assert demand.write_bytes_per_s == pytest.approx(150e9 * (1 - hit_share) / hit_share)


def test_the_reference_model_stores_full_windows() -> None:
    # 825 GB (GiB) of KV for 100 prompts of 120,000 tokens: 73,728 B a token, sliding layers stored in full.
    kv = plan_for(128).kv
    assert kv.accounting.minimal.bytes_per_token == 36_864
    assert kv.accounting.vllm_gpu.bytes_per_token == 73_728
    assert kv.stored_bytes_per_token == kv.loaded_bytes_per_token == 73_728
    assert kv.context_stored_bytes == 130_000 * 73_728
    assert 100 * 120_000 * kv.stored_bytes_per_token / 2**30 == pytest.approx(825, rel=0.002)


def test_the_reference_gpu_keeps_19_6_gib_for_kv() -> None:
    hbm = plan_for(128).hbm
    assert hbm.kv_bytes_per_gpu / 2**30 == pytest.approx(19.6, abs=0.05)
    assert (hbm.engines, hbm.contexts_that_fit, hbm.needs_shared_tier) == (128, 2, True)


def test_what_the_reference_tier_buys() -> None:
    bought = plan_for(128).buys
    assert bought.planned_read_bytes_per_s == pytest.approx(0.7 * 315e9)
    assert bought.hits_per_s == pytest.approx(0.7 * 315e9 / (130_000 * 73_728))
    assert bought.hits_per_s_per_gpu == pytest.approx(bought.hits_per_s / 128)
    assert bought.contexts_held == plan_for(128).profile.usable_bytes // (130_000 * 73_728)
    # One GPU's Gen5 x16 link, 57.2 GB/s of payload, is slower than the 80 GB/s of its server.
    assert bought.engine_read_bytes_per_s == pytest.approx(57.2e9, rel=1e-3)
    assert bought.load_s == pytest.approx(130_000 * 73_728 / 57.2e9, rel=1e-3)


def test_a_small_fleet_takes_what_its_network_takes() -> None:
    bought = plan_for(3).buys
    assert bought.planned_read_bytes_per_s == 80e9
    assert bought.read_bytes_per_s_per_gpu == pytest.approx(80e9 / 3)


def test_256_gpus_are_the_end_of_the_standard_profile() -> None:
    plan = plan_for(256)
    assert plan.profile.name == "standard-8"
    assert plan.demand.read_bytes_per_s == pytest.approx(300e9)
    read = next(limit for limit in plan.candidates[1].limits if limit.name == "read_bandwidth")
    assert read.margin == pytest.approx(315 / 300 - 1)
    assert "guidance-gap" not in ids(plan)


@pytest.mark.parametrize("gpus", [257, 299])
def test_between_257_and_299_gpus_the_gap_closes_upward(gpus: int) -> None:
    plan = plan_for(gpus)
    assert (plan.profile.name, plan.profile.nodes, plan.profile.erasure_code) == ("large-16", 16, "16+3P")
    assert "guidance-gap" in ids(plan)
    assert "gpus" in rejected_by(plan, "standard-8")


def test_300_gpus_are_the_large_profile_without_a_gap() -> None:
    plan = plan_for(300)
    assert plan.profile.name == "large-16"
    assert "guidance-gap" not in ids(plan)


def test_a_small_model_on_64_gpus_is_compact() -> None:
    plan = plan_for(64, SMALL)
    assert (plan.profile.name, plan.profile.nodes, plan.profile.erasure_code) == ("compact-4", 4, "4+2P")
    assert plan.profile.code_efficiency == pytest.approx(0.67, abs=0.005)
    assert "guidance-gap" not in ids(plan)


@pytest.mark.parametrize(("gpus", "gap"), [(65, True), (99, True), (100, False)])
def test_between_65_and_99_gpus_the_gap_closes_upward(gpus: int, *, gap: bool) -> None:
    plan = plan_for(gpus, SMALL)
    assert plan.profile.name == "standard-8"
    assert ("guidance-gap" in ids(plan)) is gap
    assert rejected_by(plan, "compact-4") == {"gpus"}


@pytest.mark.parametrize(
    ("params", "profile", "gap"),
    [
        (34, "compact-4", False),
        (35, "standard-8", True),
        (69, "standard-8", True),
        (70, "standard-8", False),
        (120, "standard-8", False),
        (121, "large-16", False),
    ],
)
def test_the_model_axis(params: int, profile: str, *, gap: bool) -> None:
    plan = size(Request(model=SMALL, context_tokens=32_000, gpus=32, params_total=params * 10**9))
    assert plan.profile.name == profile
    assert ("guidance-gap" in ids(plan)) is gap


def test_two_gaps_at_once_are_two_findings() -> None:
    plan = size(Request(model=SMALL, context_tokens=32_000, gpus=80, params_total=50 * 10**9))
    assert [warning.id for warning in plan.warnings].count("guidance-gap") == 2


@pytest.mark.parametrize("gpus", [300, 538, 672, 673, 1_000, 2_000, 6_000])
def test_above_16_nodes_the_large_profile_grows_by_need(gpus: int) -> None:
    tier = plan_for(gpus).profile
    assert tier.name == "large-16"
    assert tier.nodes == max(16, math.ceil(gpus * READ_PER_GPU / READ_PER_NODE))
    assert tier.recovery_groups == math.ceil(tier.nodes / 32)


def test_1_000_gpus_are_30_nodes() -> None:
    plan = plan_for(1_000)
    assert plan.profile.nodes == math.ceil(1000 * 1.171875 / 39.375) == 30
    assert plan.profile.read_bytes_per_s >= plan.demand.read_bytes_per_s
    assert "limit-servers-total-advised" not in ids(plan)


def test_6_000_gpus_are_several_recovery_groups_and_a_warning() -> None:
    plan = plan_for(6_000)
    assert (plan.profile.nodes, plan.profile.recovery_groups) == (179, 6)
    assert "limit-servers-total-advised" in ids(plan)


def test_10_000_gpus_are_more_than_256_nodes() -> None:
    with pytest.raises(NoProfileFitsError) as refused:
        plan_for(10_000)
    assert refused.value.exit_code == 4
    for name in ("compact-4", "standard-8", "large-16, 256 nodes"):
        assert name in refused.value.message
    assert plan_for(8_601).profile.nodes == 256
    with pytest.raises(NoProfileFitsError):
        plan_for(8_602)


def test_three_gpus_with_a_large_model() -> None:
    plan = plan_for(3)
    assert plan.profile.name == "standard-8"
    assert rejected_by(plan, "compact-4") == {"model_parameters"}
    assert "rule-oversizes" in ids(plan)
    assert (plan.hbm.engines, plan.demand.capacity_bytes) == (3, 21 * 130_000 * 73_728)


def test_the_code_efficiencies_are_those_published() -> None:
    # 67, 80 and 84 % of raw; what a file system really gets is less.
    plan = plan_for(128)
    published = {"compact-4": 0.67, "standard-8": 0.80, "large-16": 0.84}
    for candidate in plan.candidates:
        assert published[candidate.name] - 0.05 < candidate.usable_fraction < published[candidate.name]
