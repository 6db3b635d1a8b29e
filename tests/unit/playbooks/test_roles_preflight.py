"""Preflight: a host as planned, and each thing that may be otherwise."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from role_runs import ROLES, call, module

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MODULE = "kv_preflight.py"
PORT = {
    "name": "storage1p0",
    "mac": "02:00:00:00:00:AB",
    "speed_gbit_per_s": 400,
    "switch": "leaf-1",
    "switch_port": "s1",
}


class Host:
    """A host as planned; a test changes what it shows."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.serial = "# SMBIOS 3.5\nSN0001\n"
        self.cache = dict.fromkeys("01", "get-feature:0x06 (Volatile Write Cache), Current value:00000000")
        self.identity = "vwc : 0"
        self.burnt = ""
        self.running = "5.14.0-570.el9.x86_64\n"
        self.drives = [_drive(number, f"DATA{number}") for number in range(2)]
        self.drives.append(_drive(2, "BOOT1", size=480 * 10**9, pttype="gpt", children=[{}]))
        self.drives.append({**_drive(3, "VIRTUAL", size=10**9), "path": "/dev/sda"})
        self.planned: dict[str, Any] = {
            "kv_name": "storage-001",
            "kv_serial": "SN0001",
            "kv_boot_serials": ["BOOT1"],
            "kv_data_drives": {"count": 2, "size_gb": 7680, "serials": ["DATA0", "DATA1"]},
            "kv_management_ports": [],
            "kv_fabric_ports": [PORT],
            "kv_os": "rhel",
            "kv_os_version": "9.6",
            "kv_kernel": "5.14.0-570.el9",
            "memory_gib": 512,
            "memory_share": 0.95,
            "size_share": 0.01,
            "clock_s": 15,
            "var_gb": 0,
            "ports": [1191],
            "asked": 1000.0,
            "told": 1001.0,
            "heard": 1002.0,
        }
        self.write("etc/kvplan/installed", "name=storage-001\nserial=SN0001\n")
        self.write("etc/os-release", 'ID="rhel"\nVERSION_ID="9.6"\n')
        self.write("proc/meminfo", f"MemTotal: {505 * 1024 * 1024} kB\n")
        self.write("proc/net/tcp", "head\n 0: 00000000:0016 00000000:0000 0A\n 1: 0:04A7 0:1 01\n")
        self.write("proc/1/comm", "systemd\n")
        self.write("sys/class/net/ens1f0/address", "02:00:00:00:00:ab\n")
        self.write("sys/class/net/ens1f0/speed", "400000\n")
        (root / "var").mkdir()

    def write(self, path: str, text: str) -> None:
        """Write a file of the host."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def answer(self, argv: list[str]) -> tuple[int, str]:
        """Answer a command."""
        if argv[0] == "dmidecode":
            return 0, self.serial
        if argv[0] == "lsblk":
            return 0, json.dumps({"blockdevices": self.drives})
        if argv[0] == "uname":
            return 0, self.running
        if argv[0] == "ethtool":
            return 0, self.burnt
        return (0, self.identity) if argv[1] == "id-ctrl" else (0, self.cache[argv[2][9]])

    def silent(self, identity: str) -> None:
        """Let the second drive say nothing of the feature, but this of itself."""
        self.cache["1"] = ""
        self.identity = identity

    def look(self, *checks: str) -> dict[str, Any]:
        """Run the module."""
        every = list(module(MODULE).CHECKS)
        return call(MODULE, self.answer, checks=list(checks) or every, planned=self.planned, root=str(self.root))


def _drive(number: int, serial: str, size: int = 7680 * 10**9, **more: Any) -> dict[str, Any]:
    """Describe a drive as lsblk does."""
    plain = {"path": f"/dev/nvme{number}n1", "serial": serial, "size": size, "type": "disk"}
    return {**plain, "fstype": None, "pttype": None, "mountpoint": None, **more}


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_a_host_as_planned_passes_every_check(host: Host) -> None:
    result = host.look()

    assert (result["failed"], result["findings"], result["installed"], result["changed"]) == (False, [], True, False)


FAULTS: dict[str, tuple[str, Callable[[Host], Any], str]] = {
    "another machine": ("serial", lambda host: setattr(host, "serial", "SN0002\n"), "SN0002, planned is SN0001"),
    "no serial": ("serial", lambda host: setattr(host, "serial", ""), "not readable"),
    "a module is missing": ("memory", lambda host: host.write("proc/meminfo", "MemTotal: 469762048 kB"), "448 GiB"),
    "a drive is missing": ("drives", lambda host: host.drives.pop(0), "1 data drives, planned are 2"),
    "a drive is smaller": ("drives", lambda host: host.drives[0].update(size=3840 * 10**9), "3840 GB"),
    "another drive": ("drives", lambda host: host.drives[1].update(serial="OTHER"), "DATA1, OTHER"),
    "two of a serial": ("drives", lambda host: host.drives[1].update(serial="DATA0"), "a serial number of its own"),
    "a file system": ("signatures", lambda host: host.drives[1].update(fstype="xfs"), "nvme1n1 (DATA1) holds xfs"),
    "a partition": ("signatures", lambda host: host.drives[1].update(children=[{}]), "holds a partition"),
    "a write cache": (
        "write-cache",
        lambda host: host.cache.update({"1": "get-feature:0x06 (Volatile Write Cache), Current value:0x00000001"}),
        "nvme1n1 has its volatile write cache on",
    ),
    "a silent write cache": (
        "write-cache",
        lambda host: host.silent("vwc       : 0x7"),
        "nvme1n1 has its volatile write cache on",
    ),
    "another adapter": (
        "macs",
        lambda host: host.write("sys/class/net/ens1f0/address", "02:00:00:00:00:ac"),
        "storage1p0",
    ),
    "not installed": ("installed", lambda host: host.write("etc/kvplan/installed", ""), "kvplan did not install it"),
    "installed as another": (
        "installed",
        lambda host: host.write("etc/kvplan/installed", "name=storage-002\nserial=SN0001"),
        "installed as storage-002",
    ),
    "another system": ("os", lambda host: host.write("etc/os-release", 'ID="rhel"\nVERSION_ID="9.4"'), "rhel 9.4"),
    "another kernel": ("kernel", lambda host: host.planned.update(kv_kernel="5.14.0-0"), "planned is 5.14.0-0"),
    "two hours behind": ("clock", lambda host: host.planned.update(told=1000.0 - 7200), "7200 s behind"),
    "two hours ahead": ("clock", lambda host: host.planned.update(told=1002.0 + 7200), "7200 s ahead"),
    "a full disk": ("space", lambda host: host.planned.update(var_gb=10**9), "needed are 1000000000"),
    "a taken port": ("ports", lambda host: host.write("proc/net/tcp6", "head\n 0: 0:04A7 0:0 0A\n"), "port 1191"),
    "a slow link": ("speed", lambda host: host.write("sys/class/net/ens1f0/speed", "200000"), "runs at 200 Gbit/s"),
    "no link": ("speed", lambda host: host.write("sys/class/net/ens1f0/speed", "-1"), "no speed at all"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_by_its_check_alone_and_has_a_remedy(host: Host, fault: str) -> None:
    check, plant, words = FAULTS[fault]
    plant(host)

    result = host.look()

    assert result["failed"]
    assert {row["check"] for row in result["findings"]} == {check}
    assert words in result["msg"]
    assert result["remedy"] == result["findings"][0]["remedy"] != ""
    others = [name for name in module(MODULE).CHECKS if name != check]
    assert not host.look(*others)["failed"]


def test_everything_that_differs_is_told_at_once(host: Host) -> None:
    host.serial = "SN0002"
    host.drives[0]["fstype"] = "ext4"
    host.planned["var_gb"] = 10**9

    assert [row["check"] for row in host.look()["findings"]] == ["serial", "signatures", "space"]


def test_members_of_a_cluster_keep_their_drives_and_ports(host: Host) -> None:
    host.write("var/mmfs/gen/mmsdrfs", "%%home%%")
    host.write("proc/2/comm", "mmfsd")
    host.write("proc/net/tcp6", "head\n 0: 0:04A7 0:0 0A\n")
    host.drives[0]["pttype"] = "gpt"

    assert not host.look()["failed"]


def test_a_member_of_a_bond_is_known_by_its_own_address(host: Host) -> None:
    host.write("sys/class/net/ens1f0/address", "02:00:00:00:00:ff")
    host.burnt = "Permanent address: 02:00:00:00:00:AB"

    assert not host.look("macs")["failed"]


def test_every_check_of_the_role_is_one_of_the_module() -> None:
    import yaml  # noqa: PLC0415 - here alone

    held = yaml.safe_load((ROLES / "preflight/vars/main.yml").read_text())
    tables = (held["preflight_hardware"], held["preflight_system"], held["preflight_later"])
    used = {check for table in tables for checks in table.values() for check in checks}

    assert used == set(module(MODULE).CHECKS)


def test_a_slow_answer_is_no_wrong_clock(host: Host) -> None:
    host.planned.update(asked=1000.0, told=1030.0, heard=1090.0)

    assert host.look("clock")["findings"] == []
