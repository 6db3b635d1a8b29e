"""Stages of the read path, against the published reference system (IBM Redbook MD260021)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from kvplan.core.ece.codes import ErasureCode
from kvplan.core.network.examples import B3140H, CALIBRATION, CLIENTS, FABRIC, STORAGE
from kvplan.core.network.segments import client_segments, storage_segments
from kvplan.core.network.stages import binding_stage, segments, tier_rates, under_load

if TYPE_CHECKING:
    from kvplan.core.network.sides import StorageSide
    from kvplan.schema.network import Stage

NAMES = (
    "drives",
    "pcie to drives",
    "storage nic",
    "client nic of the storage node",
    "leaf",
    "uplink",
    "client server nic",
    "gpu pcie",
)


def _tier(nodes: int, data: int, parity: int) -> StorageSide:
    return replace(STORAGE, nodes=nodes, nodes_in_group=min(nodes, 32), code=ErasureCode(data, parity))


def _stages(read: float = 315e9, write: float = 0.0) -> dict[str, Stage]:
    return {stage.name: stage for stage in under_load(segments(STORAGE, CLIENTS, FABRIC, CALIBRATION), read, write)}


def test_names_and_order() -> None:
    assert tuple(_stages()) == NAMES


def test_published_rates() -> None:
    rates = tier_rates(STORAGE, CALIBRATION)
    assert rates.read_bytes_per_s / 1e9 == pytest.approx(315.0)
    assert rates.read_bytes_per_s / STORAGE.nodes / 1e9 == pytest.approx(39.4, abs=0.05)
    assert rates.binding_stage == "client nic of the storage node"


def test_one_client_server_is_planned_for_80_gigabytes() -> None:
    nic = client_segments(CLIENTS, CALIBRATION)[0]
    assert nic.instances * nic.unit_planned_bytes_per_s / CLIENTS.servers == 80e9


def test_ceilings_of_one_node() -> None:
    of_node = {stage.name: stage.capacity_bytes_per_s / 8e9 for stage in _stages().values()}
    assert of_node["drives"] == 224  # 16 x 14 GB/s, Micron 9550 product brief
    assert of_node["pcie to drives"] == pytest.approx(228.9, abs=0.05)
    assert of_node["storage nic"] == of_node["client nic of the storage node"] == 49.0


def test_storage_nic_at_the_published_rate() -> None:
    stage = _stages()["storage nic"]
    assert stage.load_bytes_per_s / 8e9 == pytest.approx(34.5, abs=0.05)
    assert stage.load_bytes_per_s / 8 / 50e9 == pytest.approx(0.69, abs=0.005)


@pytest.mark.parametrize(("nodes", "ceiling"), [(8, 44.8), (16, 41.8), (32, 40.5)])
def test_write_ceiling_of_the_storage_nic(nodes: int, ceiling: float) -> None:
    # The line at 98 % over the traffic of 8+2P.
    loose = replace(CALIBRATION, planning_factor=0.98)
    segment = storage_segments(_tier(nodes, 8, 2), loose)[2]
    assert segment.write_limit_bytes_per_s / nodes / 1e9 == pytest.approx(ceiling, abs=0.05)


def test_writing_is_bound_by_the_storage_nic() -> None:
    assert tier_rates(STORAGE, CALIBRATION).write_bytes_per_s / 1e9 == pytest.approx(8 * 40 / 1.09375)


def test_two_uplinks_a_leaf_carry_the_worst_case_at_79_percent_of_the_line() -> None:
    two = FABRIC.model_copy(update={"uplinks_per_leaf": 2, "spine_cages_used": 4})
    uplink = under_load(segments(STORAGE, CLIENTS, two, CALIBRATION), 315e9, 0.0)[5]
    assert uplink.count == 4
    assert uplink.load_bytes_per_s / (uplink.count * 100e9) == pytest.approx(0.7875)


def test_a_leg_that_no_spine_takes_carries_nothing() -> None:
    odd = FABRIC.model_copy(update={"leaf_switches": 14, "uplinks_per_leaf": 32, "spine_switches": 7})
    cabled = odd.model_copy(update={"spine_cages_used": 63})
    uplink = under_load(segments(STORAGE, CLIENTS, cabled, CALIBRATION), 315e9, 0.0)[5]
    assert uplink.count == 448
    assert uplink.planned_bytes_per_s == pytest.approx(441 * 80e9)


def test_reads_and_writes_are_judged_alone_and_together() -> None:
    loaded = _stages(100e9, 50e9)
    assert loaded["storage nic"].utilisation == pytest.approx(87.5 / 320)
    assert loaded["storage nic"].combined_utilisation == pytest.approx((87.5 + 54.6875) / 320)
    assert loaded["client nic of the storage node"].combined_utilisation == pytest.approx(100 / 315)
    assert loaded["drives"].planned_write_bytes_per_s == 128 * 10e9
    assert loaded["drives"].write_load_bytes_per_s == 62.5e9
    assert loaded["leaf"].planned_write_bytes_per_s is None


def test_writes_count_where_they_are_heavier() -> None:
    assert _stages(0.0, 100e9)["storage nic"].utilisation == pytest.approx(109.375 / 320)


def test_two_ports_behind_one_slot_are_bound_by_it() -> None:
    wide = replace(CLIENTS, nic=B3140H.model_copy(update={"ports": 2}))
    nic = under_load(segments(STORAGE, wide, FABRIC, CALIBRATION), 315e9, 0.0)[6]
    assert nic.planned_bytes_per_s / nic.count / 1e9 == pytest.approx(57.2, abs=0.05)
    assert "slot" in nic.note
    assert "0.8 of the line" in _stages()["client server nic"].note
    assert "0.7875 of the line" in _stages()["client nic of the storage node"].note


def test_drives_share_the_lanes_that_the_chassis_has() -> None:
    chassis = STORAGE.server.model_copy(update={"drive_bays": 32, "drive_pcie_lanes": 64})
    dense = replace(STORAGE, drives_per_node=32, server=chassis)
    assert storage_segments(dense, CALIBRATION)[1].unit_bytes_per_s == pytest.approx(228.9e9, rel=1e-3)
    unknown = replace(dense, server=chassis.model_copy(update={"drive_pcie_lanes": 0}))
    assert storage_segments(unknown, CALIBRATION)[1].unit_bytes_per_s == pytest.approx(457.7e9, rel=1e-3)


def test_only_whole_engines_load() -> None:
    assert client_segments(replace(CLIENTS, gpus=11, tp=4), CALIBRATION)[1].instances == 8
    assert client_segments(replace(CLIENTS, gpus=3, tp=4), CALIBRATION)[1].instances == 3


def test_the_binding_stage_is_the_one_that_gives_the_read_rate() -> None:
    path = segments(STORAGE, CLIENTS, FABRIC, CALIBRATION)
    least = min(segment.read_limit_bytes_per_s for segment in path)
    assert next(part for part in path if part.name == binding_stage(path)).read_limit_bytes_per_s == least


def test_ties_go_to_the_earlier_stage() -> None:
    nic = storage_segments(STORAGE, CALIBRATION)[3]
    assert binding_stage([nic._replace(name="first"), nic._replace(name="second")]) == "first"


def test_nothing_left_binds_first() -> None:
    path = list(storage_segments(STORAGE, CALIBRATION))
    path[2] = path[2]._replace(instances=0)
    assert binding_stage(path) == "storage nic"


def test_one_node_alone_has_no_storage_traffic() -> None:
    alone = replace(STORAGE, nodes=1, nodes_in_group=1)
    assert tier_rates(alone, CALIBRATION).read_bytes_per_s == pytest.approx(39.375e9)
