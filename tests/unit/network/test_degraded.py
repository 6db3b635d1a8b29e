"""The read path with a drive, a node or a leaf lost."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from kvplan.core.ece.codes import ErasureCode
from kvplan.core.network.budget import fabric_of
from kvplan.core.network.degraded import DRIVE_LOSS, NODE_LOSS, LoadedPath, degraded, leaf_loss
from kvplan.core.network.examples import B3140H, B3220, CALIBRATION, CLIENTS, FABRIC, STORAGE, SWITCH
from kvplan.core.network.stages import tier_rates

if TYPE_CHECKING:
    from kvplan.core.network.sides import ClientSide, StorageSide
    from kvplan.schema.network import Degraded

DUAL_PORT = replace(STORAGE, storage_nic=B3220)


def _states(storage: StorageSide = STORAGE, client: ClientSide = CLIENTS) -> Degraded:
    switches = fabric_of(storage, client, SWITCH)
    return degraded(LoadedPath(storage, client, switches, CALIBRATION, 150e9, 0.0))


def test_a_lost_drive_costs_little() -> None:
    rates = tier_rates(STORAGE, CALIBRATION, DRIVE_LOSS)
    assert rates.read_bytes_per_s == pytest.approx(315e9)
    strips = _states().drive.stages[2].load_bytes_per_s
    assert strips == pytest.approx(150e9 * 0.875 * (1 + 7 / 128))


def test_a_lost_node_binds_the_storage_nic() -> None:
    state = _states().node
    assert state.binding_stage == "storage nic"
    # Seven nodes at 40 GB/s; one strip in eight costs eight reads; six sevenths of them cross the network.
    assert state.read_bytes_per_s == pytest.approx(7 * 40e9 / (1.875 * 6 / 7))
    assert "1 of 8 nodes lost" in state.text


def test_four_nodes_of_8_2p_do_not_survive_a_node() -> None:
    # Three strips of ten sit on each of four nodes, and the code restores two.
    four = replace(STORAGE, nodes=4, nodes_in_group=4)
    state = _states(four).node
    assert (state.read_bytes_per_s, state.write_bytes_per_s, state.binding_stage) == (0, 0, "drives")
    assert "8+2P on 4 nodes does not survive it" in state.text
    assert tier_rates(four, CALIBRATION, NODE_LOSS).read_bytes_per_s == 0
    assert _states(replace(four, code=ErasureCode(4, 2))).node.read_bytes_per_s > 0


def test_the_group_that_lost_a_node_sets_the_pace() -> None:
    two_groups = replace(STORAGE, nodes=16)
    rates = tier_rates(two_groups, CALIBRATION, NODE_LOSS)
    assert rates.read_bytes_per_s == pytest.approx(2 * tier_rates(STORAGE, CALIBRATION, NODE_LOSS).read_bytes_per_s)


def test_single_port_storage_nics_lose_the_tier_with_a_leaf() -> None:
    state = _states().leaf
    assert (state.read_bytes_per_s, state.write_bytes_per_s, state.binding_stage) == (0, 0, "storage nic")
    assert "4 of 8 nodes lose the storage network altogether" in state.text
    assert "more than 8+2P survives" in state.text
    assert state.stages[2].count == 4
    assert state.stages[2].load_bytes_per_s == pytest.approx(150e9 * 3 / 4)  # nothing is restored that cannot be


def test_dual_port_storage_nics_keep_half() -> None:
    state = _states(DUAL_PORT).leaf
    assert state.read_bytes_per_s == pytest.approx(315e9 / 2)
    assert state.stages[2].count == state.stages[3].count == 8
    assert state.stages[5].load_bytes_per_s == 0  # one leaf left: nothing changes leaf
    assert "half of their ports" in state.text


def test_two_single_port_storage_nics_keep_half() -> None:
    state = _states(replace(STORAGE, storage_nics=2)).leaf
    assert state.read_bytes_per_s == pytest.approx(315e9 / 2)


def test_many_leaves_leave_enough_nodes_of_a_group() -> None:
    # 256 nodes on 14 leaves: three nodes of a group of 32 are cut off, and 16+3P survives three.
    large = replace(STORAGE, nodes=256, nodes_in_group=32, code=ErasureCode(16, 3))
    clients = replace(CLIENTS, gpus=512)
    assert leaf_loss(large, 14).group_nodes == 3
    state = _states(large, clients).leaf
    assert state.read_bytes_per_s > 0
    assert "the others serve for them" in state.text


def test_client_servers_with_one_port_lose_every_other() -> None:
    gpu = CLIENTS.gpu.model_copy(update={"nics_per_server": 1})
    state = _states(DUAL_PORT, replace(CLIENTS, gpu=gpu)).leaf
    assert state.stages[6].count == 2


def test_a_single_client_server_with_one_port_may_be_cut_off() -> None:
    gpu = CLIENTS.gpu.model_copy(update={"nics_per_server": 1})
    state = _states(DUAL_PORT, replace(CLIENTS, gpus=4, gpu=gpu, nic=B3140H)).leaf
    assert state.stages[6].count == 0
    assert state.binding_stage == "client server nic"
    assert state.read_bytes_per_s == 0


def test_clients_bind_where_they_are_few() -> None:
    alone = replace(CLIENTS, gpus=3)
    switches = fabric_of(STORAGE, alone, SWITCH)
    states = degraded(LoadedPath(STORAGE, alone, switches, CALIBRATION, 70e9, 0.0))
    assert states.drive.read_bytes_per_s == 80e9
    assert states.drive.binding_stage == "client server nic"


def test_one_node_alone_serves_nothing_without_it() -> None:
    alone = replace(STORAGE, nodes=1, nodes_in_group=1)
    assert degraded(LoadedPath(alone, CLIENTS, FABRIC, CALIBRATION, 1e9, 1e9)).node.read_bytes_per_s == 0
