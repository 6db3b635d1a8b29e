"""The network section of a Plan."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kvplan.core.derivation import static_derivations
from kvplan.core.network.budget import client_planned_bytes_per_s, network_budget
from kvplan.core.network.examples import B3140H, B3220, CALIBRATION, CLIENTS, CONNECTX7, STORAGE, SWITCH
from kvplan.core.network.notes import adapter_notes
from kvplan.schema.network import NetworkBudget, Stage


def _budget(read: float = 150e9, write: float = 30e9) -> NetworkBudget:
    return network_budget(STORAGE, CLIENTS, CALIBRATION, SWITCH, read, write)


def test_the_reference_system() -> None:
    # IBM Redbook MD260021: 315 GB/s from storage, 80 GB/s into a client server, three switches.
    budget = _budget()
    assert budget.binding_stage == "client nic of the storage node"
    assert budget.read_bytes_per_s == pytest.approx(315e9)
    assert budget.client_planned_bytes_per_s == 80e9
    assert budget.client_servers == 4
    assert (budget.leaf_switches, budget.spine_switches) == (2, 1)
    assert (budget.uplinks_per_leaf, budget.oversubscription) == (6, 1)


def test_it_is_a_valid_record_with_every_number_explained() -> None:
    budget = _budget()
    assert NetworkBudget.model_validate_json(budget.model_dump_json()) == budget
    explained = static_derivations(NetworkBudget)
    numbers = {name for name, value in budget if isinstance(value, (int, float)) and not isinstance(value, bool)}
    assert numbers <= explained.keys()
    stage = budget.stages[0].model_dump()
    assert {f"stages[].{name}" for name, value in stage.items() if not isinstance(value, str)} <= explained.keys()


def test_notes_of_the_reference_system() -> None:
    text = " ".join(_budget().notes)
    for words in ("single point of failure", "single port", "ConnectX-7", "adaptive routing"):
        assert words in text


def test_no_notes_on_adapters_without_cause() -> None:
    assert adapter_notes(replace(STORAGE, storage_nic=B3220), B3140H) == ()
    named = B3140H.model_copy(update={"title": "NVIDIA ConnectX-7, 1 x 400G"})
    assert len(adapter_notes(replace(STORAGE, storage_nic=B3220), named)) == 1
    assert len(adapter_notes(replace(STORAGE, storage_nics=2), B3140H)) == 1
    assert CONNECTX7.part_number.startswith("MCX7")


def test_reading_and_writing_at_once_may_be_too_much() -> None:
    def storage_nic(read: float, write: float) -> Stage:
        return next(stage for stage in _budget(read, write).stages if stage.name == "storage nic")

    assert (storage_nic(150e9, 30e9).combined_utilisation or 0) < 1
    assert storage_nic(200e9, 200e9).utilisation < 1 < (storage_nic(200e9, 200e9).combined_utilisation or 0)


def test_oversubscription_is_passed_on() -> None:
    budget = network_budget(STORAGE, CLIENTS, CALIBRATION, SWITCH, 150e9, 0.0, oversubscription=2.0)
    assert (budget.uplinks_per_leaf, budget.oversubscription) == (3, 2)


def test_a_client_server_without_whole_slots_is_bound_by_them() -> None:
    wide = replace(CLIENTS, nic=B3140H.model_copy(update={"ports": 2}))
    assert client_planned_bytes_per_s(wide, CALIBRATION) / 1e9 == pytest.approx(2 * 57.2, rel=1e-3)
