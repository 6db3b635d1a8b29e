"""Traffic of the erasure code between storage nodes."""

from __future__ import annotations

import pytest

from kvplan.core.network.traffic import cross_leaf_share, degraded_read_factor, read_traffic, write_traffic


@pytest.mark.parametrize(
    ("nodes", "read", "write"), [(4, 0.75, 0.938), (8, 0.875, 1.094), (16, 0.938, 1.172), (32, 0.969, 1.211)]
)
def test_bytes_on_the_storage_network(nodes: int, read: float, write: float) -> None:
    assert read_traffic(nodes) == pytest.approx(read, abs=5e-4)
    assert write_traffic(nodes, 8, 2) == pytest.approx(write, abs=5e-4)


def test_eight_nodes_move_1_875_bytes_a_byte_read() -> None:
    # Measured by threen134/cloudland on eight nodes: client network and storage network together.
    assert 1 + read_traffic(8) == 1.875


def test_a_lost_strip_costs_a_stripe() -> None:
    assert degraded_read_factor(8, 0.0) == 1
    assert degraded_read_factor(8, 1.0) == 8


@pytest.mark.parametrize(("nodes", "percent"), [(8, 57), (16, 53), (32, 52)])
def test_share_that_changes_leaf(nodes: int, percent: int) -> None:
    assert round(100 * cross_leaf_share(nodes, 2)) == percent


@pytest.mark.parametrize(("nodes", "per_leaf"), [(8, 78.7), (16, 157), (32, 315)])
def test_cross_leaf_traffic_at_the_published_rate(nodes: int, per_leaf: float) -> None:
    # At 39.375 GB/s a node, the Redbook's figure, over two leaves.
    strips = 39.375 * nodes * read_traffic(nodes)
    assert strips * cross_leaf_share(nodes, 2) / 2 == pytest.approx(per_leaf, rel=5e-3)


def test_one_machine_talks_to_nobody() -> None:
    assert cross_leaf_share(1, 2) == 0
    assert read_traffic(1) == 0
