"""Rebuild time and endurance against figures worked out by hand."""

from __future__ import annotations

import pytest

from kvplan.core.ece.codes import ErasureCode, parse_code
from kvplan.core.ece.endurance import endurance
from kvplan.core.ece.rebuild import moved_bytes, rebuild

DRIVE_BYTES = 7_680_000_000_000
NIC_BYTES_PER_S = 49e9  # 400 Gb/s less RoCEv2 headers at a 4096 B MTU


@pytest.mark.parametrize(
    ("nodes", "share", "drive_min", "node_min"),
    [
        (8, 0.25, 10.3, 188),
        (8, 0.50, 5.1, 94),
        (16, 0.25, 5.5, 94),
        (16, 0.50, 2.8, 47),
        (32, 0.25, 2.8, 47),
        (32, 0.50, 1.4, 24),
    ],
)
def test_network_bound_rebuild(nodes: int, share: float, drive_min: float, node_min: float) -> None:
    """8+2P: nine bytes cross the network for each byte lost, over what NICs are left."""
    bound = rebuild(
        parse_code("8+2P"),
        nodes=nodes,
        drives_per_node=16,
        drive_bytes=DRIVE_BYTES,
        storage_nic_bytes_per_s=NIC_BYTES_PER_S,
        network_share=share,
    )
    assert bound.drive_s / 60 == pytest.approx(drive_min, abs=0.06)
    assert bound.node_s / 60 == pytest.approx(node_min, abs=0.6)


def test_a_lost_node_takes_its_nic_along() -> None:
    bound = rebuild(
        ErasureCode(4, 2),
        nodes=4,
        drives_per_node=10,
        drive_bytes=DRIVE_BYTES,
        storage_nic_bytes_per_s=1e9,
        network_share=1.0,
    )
    assert bound.node_s == pytest.approx(10 * bound.drive_s * 4 / 3)


def test_moved_bytes_stay_within_the_other_nodes() -> None:
    assert moved_bytes(1e12, ErasureCode(16, 3), 17) == pytest.approx(16e12)


def test_one_drive_write_per_day_of_a_reference_node() -> None:
    """16 x 7.68 TB a day / 86,400 s / 1.25 = 1.14 GB/s; the drive is rated 1 DWPD (Micron 9550 PRO data sheet)."""
    wear = endurance(16 * DRIVE_BYTES, parse_code("8+2P"), 1.0, 10e9, 1.0)
    assert wear.allowed_write_bytes_per_s == pytest.approx(1.14e9, rel=0.005)
    assert wear.rated_drive_writes_per_day == 1.0
    assert wear.demanded_drive_writes_per_day == pytest.approx(10e9 / 1.1378e9, rel=0.001)


def test_write_amplification_wears_drives() -> None:
    once = endurance(DRIVE_BYTES, parse_code("8+2P"), 3.0, 1e9, 1.0)
    twice = endurance(DRIVE_BYTES, parse_code("8+2P"), 3.0, 1e9, 2.0)
    assert twice.allowed_write_bytes_per_s == pytest.approx(once.allowed_write_bytes_per_s / 2)
    assert twice.demanded_drive_writes_per_day == pytest.approx(once.demanded_drive_writes_per_day * 2)


def test_demand_at_the_allowed_rate_is_the_rating() -> None:
    allowed = endurance(DRIVE_BYTES, parse_code("16+3P"), 3.0, 0.0, 1.5).allowed_write_bytes_per_s
    wear = endurance(DRIVE_BYTES, parse_code("16+3P"), 3.0, allowed, 1.5)
    assert wear.demanded_drive_writes_per_day == pytest.approx(3.0)
