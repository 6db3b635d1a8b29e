"""The rows themselves: published figures, and rules that every row keeps."""

from __future__ import annotations

from typing import Any

import pytest

from kvplan.catalogue.loader import load_catalogue
from kvplan.catalogue.tables import BACKENDS, DRIVES, RELEASES, SERVERS, SOFTWARE, SWITCHES, TABLES
from kvplan.units import GB, MIB, TB

CATALOGUE = load_catalogue()


@pytest.mark.parametrize(
    ("gpu", "mebibytes"),
    [
        ("rtx-pro-6000", 97_887),  # aiconfigurator-core 0.12.0 systems/rtx_pro_6000_server.yaml
        ("h100", 81_559),  # modal-labs/modal-client#2797
        ("a100-80gb", 81_920),  # modal-labs/modal-client#2797
        ("a100-40gb", 40_960),  # modal-labs/modal-client#2797
        ("l40s", 46_068),  # modal-labs/modal-client#2797
        ("b200", 183_359),  # NVIDIA/TensorRT-LLM#10278
        ("b300", 275_040),  # aiconfigurator-core 0.12.0 systems/b300_sxm.yaml
        ("gb200", 189_471),  # aiconfigurator-core 0.12.0 systems/gb200.yaml
        ("gb300", 284_208),  # aiconfigurator-core 0.12.0 systems/gb300.yaml
        ("mi300x", 196_592),  # ROCm/legacy-rocm-build#4750
    ],
)
def test_gpu_memory_as_drivers_report_it(gpu: str, mebibytes: int) -> None:
    assert CATALOGUE.gpu(gpu).memory_bytes == mebibytes * MIB


def test_the_reference_client() -> None:
    """IBM Redbook MD260021: SYS-212GB-FNR with 4 x RTX PRO 6000 and 2 x B3140H, 2 x 400 Gb/s."""
    gpu = CATALOGUE.gpu("rtx-pro-6000")
    nic = CATALOGUE.nic(gpu.nic)
    assert (gpu.gpus_per_server, gpu.server, gpu.nic, gpu.nics_per_server) == (4, "SYS-212GB-FNR", "b3140h", 2)
    assert gpu.nics_per_server * nic.ports * nic.port_bits_per_s == 800 * GB
    assert CATALOGUE.server(gpu.server).role == "client"


def test_the_gpus_that_the_issue_names() -> None:
    for name in ("RTX PRO 6000".replace(" ", "-"), "L40S", "A100", "H100", "H200", "B200", "B300", "GB200", "MI300X"):
        assert CATALOGUE.gpu(name).memory_bandwidth_bytes_per_s > 800 * GB


def test_the_reference_node() -> None:
    """IBM Redbook MD260021: 64 of 128 Gen5 lanes to 16 drives, 64 to the network; 122.88 TB raw a node, 983 TB in 8."""
    server, drive = CATALOGUE.server("asg-1115s-ne316r"), CATALOGUE.drive("micron-e3s-7.68")
    assert (server.drive_bays, server.drive_pcie_lanes, server.network_pcie_lanes) == (16, 64, 64)
    assert server.drive_bays * drive.capacity_bytes == 122.88 * TB
    assert round(8 * server.drive_bays * drive.capacity_bytes / TB) == 983
    assert drive.confidence == "assumed"


def test_the_reference_drive_is_the_slower_candidate() -> None:
    drive = CATALOGUE.drive("micron-e3s-7.68")
    candidates = [CATALOGUE.drive(name) for name in ("micron-9550-pro-7.68", "micron-7600-pro-7.68")]
    assert drive.read_bytes_per_s == min(candidate.read_bytes_per_s for candidate in candidates)
    assert drive.write_bytes_per_s == min(candidate.write_bytes_per_s for candidate in candidates)


@pytest.mark.parametrize(
    ("drive", "read", "write", "per_day", "written_tb"),
    [
        ("micron-9550-pro-7.68", 14, 10, 1, 14_016),
        ("micron-9550-max-3.2", 14, 10, 3, 17_520),  # StorageReview, Micron 9550 MAX review
        ("micron-9550-max-6.4", 14, 10, 3, 35_040),
        ("micron-9550-max-25.6", 14, 10, 3, 140_160),
        ("micron-7600-max-6.4", 12, 7, 3, 35_040),  # StorageReview, Micron 7600 MAX review
        ("micron-9650-pro-7.68", 28, 14, 1, 14_016),  # Micron, July 2025
    ],
)
def test_drives_as_published(drive: str, read: int, write: int, per_day: int, written_tb: int) -> None:
    row = CATALOGUE.drive(drive)
    assert (row.read_bytes_per_s, row.write_bytes_per_s, row.drive_writes_per_day) == (read * GB, write * GB, per_day)
    assert row.capacity_bytes * row.drive_writes_per_day * 365 * 5 == written_tb * TB


def test_drive_ids_name_the_capacity() -> None:
    for drive in CATALOGUE.records(DRIVES):
        assert float(drive.id.rpartition("-")[2]) * TB == pytest.approx(drive.capacity_bytes, rel=1e-12)


def test_switch_legs_share_the_cage() -> None:
    for switch in CATALOGUE.records(SWITCHES):
        for speed, legs in switch.breakout_legs.items():
            assert legs * float(speed.removesuffix("G")) * 1e9 <= switch.cage_bits_per_s
        assert switch.max_ports is not None
        assert switch.max_ports >= switch.cages


@pytest.mark.parametrize(
    ("switch", "cages", "gigabits", "legs", "units"),
    [
        ("sn5600", 64, 800, {"800G": 1, "400G": 2, "200G": 4, "100G": 8}, 2),
        ("sn5610", 64, 800, {"800G": 1, "400G": 2, "200G": 4, "100G": 8}, 2),
        ("sn5400", 64, 400, {"400G": 1, "200G": 2, "100G": 4}, 2),
        ("sn4700", 32, 400, {"400G": 1, "200G": 2, "100G": 4}, 1),
        ("sn2201", 48, 1, {"1G": 1}, 1),
    ],
)
def test_switches_as_documented(switch: str, cages: int, gigabits: int, legs: dict[str, int], units: int) -> None:
    """Cumulus Linux 5.15 documentation, Switch Port Attributes."""
    row = CATALOGUE.switch(switch)
    assert (row.cages, row.cage_bits_per_s, row.breakout_legs, row.rack_units) == (cages, gigabits * 1e9, legs, units)


@pytest.mark.parametrize(
    ("nic", "ports", "gigabits", "connector", "lead"),
    [
        ("b3220", 2, 200, "QSFP112", True),
        ("b3220l", 2, 200, "QSFP112", False),
        ("b3140h", 1, 400, "QSFP112", False),
        ("b3140l", 1, 400, "QSFP112", False),
        ("MCX75310AAS-NEAT", 1, 400, "OSFP", False),
        ("MCX715105AS-WEAT", 1, 400, "QSFP112", False),
        ("MCX755106AS-HEAT", 2, 200, "QSFP112", False),
    ],
)
def test_adapters_as_documented(nic: str, ports: int, gigabits: int, connector: str, lead: bool) -> None:  # noqa: FBT001 - a parameter set
    row = CATALOGUE.nic(nic)
    assert (row.ports, row.port_bits_per_s, row.connector, row.needs_atx_lead) == (
        ports,
        gigabits * 1e9,
        connector,
        lead,
    )


def test_who_shares_and_survives() -> None:
    """ai-dynamo/dynamo#1180: the disk cache of KVBM is private and unlinked."""
    rows = {row.id: row for row in CATALOGUE.records(BACKENDS)}
    shared = {name for name, row in rows.items() if row.shared_between_engines}
    assert shared == set(rows) - {"kvbm-disk"}
    assert {name for name, row in rows.items() if row.survives_restart} == shared
    assert {name for name, row in rows.items() if not row.released} == {"kvbm-g4"}
    assert {name for name, row in rows.items() if row.gpudirect == "yes"} == {"lmcache-gds", "kvbm-disk"}
    assert {name for name, row in rows.items() if row.default_chunk_tokens == 16} == {"kvbm-disk", "kvbm-g4"}
    assert {name for name, row in rows.items() if row.latent_copies == "one"} == {"lmcache-fs", "lmcache-gds"}
    assert {name for name, row in rows.items() if row.window_storage == "prompt-end"} == {"vllm-fs"}


def test_who_evicts_and_who_else_may_delete() -> None:
    """Who deletes old blocks, and what deleting a file from outside does.

    vllm-project/vllm#49328: a deleted file is a miss. llm-d/llm-d-kv-cache#514: a failed load asserts. LMCache 0.5.6:
    the fs adapter has no capacity to evict by, and finds a file by looking for it. ai-dynamo/dynamo#5243: the registry
    evicts tail-first and would point at files that are gone. ai-dynamo/dynamo#1180: the private pool reuses its one
    unlinked file.
    """
    rows = {row.id: (row.eviction, row.external_delete) for row in CATALOGUE.records(BACKENDS)}
    assert rows == {
        "vllm-fs": ("none", "safe"),
        "llmd-fs": ("none", "with-grace"),
        "lmcache-fs": ("none", "with-grace"),
        "lmcache-gds": ("none", "safe"),
        "kvbm-disk": ("private-pool", "unsafe"),
        "kvbm-g4": ("registry", "unsafe"),
    }


def test_hybrid_manager_only_where_a_version_is_named() -> None:
    for row in CATALOGUE.records(BACKENDS):
        assert row.hybrid_manager == bool(row.hybrid_manager_since_vllm)


def test_the_reference_software() -> None:
    """IBM Redbook MD260021; vLLM 0.14.1 turns the hybrid manager off with any KV connector (vllm/config/vllm.py)."""
    row = CATALOGUE.software("reference")
    assert (row.dynamo, row.vllm, row.storage_scale) == ("0.9.0", "0.14.1", "6.0.0.1")
    assert (row.cache_backend, row.hybrid_manager, row.block_tokens, row.chunk_tokens) == ("kvbm-g4", False, 16, 16)
    assert row.validated


def test_the_current_software() -> None:
    row = CATALOGUE.software("current")
    assert (row.dynamo, row.vllm) == ("1.7.0", "0.33.0")
    assert (row.cache_backend, row.hybrid_manager, row.chunk_tokens, row.validated) == ("vllm-fs", True, 256, False)


def parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def test_a_software_set_runs_a_back_end_that_works_with_its_versions() -> None:
    for row in CATALOGUE.records(SOFTWARE):
        backend = CATALOGUE.backend(row.cache_backend)
        for version, span in ((row.dynamo, backend.dynamo), (row.vllm, backend.vllm)):
            last = parts(span.last) if span.last else ()
            assert parts(span.first) <= parts(version)
            assert not last or parts(version)[: len(last)] <= last
        assert backend.hybrid_manager or not row.hybrid_manager


def test_releases_have_the_published_limits() -> None:
    """IBM Storage Scale ECE documentation; IBM/SpectrumScaleTools ece_os_overview and ece_os_readiness."""
    for row in CATALOGUE.records(RELEASES):
        assert (row.min_servers_per_recovery_group, row.max_servers_per_recovery_group) == (3, 32)
        assert (row.max_pdisks_per_recovery_group, row.max_drives_per_server) == (512, 64)
        assert (row.max_servers, row.warn_servers) == (256, 128)
        assert row.version == row.id
    with_racks = {row.id for row in CATALOGUE.records(RELEASES) if row.rack_failure_domains}
    assert with_racks == {"6.0.1.0"}


def test_an_assumed_row_says_what_is_assumed() -> None:
    rows: list[Any] = [row for name in TABLES if name not in {"models", "constants"} for row in CATALOGUE.rows(name)]
    assert {row.id for row in rows if (row.confidence == "assumed") != row.note.startswith("assumed")} == set()


def test_lanes_carry_what_the_chassis_holds() -> None:
    for server in CATALOGUE.records(SERVERS):
        assert server.drive_pcie_lanes >= 2 * server.drive_bays


def test_only_the_storage_factor_is_measured() -> None:
    """IBM Redbook MD260021: 315 GB/s of 8 nodes were measured; "up to 80 GB/s" of a client is stated, ran at 37.7."""
    client, storage = (CATALOGUE.constant(f"network.{name}") for name in ("planning_factor", "storage_client_factor"))
    assert (client.value, client.confidence) == (0.80, "vendor")
    assert "up to 80 GB/s" in client.source
    assert "37.7 GB/s" in client.note
    assert (storage.value, storage.confidence) == (0.7875, "measured")
    assert "315 GB/s" in storage.source
