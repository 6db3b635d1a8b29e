"""Line and PCIe rates, against the arithmetic of their specifications."""

from __future__ import annotations

import pytest

from kvplan.core.network.examples import B3140H, B3220, CONNECTX7
from kvplan.core.network.rates import (
    line_bytes_per_s,
    nic_line_bytes_per_s,
    nic_usable_bytes_per_s,
    pcie_raw_bytes_per_s,
    pcie_usable_bytes_per_s,
)


@pytest.mark.parametrize(("gigabits", "gigabytes"), [(200, 25), (400, 50), (800, 100)])
def test_line_rate(gigabits: int, gigabytes: int) -> None:
    assert line_bytes_per_s(1, gigabits * 1e9) == gigabytes * 1e9


@pytest.mark.parametrize(
    ("generation", "lanes", "raw", "at_256", "at_512"),
    [(5, 4, 15.75, 14.3, 15.0), (5, 16, 63.0, 57.2, 60.0), (4, 16, 31.5, 28.6, 30.0), (6, 16, 121, 110, 115)],
)
def test_pcie(generation: int, lanes: int, raw: float, at_256: float, at_512: float) -> None:
    assert pcie_raw_bytes_per_s(generation, lanes) / 1e9 == pytest.approx(raw, rel=1e-3)
    for payload_bytes, expected in ((256, at_256), (512, at_512)):
        usable = pcie_usable_bytes_per_s(generation, lanes, payload_bytes / (payload_bytes + 26))
        assert usable / 1e9 == pytest.approx(expected, rel=3e-3)


def test_a_single_400g_port_is_bound_by_its_line() -> None:
    assert nic_usable_bytes_per_s(CONNECTX7, 0.98, 0.908) == nic_line_bytes_per_s(CONNECTX7, 0.98) == 49e9


def test_two_400g_ports_are_bound_by_one_slot() -> None:
    card = B3140H.model_copy(update={"ports": 2})
    assert nic_line_bytes_per_s(card, 0.80) == 80e9
    assert nic_usable_bytes_per_s(card, 0.80, 0.908) / 1e9 == pytest.approx(57.2, abs=0.05)


def test_a_400g_port_in_a_gen4_slot_is_bound_by_the_slot() -> None:
    card = CONNECTX7.model_copy(update={"pcie_generation": 4})
    assert nic_usable_bytes_per_s(card, 0.80, 0.908) / 1e9 == pytest.approx(28.6, abs=0.05)


def test_ports_in_use_may_be_fewer() -> None:
    assert nic_line_bytes_per_s(B3220, 1.0, ports=1) == 25e9
