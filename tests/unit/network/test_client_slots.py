"""Slots of the client servers: NICs and GPUs are no faster than the host's PCIe generation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from kvplan.catalogue.loader import load_catalogue
from kvplan.catalogue.tables import GPUS
from kvplan.core.network.budget import client_planned_bytes_per_s
from kvplan.core.network.examples import B3220, CALIBRATION, CLIENTS
from kvplan.core.network.segments import client_segments
from kvplan.core.network.sides import Loss

if TYPE_CHECKING:
    from kvplan.core.network.segments import Segment
    from kvplan.core.network.sides import ClientSide

GEN4_X16 = 16 * 16e9 * 128 / 130 / 8 * 0.908
"""PCI Express Base Specification: 16 GT/s, 128b/130b; 26 B of header on 256 B."""


def _client(host_generation: int) -> ClientSide:
    return replace(CLIENTS, gpu=CLIENTS.gpu.model_copy(update={"host_pcie_generation": host_generation}))


def _nic(client: ClientSide, loss: Loss | None = None) -> Segment:
    return client_segments(client, CALIBRATION, loss or Loss())[0]


def test_gen4_slots_hold_400g_cards_back() -> None:
    nic = _nic(_client(4))
    assert nic.unit_planned_bytes_per_s == nic.unit_bytes_per_s == pytest.approx(GEN4_X16)
    assert round(nic.unit_planned_bytes_per_s / 1e9, 1) == 28.6
    assert client_planned_bytes_per_s(_client(4), CALIBRATION) == pytest.approx(2 * GEN4_X16)
    assert "PCIe slot" in nic.note


@pytest.mark.parametrize("host_generation", [5, 6])
def test_a_link_is_no_faster_than_the_card(host_generation: int) -> None:
    assert _nic(_client(host_generation)).unit_planned_bytes_per_s == 40e9
    gpu = client_segments(_client(host_generation), CALIBRATION)[1]
    assert round(gpu.unit_planned_bytes_per_s / 1e9, 1) == 57.2


def test_a_gpu_is_no_faster_than_its_slot() -> None:
    assert client_segments(_client(4), CALIBRATION)[1].unit_planned_bytes_per_s == pytest.approx(GEN4_X16)


def test_one_port_left_of_two_is_bound_by_its_line_again() -> None:
    """One of two 200 Gb/s ports: 25 GB/s x 0.8 is less than the 28.6 GB/s of the slot."""
    client = replace(_client(4), nic=B3220)
    assert _nic(client).unit_planned_bytes_per_s == pytest.approx(GEN4_X16)
    assert _nic(client, Loss(leaf_of=2)).unit_planned_bytes_per_s == 20e9


def test_hosts_of_the_catalogue() -> None:
    """HGX A100 hosts are Gen4 (NVIDIA DGX A100 user guide); an L40S server is assumed to be Gen5."""
    gpus = {row.id: row for row in load_catalogue().records(GPUS)}
    fourth = {name for name, row in gpus.items() if row.host_pcie_generation == 4}
    assert fourth == {"a100-40gb", "a100-80gb"}
    assert all(row.host_pcie_generation == 5 for name, row in gpus.items() if name not in fourth)
    assert all("Gen4" in gpus[name].note for name in fourth)
    assert "assumed" in gpus["l40s"].note
    assert "slots are Gen5" in gpus["l40s"].note
