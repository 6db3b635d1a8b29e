"""Leaf and spine counts, row by row, for 64-cage 800G switches with uplinks run as 2 x 400G.

The rows were worked out by hand from the cage counts of the SN5600 (NVIDIA Cumulus Linux 5.15 documentation, Switch
Port Attributes) for storage nodes with 2 x 200G towards clients and 1 x 400G between each other, and client servers
with 2 x 400G. The first two columns are storage nodes and client servers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kvplan.core.network.examples import SWITCH
from kvplan.core.network.leafspine import Ports, fabric
from kvplan.errors import InputError

if TYPE_CHECKING:
    from kvplan.schema.network import Fabric


def _fabric(nodes: int, clients: int, oversubscription: float = 1.0) -> Fabric:
    return fabric(Ports(nodes, 2, 200e9), Ports(nodes, 1, 400e9), Ports(clients, 2, 400e9), SWITCH, oversubscription)


@pytest.mark.parametrize(
    ("nodes", "clients", "leaves", "down", "up", "spines", "spine_cages", "cables"),
    [
        (4, 2, 2, 3, 3, 1, 6, 6),
        (8, 4, 2, 6, 6, 1, 12, 12),
        (16, 8, 2, 12, 12, 1, 24, 24),
        (32, 16, 2, 24, 24, 1, 48, 48),
        (64, 32, 4, 24, 24, 2, 48, 96),
        (256, 128, 14, 30, 32, 7, 63, 448),
        (8, 32, 2, 20, 20, 1, 40, 40),
        (32, 128, 6, 28, 29, 3, 57, 174),
        (256, 1024, 44, 30, 30, 30, 44, 1320),
    ],
)
def test_without_oversubscription(
    nodes: int, clients: int, leaves: int, down: int, up: int, spines: int, spine_cages: int, cables: int
) -> None:
    built = _fabric(nodes, clients)
    assert (built.leaf_switches, built.cages_down_per_leaf, built.uplinks_per_leaf) == (leaves, down, up)
    assert (built.spine_switches, built.spine_cages_used, built.inter_switch_cables) == (spines, spine_cages, cables)
    assert down + up <= built.cages_per_switch
    assert built.oversubscription <= 1
    assert not built.super_spine_needed


@pytest.mark.parametrize(
    ("nodes", "clients", "oversubscription", "leaves", "up", "spines"),
    [
        (4, 2, 2, 2, 2, 1),
        (8, 4, 2, 2, 3, 1),
        (16, 8, 2, 2, 6, 1),
        (32, 16, 2, 2, 12, 1),
        (64, 32, 2, 4, 12, 1),
        (256, 128, 2, 10, 20, 4),
        (8, 32, 2, 2, 10, 1),
        (32, 128, 2, 4, 20, 2),
        (256, 1024, 2, 32, 20, 10),
        (4, 2, 4, 2, 1, 1),
        (8, 4, 4, 2, 2, 1),
        (16, 8, 4, 2, 3, 1),
        (32, 16, 4, 2, 6, 1),
        (64, 32, 4, 2, 12, 1),
        (256, 128, 4, 8, 12, 2),
        (8, 32, 4, 2, 5, 1),
        (32, 128, 4, 4, 10, 1),
        (256, 1024, 4, 26, 14, 7),
    ],
)
def test_with_oversubscription(
    nodes: int, clients: int, oversubscription: float, leaves: int, up: int, spines: int
) -> None:
    built = _fabric(nodes, clients, oversubscription)
    assert (built.leaf_switches, built.uplinks_per_leaf, built.spine_switches) == (leaves, up, spines)
    assert built.oversubscription <= oversubscription


def test_the_published_system_has_three_switches() -> None:
    # IBM Redbook MD260021: eight storage nodes, three SN5600 as leaf and spine.
    built = _fabric(8, 4)
    assert built.leaf_switches + built.spine_switches == 3
    assert any("single point of failure" in note for note in built.notes)
    assert any("400 Gb/s" in note for note in built.notes)


def test_oversubscription_as_built() -> None:
    assert _fabric(8, 4).oversubscription == 1
    assert _fabric(8, 4, 2).oversubscription == 2
    assert _fabric(8, 4, 4).oversubscription == 3  # two uplinks, for one and a half cannot be cabled
    assert _fabric(256, 128).oversubscription == pytest.approx(22_600 / (63 * 400))


def test_one_spine_more_where_even_legs_would_overfill_the_leaf() -> None:
    # 31 uplinks are 62 legs: six spines make it 66 legs, 33 cages beside 32; seven make it 63 legs, 32 cages.
    built = _fabric(8, 296)
    assert (built.leaf_switches, built.cages_down_per_leaf, built.uplinks_per_leaf) == (10, 32, 32)
    assert (built.spine_switches, built.cages_per_switch) == (7, 64)


def test_a_full_leaf_says_so() -> None:
    assert any("spare" in note for note in _fabric(64, 32, 4).notes)
    assert not any("spare" in note for note in _fabric(64, 32).notes)


def test_two_tiers_end_at_128_leaves() -> None:
    largest, beyond = _fabric(256, 3300), _fabric(256, 4000)
    assert largest.leaf_switches <= 128
    assert not largest.super_spine_needed
    assert beyond.leaf_switches > 128
    assert beyond.super_spine_needed
    assert beyond.pods * 32 >= beyond.leaf_switches
    assert beyond.spine_switches == beyond.pods * beyond.uplinks_per_leaf
    assert beyond.spine_cages_used <= 32
    up = beyond.spine_switches * beyond.spine_cages_used
    assert beyond.super_spine_switches * 64 >= up
    assert beyond.inter_switch_cables == beyond.leaf_switches * beyond.uplinks_per_leaf + up
    assert any("super-spine" in note for note in beyond.notes)


def test_a_400g_switch_takes_two_cages_for_one_800g_cage() -> None:
    half = SWITCH.model_copy(
        update={"cage_bits_per_s": 400e9, "breakout_legs": {"400G": 1, "200G": 2, "100G": 4}, "max_ports": 256}
    )
    built = fabric(Ports(8, 2, 200e9), Ports(8, 1, 400e9), Ports(4, 2, 400e9), half)
    assert (built.cages_down_per_leaf, built.uplinks_per_leaf) == (12, 12)


def test_a_breakout_that_takes_the_neighbouring_cage_counts_half() -> None:
    # NVIDIA Cumulus Linux 5.15: eight legs on half of the cages only, 256 ports in all.
    switch = SWITCH.model_copy(update={"breakout_legs": {"100G": 8}, "max_ports": 256})
    assert fabric(Ports(8, 2, 100e9), Ports(8, 2, 100e9), Ports(8, 2, 100e9), switch).cages_down_per_leaf == 6


def test_a_rate_that_the_table_does_not_list_divides_the_cage() -> None:
    # Four 25G legs at most, as the table knows no finer breakout.
    assert fabric(Ports(8, 2, 25e9), Ports(8, 2, 25e9), Ports(8, 2, 25e9), SWITCH).cages_down_per_leaf == 6


def test_links_faster_than_400g_have_no_adaptive_routing() -> None:
    fast = SWITCH.model_copy(update={"cage_bits_per_s": 1600e9, "breakout_legs": {"800G": 2, "400G": 4, "200G": 8}})
    notes = fabric(Ports(8, 2, 200e9), Ports(8, 1, 400e9), Ports(4, 2, 400e9), fast).notes
    assert any("does not work" in note for note in notes)


def test_a_port_faster_than_a_cage_is_refused() -> None:
    slow = SWITCH.model_copy(update={"id": "sn2201", "cage_bits_per_s": 1e9, "breakout_legs": {"1G": 1}})
    with pytest.raises(
        InputError, match="sn2201: a port of 200 Gb/s is faster than a cage of the switch; up to 1 Gb/s"
    ):
        fabric(Ports(8, 2, 200e9), Ports(8, 1, 400e9), Ports(4, 2, 400e9), slow)


def test_a_machine_with_more_ports_than_a_leaf_is_refused() -> None:
    with pytest.raises(InputError, match="64-cage switches"):
        fabric(Ports(8, 2, 200e9), Ports(8, 1, 400e9), Ports(1, 400, 400e9), SWITCH)
