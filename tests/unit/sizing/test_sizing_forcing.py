"""Choices that the caller makes: profile, node count, code, and what must be survived."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pytest
from support import plan_for

from kvplan import NoProfileFitsError, Plan, Request, size
from kvplan.core.ece.tolerance import satisfies
from kvplan.schema.request import Survive

if TYPE_CHECKING:
    from pathlib import Path

    from kvplan.schema.plan import Candidate

GPT_OSS = "openai/gpt-oss-120b"
SMALL = "meta-llama/Llama-3.1-8B-Instruct"
SURVIVE: tuple[Survive, ...] = get_args(Survive)
FEW_DRIVES = """\
name: few-drives
title: Four nodes with four drives
nodes: {start: 4, limit: 4}
erasure_code: 4+2P
block_mib: 4
node:
  server: ASG-1115S-NE316R
  drive: micron-e3s-7.68
  drives: 4
  client_nic: b3220
  storage_nic: cx7-400g
switch: sn5600
guidance:
  gpus: {high: 64}
  params: {high: 34.0e+9}
  read_bytes_per_s: {}
  source: a test
  confidence: assumed
"""


def small(**changes: object) -> Plan:
    return plan_for(**{"model": SMALL, "gpus": 32, **changes})


def chosen(plan: Plan) -> Candidate:
    return next(candidate for candidate in plan.candidates if candidate.chosen)


def tier(plan: Plan) -> tuple[str, int, str]:
    return plan.profile.name, plan.profile.nodes, plan.profile.erasure_code


def forced_findings(plan: Plan) -> list[str]:
    return [warning.text for warning in plan.warnings if warning.id == "forced-limit"]


def test_a_forced_profile_lists_what_it_breaks() -> None:
    plan = plan_for(profile="compact-4")
    assert tier(plan) == ("compact-4", 4, "4+2P")
    assert not chosen(plan).accepted
    assert len(forced_findings(plan)) == 2
    for axis in ("gpus", "model parameters"):
        assert any(axis in text for text in forced_findings(plan))
    assert plan.request.forced == ("profile=compact-4",)
    assert {candidate.name for candidate in plan.candidates if candidate.accepted} == {"standard-8", "large-16"}


def test_a_forced_profile_that_breaks_nothing_says_nothing() -> None:
    plan = plan_for(profile="large-16", gpus=8)
    assert tier(plan) == ("large-16", 16, "16+3P")
    assert forced_findings(plan) == []
    assert "rule-oversizes" not in {warning.id for warning in plan.warnings}


def test_a_forced_large_profile_still_grows_by_need() -> None:
    assert plan_for(profile="large-16", gpus=1_000).profile.nodes == 30


@pytest.mark.parametrize(
    ("nodes", "profile"),
    [
        (3, "compact-4"),
        (4, "compact-4"),
        (7, "compact-4"),
        (8, "standard-8"),
        (15, "standard-8"),
        (16, "large-16"),
        (200, "large-16"),
    ],
)
def test_a_node_count_belongs_to_the_largest_recipe_below_it(nodes: int, profile: str) -> None:
    plan = plan_for(nodes=nodes)
    assert (plan.profile.name, plan.profile.nodes) == (profile, nodes)
    assert plan.profile.raw_bytes == nodes * 16 * 7_680_000_000_000
    assert plan.request.forced == (f"nodes={nodes}",)
    assert sum(candidate.chosen for candidate in plan.candidates) == 1


def test_forced_nodes_that_read_too_little() -> None:
    # 3 nodes read 3 x 39.375 = 118 GB/s of the 150 GB/s that 128 GPUs ask.
    plan = plan_for(nodes=3, profile="standard-8")
    assert any("read bandwidth" in text for text in forced_findings(plan))
    assert "network-overload" in {warning.id for warning in plan.warnings}


def test_the_recipe_stays_among_the_candidates_beside_a_forced_node_count() -> None:
    plan = plan_for(nodes=12)
    assert [(candidate.name, candidate.nodes) for candidate in plan.candidates] == [
        ("compact-4", 4),
        ("standard-8", 8),
        ("standard-8", 12),
        ("large-16", 16),
    ]


@pytest.mark.parametrize("nodes", [1, 2, 257, 4096])
def test_an_impossible_node_count_fits_nothing(nodes: int) -> None:
    with pytest.raises(NoProfileFitsError) as refused:
        plan_for(nodes=nodes)
    assert f"{nodes} nodes" in refused.value.message


def test_a_code_that_needs_more_drives_than_there_are_fits_nothing(tmp_path: Path) -> None:
    # 16+3P takes 19 drives and spares; four nodes of four drives are 16.
    (tmp_path / "few-drives.yaml").write_text(FEW_DRIVES)
    asked = Request(model=SMALL, context_tokens=8_000, gpus=8, profile="few-drives")
    assert size(asked, profile_dirs=(tmp_path,)).profile.drives_per_node == 4
    with pytest.raises(NoProfileFitsError) as refused:
        size(asked.model_copy(update={"erasure_code": "16+3P"}), profile_dirs=(tmp_path,))
    assert "few-drives" in refused.value.message


def test_a_profile_of_the_user_joins_the_candidates(tmp_path: Path) -> None:
    (tmp_path / "few-drives.yaml").write_text(FEW_DRIVES)
    plan = size(Request(model=SMALL, context_tokens=8_000, gpus=8), profile_dirs=(tmp_path,))
    assert [candidate.name for candidate in plan.candidates] == ["compact-4", "few-drives", "standard-8", "large-16"]


@pytest.mark.parametrize("code", ["4+2P", "4+3P", "8+2P", "8+3P", "16+2P", "16+3P"])
def test_a_forced_code_applies_to_every_profile(code: str) -> None:
    plan = plan_for(erasure_code=code)
    assert {candidate.erasure_code for candidate in plan.candidates} == {code}
    # 16+2P on 8 nodes puts 3 strips of a stripe on some node: p = 2 strips lost are survived, a node is not.
    expected = ("large-16", 16) if code == "16+2P" else ("standard-8", 8)
    assert (plan.profile.name, plan.profile.nodes) == expected
    assert plan.request.forced == (f"code={code}",)


def test_a_forced_tier_that_survives_no_node_says_so() -> None:
    plan = plan_for(erasure_code="16+2P", nodes=8)
    assert plan.profile.fault_tolerance.node_failures == 0
    assert {"thin-tolerance", "forced-limit"} <= {warning.id for warning in plan.warnings}


@pytest.mark.parametrize(("code", "thin"), [("8+2P", True), ("8+3P", False), ("4+2P", False)])
def test_thin_tolerance_is_one_node_and_nothing_more(code: str, *, thin: bool) -> None:
    assert ("thin-tolerance" in {warning.id for warning in plan_for(erasure_code=code).warnings}) is thin


@pytest.mark.parametrize(
    ("survive", "expected"),
    [
        ("node", ("standard-8", 8, "8+2P")),
        ("node+drive", ("standard-8", 8, "8+3P")),
        ("2-nodes", ("standard-8", 8, "4+2P")),
        ("3-nodes", ("standard-8", 8, "4+3P")),
    ],
)
def test_another_code_on_fewer_nodes_wins_over_growth(survive: Survive, expected: tuple[str, int, str]) -> None:
    # Tolerance by strips a node: 8+3P on 8 nodes survives 1 + 1, 4+2P two nodes, 4+3P three.
    assert tier(plan_for(survive=survive)) == expected


@pytest.mark.parametrize(
    ("survive", "expected"),
    [
        ("node", ("compact-4", 4, "4+2P")),
        ("node+drive", ("compact-4", 4, "4+3P")),
        ("2-nodes", ("standard-8", 8, "4+2P")),
        ("3-nodes", ("standard-8", 8, "4+3P")),
    ],
)
def test_the_smallest_tier_that_survives(survive: Survive, expected: tuple[str, int, str]) -> None:
    assert tier(small(survive=survive)) == expected


@pytest.mark.parametrize(("survive", "code"), [("2-nodes", "8+2P"), ("3-nodes", "8+3P")])
def test_sixteen_nodes_under_another_code_win_over_nineteen_under_their_own(survive: Survive, code: str) -> None:
    # One strip a node: ten nodes suffice 8+2P and eleven 8+3P; 16+3P survives as much from 19 nodes on.
    plan = plan_for(survive=survive, gpus=300)
    assert tier(plan) == ("large-16", 16, code)
    assert ("large-16", 19) in {(candidate.name, candidate.nodes) for candidate in plan.candidates}


def test_growth_by_need_brings_no_other_code_in() -> None:
    # 16+3P survives a node wherever it stands: asking for that changes nothing, although 16+2P would hold more.
    asked = {"model": SMALL, "context_tokens": 111_616, "gpus": 3_048, "concurrency": 200}
    plain, surviving = plan_for(**asked), plan_for(**asked, survive="node")
    assert plain.profile.nodes == 92
    assert surviving.profile == plain.profile


@pytest.mark.parametrize("gpus", [300, 1_000, 1_120])
def test_the_large_profile_grows_until_it_survives(gpus: int) -> None:
    # 16+3P survives three nodes where every node of a recovery group holds one strip: 19 nodes a group.
    plan = plan_for(survive="3-nodes", gpus=gpus, erasure_code="16+3P")
    assert plan.profile.fault_tolerance.node_failures >= 3
    assert plan.profile.nodes // plan.profile.recovery_groups >= 19


def test_the_node_count_between_two_groups_is_passed_over() -> None:
    # 1,100 GPUs read 1,289 GB/s = 33 nodes = groups of 17 and 16, which survive one node; 38 are two groups of 19.
    plain = plan_for(gpus=1_100)
    assert (plain.profile.nodes, plain.profile.fault_tolerance.node_failures) == (33, 1)
    assert plan_for(gpus=1_100, survive="3-nodes", erasure_code="16+3P").profile.nodes == 38


@pytest.mark.parametrize("survive", SURVIVE)
def test_what_is_asked_is_a_limit_of_every_candidate(survive: Survive) -> None:
    plan = small(survive=survive)
    assert plan.request.survive == survive
    assert satisfies(plan.profile.fault_tolerance, survive)
    for candidate in plan.candidates:
        limit = next(limit for limit in candidate.limits if limit.name == "fault_tolerance")
        assert limit.holds == (limit.have >= limit.need)
        assert candidate.accepted <= limit.holds


def test_a_forced_profile_wins_over_what_must_survive_and_says_so() -> None:
    plan = plan_for(profile="standard-8", survive="2-nodes")
    assert tier(plan) == ("standard-8", 8, "8+2P")
    assert any("2-nodes" in text for text in forced_findings(plan))


def test_the_smallest_group_decides_what_the_storage_network_carries() -> None:
    # 33 nodes are groups of 17 and 16; of each byte read, 15/16 come from another node of the group.
    plan = plan_for(nodes=33)
    nic = next(stage for stage in plan.network.stages if stage.name == "storage nic")
    assert nic.load_bytes_per_s / plan.demand.read_bytes_per_s == pytest.approx(15 / 16)


def test_devices_do_not_make_up_for_a_node() -> None:
    # 16+3P on 4 nodes survives three devices and no node, on 8 one node and nothing more, on 16 a node and a device.
    plan = small(survive="node+drive", erasure_code="16+3P")
    assert tier(plan) == ("large-16", 16, "16+3P")
    tolerances = [
        (limit.have, limit.holds)
        for candidate in plan.candidates
        for limit in candidate.limits
        if limit.name == "fault_tolerance"
    ]
    assert tolerances == [(1, False), (1, False), (2, True)]


def test_nothing_survives_three_nodes_under_a_code_with_two_parities() -> None:
    with pytest.raises(NoProfileFitsError) as refused:
        plan_for(survive="3-nodes", erasure_code="8+2P")
    assert "3-nodes" in refused.value.message


def test_capacity_makes_the_large_profile_grow_to_the_smallest_count_that_holds_it() -> None:
    plan = plan_for(concurrency=2_636, tp=1)
    assert plan.demand.capacity_bytes == 128 * 2_636 * 130_000 * 73_728
    assert plan.profile.usable_bytes >= plan.demand.capacity_bytes
    fewer = plan_for(concurrency=2_636, tp=1, nodes=plan.profile.nodes - 1)
    assert fewer.profile.usable_bytes < plan.demand.capacity_bytes


def test_more_capacity_than_256_nodes_hold_fits_nothing() -> None:
    with pytest.raises(NoProfileFitsError) as refused:
        plan_for(concurrency=100_000)
    assert "capacity" in refused.value.message
