"""What holds for every network: growth helps, loss hurts, load scales, and counts do not shrink."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvplan.core.ece.codes import CODES
from kvplan.core.network.budget import fabric_of, network_budget
from kvplan.core.network.degraded import DRIVE_LOSS, NODE_LOSS, leaf_loss
from kvplan.core.network.examples import B3220, CALIBRATION, CLIENTS, CONNECTX7, STORAGE, SWITCH
from kvplan.core.network.stages import segments, tier_rates, under_load

if TYPE_CHECKING:
    from kvplan.core.network.sides import ClientSide, StorageSide

rates = st.floats(min_value=0, max_value=1e13)


def _with_nodes(storage: StorageSide, nodes: int) -> StorageSide:
    """Give a tier so many nodes, in as few recovery groups of at most 32 as it takes."""
    return replace(storage, nodes=nodes, nodes_in_group=nodes // -(-nodes // 32))


@st.composite
def storage_sides(draw: st.DrawFn) -> StorageSide:
    """Draw a tier of 3 to 256 nodes with any code and one to four storage ports a node."""
    tier = replace(
        STORAGE,
        drives_per_node=draw(st.integers(min_value=2, max_value=32)),
        code=draw(st.sampled_from(tuple(CODES))),
        storage_nic=draw(st.sampled_from((B3220, CONNECTX7))),
        storage_nics=draw(st.integers(min_value=1, max_value=2)),
    )
    return _with_nodes(tier, draw(st.integers(min_value=3, max_value=256)))


clients = st.builds(lambda gpus, tp: replace(CLIENTS, gpus=gpus, tp=tp), st.integers(1, 4096), st.sampled_from((1, 4)))


@given(storage_sides())
def test_a_node_more_never_delivers_less(storage: StorageSide) -> None:
    larger = _with_nodes(storage, storage.nodes + 1)
    before, after = tier_rates(storage, CALIBRATION), tier_rates(larger, CALIBRATION)
    assert after.read_bytes_per_s >= before.read_bytes_per_s
    assert after.write_bytes_per_s >= before.write_bytes_per_s


@given(storage_sides(), st.integers(min_value=1, max_value=22))
def test_loss_never_delivers_more(storage: StorageSide, pairs: int) -> None:
    normal = tier_rates(storage, CALIBRATION)
    for loss in (DRIVE_LOSS, NODE_LOSS, leaf_loss(storage, 2 * pairs)):
        less = tier_rates(storage, CALIBRATION, loss)
        assert 0 <= less.read_bytes_per_s <= normal.read_bytes_per_s * (1 + 1e-12)
        assert 0 <= less.write_bytes_per_s <= normal.write_bytes_per_s * (1 + 1e-12)


@given(storage_sides(), clients, rates, rates, st.sampled_from((1.0, 2.0, 4.0)))
def test_a_budget_in_loss_is_never_better(
    storage: StorageSide, client: ClientSide, read: float, write: float, oversubscription: float
) -> None:
    budget = network_budget(storage, client, CALIBRATION, SWITCH, read, write, oversubscription)
    assert budget.read_bytes_per_s is not None
    for state in (budget.degraded.drive, budget.degraded.node, budget.degraded.leaf):
        assert state.read_bytes_per_s <= budget.read_bytes_per_s * (1 + 1e-12)
        assert state.binding_stage in {stage.name for stage in state.stages}


@given(storage_sides(), clients, rates, rates, st.sampled_from((0.5, 2.0, 4.0)))
def test_utilisation_scales_with_load(
    storage: StorageSide, client: ClientSide, read: float, write: float, factor: float
) -> None:
    switches = fabric_of(storage, client, SWITCH)
    once = under_load(segments(storage, client, switches, CALIBRATION), read, write)
    scaled = under_load(segments(storage, client, switches, CALIBRATION), factor * read, factor * write)
    for before, after in zip(once, scaled, strict=True):
        assert after.utilisation == pytest.approx(factor * before.utilisation, rel=1e-9)
        assert after.planned_bytes_per_s == before.planned_bytes_per_s
        assert before.combined_utilisation is not None
        assert before.utilisation <= before.combined_utilisation <= 2 * before.utilisation * (1 + 1e-12)


@given(storage_sides(), clients, st.sampled_from((1.0, 1.5, 2.0, 4.0)))
def test_leaves_never_shrink(storage: StorageSide, client: ClientSide, oversubscription: float) -> None:
    built = fabric_of(storage, client, SWITCH, oversubscription)
    more_nodes = replace(storage, nodes=storage.nodes + 1)
    more_clients = replace(client, gpus=client.gpus + client.gpu.gpus_per_server)
    assert fabric_of(more_nodes, client, SWITCH, oversubscription).leaf_switches >= built.leaf_switches
    assert fabric_of(storage, more_clients, SWITCH, oversubscription).leaf_switches >= built.leaf_switches


@given(storage_sides(), clients, st.floats(min_value=1.0, max_value=8.0))
def test_every_fabric_can_be_cabled(storage: StorageSide, client: ClientSide, oversubscription: float) -> None:
    built = fabric_of(storage, client, SWITCH, oversubscription)
    assert built.leaf_switches % 2 == 0
    assert built.cages_down_per_leaf + built.uplinks_per_leaf <= built.cages_per_switch
    assert built.spine_cages_used <= built.cages_per_switch
    assert built.oversubscription <= oversubscription * (1 + 1e-12)
    assert built.inter_switch_cables == built.leaf_switches * built.uplinks_per_leaf
    legs = built.spine_switches * built.spine_cages_used * 2
    assert legs >= built.leaf_switches * (2 * built.uplinks_per_leaf - 1)
