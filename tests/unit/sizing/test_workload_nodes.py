"""How many nodes a workload needs, and what is said where they are not enough: the four worked examples."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from workload_cases import B200, BURST, H200, LLAMA_A100, LLAMA_H100, preset

from kvplan.core.sizing.workload_demand import (
    NodeRules,
    TierOffer,
    as_limit,
    node_needs,
    nodes_needed,
    planned_reads,
    workload_load,
)
from kvplan.core.sizing.workload_tiers import relief

APART = NodeRules(planned_share=0.7, low_watermark=0.75, write_interference=0.0, least_nodes=4)
"""Writes pass reads, as the worked examples have it."""
TOGETHER = replace(APART, write_interference=1.0)


def tier(nodes: int) -> TierOffer:
    """Give the figures of the three profiles with 7.68 TB drives, by node."""
    return TierOffer(nodes, 39.375e9 * nodes, 35.9e9 * nodes, 93e12 * nodes, 1.138e9 * nodes)


def test_example_a_agents_on_256_h200_need_more_than_8_nodes_or_reads_of_windows_only() -> None:
    agent = preset("agent")
    load = workload_load(agent, 256, H200, BURST)
    assert load.read_bytes_per_s / 256 / 1e9 == pytest.approx(1.0, rel=0.05)
    assert load.read_bytes_per_s / 1e9 == pytest.approx(262, rel=0.03)
    assert load.read_bytes_per_s / tier(8).read_bytes_per_s == pytest.approx(0.83, abs=0.03)
    needs = {need.limit: need for need in node_needs(load, agent, tier(8), APART)}
    assert not as_limit(needs["read"]).holds
    assert needs["read"].nodes == 10
    windows = replace(H200, loaded_bytes_per_token=36_864)
    halved = workload_load(agent, 256, windows, BURST)
    assert halved.read_bytes_per_s / 1e9 == pytest.approx(131, rel=0.03)
    assert halved.read_bytes_per_s / tier(8).read_bytes_per_s == pytest.approx(0.42, abs=0.02)
    assert nodes_needed(node_needs(halved, agent, tier(8), APART)) == 5


def test_example_b_rag_on_64_h100_just_fits_4_nodes_and_not_beside_its_writes() -> None:
    rag = preset("rag", itl_s=0.02)
    load = workload_load(rag, 64, LLAMA_H100, BURST)
    assert load.read_bytes_per_s / 1e9 == pytest.approx(109, rel=0.02)
    read = next(need for need in node_needs(load, rag, tier(4), APART) if need.limit == "read")
    assert read.margin == pytest.approx(0, abs=0.02)
    assert nodes_needed(node_needs(load, rag, tier(4), APART)) == 4
    assert nodes_needed(node_needs(load, rag, tier(4), TOGETHER)) == 5


def test_example_c_chat_on_128_a100_needs_4_nodes_and_the_writes_decide() -> None:
    chat = preset("chat", itl_s=0.02)
    load = workload_load(chat, 128, LLAMA_A100, BURST)
    assert load.read_bytes_per_s / 1e9 == pytest.approx(29, rel=0.03)
    assert load.write_bytes_per_s / 1e9 == pytest.approx(29, rel=0.03)
    needs = node_needs(load, chat, tier(4), TOGETHER)
    assert nodes_needed(needs) == 4
    hardest = max(needs, key=lambda need: need.nodes or 0)
    assert (hardest.limit, hardest.binds, hardest.nodes) == ("endurance", False, 26)
    assert as_limit(hardest).severity == "warning"
    kept = chat.model_copy(update={"keep_endurance": True})
    assert nodes_needed(node_needs(load, kept, tier(4), TOGETHER)) == 26


def test_example_d_questions_on_200_b200_defeat_16_nodes_and_kvplan_says_what_would_help() -> None:
    docqa = preset("docqa")
    load = workload_load(docqa, 200, B200, BURST)
    assert load.read_bytes_per_s / 200 / 1e9 == pytest.approx(5.5, rel=0.02)
    assert load.read_bytes_per_s / 1e12 == pytest.approx(1.1, rel=0.02)
    assert nodes_needed(node_needs(load, docqa, tier(16), APART)) == 41
    found = relief(docqa, load, 200, B200, planned_reads(tier(16), load.write_bytes_per_s, APART))
    assert not found.suffices
    assert found.g4_share == pytest.approx(0.2)
    assert found.g4_share_needed == pytest.approx(0.08, abs=0.002)
    assert found.sticky_g4_share == pytest.approx(0.2)
    assert found.random_g4_share == pytest.approx(0.996)
    assert found.local_bytes_per_gpu_needed is not None
    assert found.text == (
        "hits read 1.1 TB/s of the tier, which plans 441 GB/s: not enough; 8.0 % of the hit tokens may come from it, "
        "20.0 % do; 2.39 TB of local KV for each GPU (memory and local flash, G1 to G3) with sticky routing keeps a "
        "prefix 4.24 min, which is enough"
    )


def test_the_local_room_that_is_named_brings_the_reads_down_to_what_is_planned() -> None:
    docqa = preset("docqa")
    load = workload_load(docqa, 200, B200, BURST)
    room = relief(docqa, load, 200, B200, 441e9).local_bytes_per_gpu_needed
    relieved = workload_load(preset("docqa", g3_bytes_per_gpu=room), 200, B200, BURST)
    assert relieved.read_bytes_per_s == pytest.approx(441e9, rel=1e-6)
    scattered = preset("docqa", g3_bytes_per_gpu=room, routing="random")
    found = relief(scattered, workload_load(scattered, 200, B200, BURST), 200, B200, 441e9)
    assert "sticky routing would leave 8.0 %" in found.text


def test_without_gaps_between_uses_no_local_room_is_named() -> None:
    unknown = preset("docqa", g4_share=0.2).model_copy(update={"reuse_gap_s": None})
    found = relief(unknown, workload_load(unknown, 200, B200, BURST), 200, B200, 441e9)
    assert (found.local_bytes_per_gpu_needed, found.sticky_g4_share) == (None, None)
    assert found.text.endswith("local tiers or sticky routing must answer the rest")
    nothing = preset("docqa", g4_share=0.0)
    assert relief(nothing, workload_load(nothing, 200, B200, BURST), 200, B200, 441e9).suffices


def test_retention_asks_for_the_capacity_below_the_low_watermark() -> None:
    chat = preset("chat", requests_per_s=100.0, retention_s=86_400.0)
    load = workload_load(chat, 256, H200, BURST)
    need = next(need for need in node_needs(load, chat, tier(8), APART) if need.limit == "retention")
    assert need.need == pytest.approx(100 * 4_000 * 73_728 * 86_400 / 0.75)
    assert need.nodes == 37
    assert need.text == "keeps what is written 24 h, purged down to 75 %"


@pytest.mark.parametrize("missing", ["read_bytes_per_s", "write_bytes_per_s", "usable_bytes", "endurance_bytes_per_s"])
def test_a_tier_that_gives_nothing_of_what_is_needed_is_no_number_of_nodes(missing: str) -> None:
    chat = preset("chat", keep_endurance=True)
    load = workload_load(chat, 128, H200, BURST)
    nothing: dict[str, Any] = {missing: 0.0}
    assert nodes_needed(node_needs(load, chat, replace(tier(4), **nothing), TOGETHER)) is None


def test_a_workload_that_asks_for_nothing_needs_what_survives() -> None:
    idle = preset("chat", hit_share=1.0)
    load = workload_load(idle, 8, H200, BURST)
    assert load.write_bytes_per_s == 0
    empty = load.model_copy(update={"read_bytes_per_s": 0.0})
    needs = node_needs(empty, idle, replace(tier(4), write_bytes_per_s=0.0), TOGETHER)
    assert nodes_needed(needs) == 4
    assert [need.margin for need in needs if need.limit in {"read", "write", "retention"}] == [None, None, None]
