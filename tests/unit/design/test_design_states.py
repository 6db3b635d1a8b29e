"""What is left with something lost."""

from __future__ import annotations

import pytest
from designs import SIZES, built, design_for, findings, plan_of

from kvplan import load_catalogue
from kvplan.api import design

NAMES = ["normal", "drive", "node", "leaf", "spine", "feed"]


@pytest.mark.parametrize("nodes", sorted(SIZES))
def test_drive_node_and_leaf_are_the_plans_own(nodes: int) -> None:
    states, network = design_for(nodes).states, plan_of(nodes).network
    assert [state.name for state in states] == NAMES
    planned = (network, network.degraded.drive, network.degraded.node, network.degraded.leaf)
    rates = [(state.read_bytes_per_s, state.write_bytes_per_s) for state in states[:4]]
    assert rates == [(state.read_bytes_per_s, state.write_bytes_per_s) for state in planned]
    assert all(0 <= state.read_share <= 1 for state in states)


def test_states_are_those_of_the_fabric_as_built() -> None:
    """One uplink cage a leaf instead of six: what crosses the leaves passes 2 x 100 GB/s x 0.8 at the most."""
    thin = built(8, fabric={"oversubscription": 16})
    assert thin.switches.uplinks_per_leaf == 1
    normal = thin.states[0]
    assert (normal.binding_stage, normal.read_share) == ("uplink", 1)
    assert normal.read_bytes_per_s == pytest.approx(160e9)
    sized = plan_of(8, oversubscription=16.0)
    assert normal.read_bytes_per_s == sized.network.read_bytes_per_s
    assert findings(thin, "plan-differs")


def test_the_only_spine_takes_the_tier_along() -> None:
    spine = {state.name: state for state in design_for(8).states}["spine"]
    assert spine.read_bytes_per_s == 0
    assert "nothing is served" in spine.text


def test_one_of_two_spines_takes_half_of_the_uplinks() -> None:
    network = plan_of(8).network
    uplink = next(stage for stage in network.stages if stage.name == "uplink")
    left = min(
        stage.planned_bytes_per_s * (0.5 if stage is uplink else 1) / stage.read_traffic for stage in network.stages
    )
    spine = {state.name: state for state in built(8, fabric={"min_spines": 2}).states}["spine"]
    assert spine.read_bytes_per_s == pytest.approx(left)
    assert spine.lost == "one of 2 spine switches"


def test_two_ports_a_node_outlive_the_only_spine() -> None:
    plan = plan_of(8)
    dual = plan.parts.model_copy(update={"storage_nic": load_catalogue().nic("cx7-2x200g")})
    spine = {state.name: state for state in design(plan.model_copy(update={"parts": dual})).states}["spine"]
    assert spine.read_bytes_per_s == plan.network.read_bytes_per_s
    assert "own rail" in spine.text


def test_a_lost_feed() -> None:
    """The reference's storage nodes and switches run on; its GPU servers draw 3.4 kW from supplies of 2.7 kW."""
    feed = {state.name: state for state in design_for(8).states}["feed"]
    assert feed.read_share == 1
    assert "capped" in feed.text
    hungry = plan_of(8).parts.drive.model_copy(update={"power_w": 80.0})
    plan = plan_of(8).model_copy(update={"parts": plan_of(8).parts.model_copy(update={"drive": hungry})})
    dark = {state.name: state for state in design(plan).states}["feed"]
    assert (dark.read_bytes_per_s, dark.binding_stage) == (0, "power")
    assert "storage nodes" in dark.text
