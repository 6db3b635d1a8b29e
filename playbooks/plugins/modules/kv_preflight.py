"""Ansible module: compare a host with what the plan says of it, and change nothing."""
# ruff: noqa: INP001

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
---
module: kv_preflight
short_description: Compare a host with what the plan says of it
description:
  - Reads serial number, operating system, kernel, clock, drives, memory, ports and space, and changes nothing.
  - Fails with everything that differs, and what to do about it; what cannot be read differs too.
version_added: "0.1.0"
author: The kvplan developers (@kvplan)
options:
  checks:
    description: What is compared.
    type: list
    elements: str
    choices: [serial, memory, drives, signatures, write-cache, macs, installed, os, kernel, clock, space, ports, speed]
    required: true
  planned:
    description: What the plan says, by the names of the inventory's variables, and the limits that a comparison needs.
    type: dict
    required: true
  root:
    description: Where files of the system are read from.
    type: path
    default: /
attributes:
  check_mode:
    description: Reads as ever.
    support: full
  diff_mode:
    description: Changes nothing, and so has nothing to show.
    support: none
"""

EXAMPLES = r"""
- name: See that the machine is the planned one
  kv_preflight:
    checks: [serial, clock]
    planned:
      kv_serial: SN0001
      asked: 1800000000
      told: 1800000001.5
      heard: 1800000002
      clock_s: 15
"""

RETURN = r"""
installed:
  description: Whether kvplan installed this host, as the one that the plan says.
  returned: always
  type: bool
clock:
  description: The clock of the host; a later run with C(clock) among O(checks) needs it as C(told).
  returned: always
  type: float
asked:
  description: C(asked) as it was given, which goes with C(clock).
  returned: always
  type: float
findings:
  description: What differs, each with C(check), C(found) and C(remedy).
  returned: always
  type: list
  elements: dict
remedy:
  description: What to do about the first thing that differs.
  returned: failure
  type: str
"""

GIB = 1 << 30
GB = 10**9
LISTENING = "0A"
VOLATILE = r"(?m)^vwc\s*:\s*(?:0x)?0*([1-9a-f])"
OWNERS = ("mmfsd", "mmsdrserv")
CLUSTER = "var/mmfs/gen/mmsdrfs"
LSBLK = ("lsblk", "--json", "--bytes", "--output", "PATH,SERIAL,SIZE,TYPE,FSTYPE,PTTYPE,MOUNTPOINT")


class Host:
    """The host that is looked at."""

    def __init__(self, module: AnsibleModule) -> None:
        self.module = module
        self.root = Path(module.params["root"])
        self.planned: dict[str, Any] = module.params["planned"]

    def text(self, path: str) -> str:
        """Read a file of the system; empty where there is none."""
        try:
            return (self.root / path).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return ""

    def said(self, *argv: str) -> str:
        """Return what a command says; empty where it fails or is missing."""
        if not self.module.get_bin_path(argv[0], opt_dirs=["/usr/sbin", "/sbin"]):
            return ""
        code, out, _ = self.module.run_command(list(argv), environ_update={"LC_ALL": "C"})
        return str(out).strip() if code == 0 else ""

    def pairs(self, path: str) -> dict[str, str]:
        """Read a file of lines KEY=VALUE."""
        lines = (line.partition("=") for line in self.text(path).splitlines())
        return {key: value.strip('"') for key, _, value in lines}

    def installed(self) -> bool:
        """Tell whether kvplan installed this host as the planned one."""
        mark = self.pairs("etc/kvplan/installed")
        return (mark.get("name"), mark.get("serial")) == (self.planned.get("kv_name"), self.planned.get("kv_serial"))

    def drives(self) -> list[dict[str, Any]]:
        """List the data drives: neither those of the boot mirror, nor what a controller shows as a small drive."""
        found = json.loads(self.said(*LSBLK) or '{"blockdevices": []}')["blockdevices"]
        boot = {*self.planned["kv_boot_serials"]}
        half = self.planned["kv_data_drives"]["size_gb"] * GB / 2
        return [
            drive
            for drive in found
            if drive["type"] == "disk"
            and str(drive.get("serial") or "").strip() not in boot
            and (drive["path"].startswith("/dev/nvme") or int(drive["size"]) > half)
        ]

    def interfaces(self) -> dict[str, str]:
        """Return interfaces by MAC address; a port has the name of the plan or another one."""
        base = self.root / "sys/class/net"
        names = sorted(entry.name for entry in base.iterdir()) if base.is_dir() else []
        found = {self.text(f"sys/class/net/{name}/address").lower(): name for name in names if name != "lo"}
        # a bond gives its members one address; a driver tells the one that was burnt in
        for name in names:
            if burnt := re.search(r"[0-9a-f:]{17}$", self.said("ethtool", "-P", name).lower()):
                found[burnt.group()] = name
        return found

    def ports(self) -> list[dict[str, Any]]:
        """List the planned ports."""
        return [*self.planned["kv_management_ports"], *self.planned["kv_fabric_ports"]]


def serial(host: Host):  # noqa: ANN201
    """Compare the serial number of the machine."""
    found = host.said("dmidecode", "-s", "system-serial-number").splitlines()
    found = found[-1].strip() if found else ""
    if found != host.planned["kv_serial"]:
        yield (
            f"its serial number is {found or 'not readable'}, planned is {host.planned['kv_serial']}",
            "see which machine has this address; exchange the rows of the Site if two were mixed up",
        )


def memory(host: Host):  # noqa: ANN201
    """Compare memory; the kernel keeps a little of it for itself."""
    match = re.search(r"MemTotal:\s+(\d+) kB", host.text("proc/meminfo"))
    found = int(match.group(1)) * 1024 if match else 0
    least = host.planned["memory_gib"] * GIB * host.planned["memory_share"]
    if found < least:
        yield (
            f"it has {found / GIB:.0f} GiB of memory, planned are {host.planned['memory_gib']} GiB",
            "seat or replace the modules that the controller reports as missing",
        )


def drives(host: Host):  # noqa: ANN201
    """Compare number, sizes and serial numbers of the data drives."""
    planned, found = host.planned["kv_data_drives"], host.drives()
    if len(found) != planned["count"]:
        yield f"it has {len(found)} data drives, planned are {planned['count']}", "seat or replace the missing drives"
    for drive in found:
        if abs(int(drive["size"]) - planned["size_gb"] * GB) > planned["size_gb"] * GB * host.planned["size_share"]:
            size = int(drive["size"]) / GB
            yield f"{drive['path']} has {size:.0f} GB, planned are {planned['size_gb']} GB", "replace the drive"
    serials = sorted(str(drive.get("serial") or "").strip() for drive in found)
    if len(set(serials)) != len(serials) or "" in serials:
        yield "not every data drive has a serial number of its own", "see lsblk --output NAME,SERIAL"
    if planned["serials"] and (strange := sorted(set(serials) ^ set(planned["serials"]))):
        yield (
            f"drives that are here or planned, but not both: {', '.join(strange)}",
            "put the drives where the Site has them, or correct data_drives.serials",
        )


def signatures(host: Host):  # noqa: ANN201
    """See that nothing lies on the data drives; those of a member of a cluster are not looked at here."""
    if host.text(CLUSTER):
        return
    for drive in host.drives():
        marks = [drive.get(key) for key in ("fstype", "pttype", "mountpoint")]
        marks += ["a partition"] if drive.get("children") else []
        if signs := [str(mark) for mark in marks if mark]:
            yield (
                f"{drive['path']} ({drive.get('serial')}) holds {', '.join(signs)}",
                f"if nothing on it is needed: wipefs --all {drive['path']}",
            )


def write_cache(host: Host):  # noqa: ANN201
    """See that no data drive keeps written data in volatile memory."""
    for drive in host.drives():
        if not drive["path"].startswith("/dev/nvme"):
            continue
        said = host.said("nvme", "get-feature", drive["path"], "-f", "6")
        match = re.search(r"(?i)current value\s*:\s*(?:0x)?([0-9a-f]+)", said)
        # a drive without such a cache does not know the feature; one whose identity says so may be silent
        if int(match.group(1), 16) if match else re.search(VOLATILE, host.said("nvme", "id-ctrl", drive["path"])):
            yield (
                f"{drive['path']} has its volatile write cache on",
                f"nvme set-feature {drive['path']} -f 6 -v 0 --save",
            )


def macs(host: Host):  # noqa: ANN201
    """See that each planned port is there."""
    found = host.interfaces()
    if missing := [f"{port['name']} ({port['mac']})" for port in host.ports() if port["mac"].lower() not in found]:
        yield (
            f"there is no port for {', '.join(missing)}",
            "compare MAC addresses of the Site with ip link; an adapter in DPU mode hides its ports",
        )


def speed(host: Host):  # noqa: ANN201
    """Compare the speed of the links on the fabric; a port that is missing is another check's finding."""
    found = host.interfaces()
    for port in host.planned["kv_fabric_ports"]:
        name = found.get(port["mac"].lower())
        if name is None:
            continue
        text = host.text(f"sys/class/net/{name}/speed")
        rate = int(text) / 1000 if text.lstrip("-").isdigit() and int(text) > 0 else 0
        if rate < port["speed_gbit_per_s"]:
            found_rate = f"{rate:g} Gbit/s" if rate else "no speed at all"
            yield (
                f"{port['name']} runs at {found_rate}, planned are {port['speed_gbit_per_s']} Gbit/s",
                f"see cable and transceiver to {port['switch']} {port['switch_port']}, and how that port is split",
            )


def installed(host: Host):  # noqa: ANN201
    """See that kvplan installed the host, as this one."""
    if not host.installed():
        mark = host.pairs("etc/kvplan/installed")
        yield (
            f"it is installed as {mark['name']}" if "name" in mark else "kvplan did not install it",
            "run the phase provision on it",
        )


def system(host: Host):  # noqa: ANN201
    """Compare the operating system."""
    release = host.pairs("etc/os-release")
    found = f"{release.get('ID')} {release.get('VERSION_ID')}"
    planned = f"{host.planned['kv_os']} {host.planned['kv_os_version']}"
    if found != planned:
        yield f"it runs {found}, planned is {planned}", "run the phase provision on it"


def kernel(host: Host):  # noqa: ANN201
    """Compare the running kernel."""
    found = host.said("uname", "-r")
    if not found.startswith(host.planned["kv_kernel"]):
        yield f"its kernel is {found}, planned is {host.planned['kv_kernel']}", "run the phase base on it"


def clock(host: Host):  # noqa: ANN201
    """Compare the clock, as an earlier run told it, with the time before that run was asked and after it was heard."""
    told = host.planned["told"]
    apart = max(host.planned["asked"] - told, told - host.planned["heard"])
    if apart > host.planned["clock_s"]:
        yield (
            f"its clock is {apart:.0f} s {'ahead' if told > host.planned['heard'] else 'behind'}",
            "see that it and this control node reach the time servers of the Site: chronyc sources",
        )


def space(host: Host):  # noqa: ANN201
    """See that /var has space."""
    state = os.statvfs(host.root / "var")
    free = state.f_bavail * state.f_frsize / GB
    if free < host.planned["var_gb"]:
        yield f"/var has {free:.1f} GB free, needed are {host.planned['var_gb']}", "make room: du --max-depth=2 /var"


def ports_free(host: Host):  # noqa: ANN201
    """See that nobody else listens where Storage Scale will."""
    commands = {
        host.text(f"proc/{entry.name}/comm") for entry in (host.root / "proc").iterdir() if entry.name.isdigit()
    }
    if commands & set(OWNERS):
        return
    rows = [line.split() for kind in ("tcp", "tcp6") for line in host.text(f"proc/net/{kind}").splitlines()[1:]]
    taken = {int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == LISTENING}
    for port in sorted(taken & set(host.planned["ports"])):
        yield f"something listens on port {port}, which Storage Scale needs", f"see what it is: ss --listening {port}"


CHECKS = {
    "serial": serial,
    "memory": memory,
    "drives": drives,
    "signatures": signatures,
    "write-cache": write_cache,
    "macs": macs,
    "installed": installed,
    "os": system,
    "kernel": kernel,
    "clock": clock,
    "space": space,
    "ports": ports_free,
    "speed": speed,
}


def main() -> None:
    """Run as a module."""
    module = AnsibleModule(
        argument_spec={
            "checks": {"type": "list", "elements": "str", "choices": list(CHECKS), "required": True},
            "planned": {"type": "dict", "required": True},
            "root": {"type": "path", "default": "/"},
        },
        supports_check_mode=True,
    )
    host = Host(module)
    findings = [
        {"check": check, "found": found, "remedy": remedy}
        for check in module.params["checks"]
        for found, remedy in CHECKS[check](host)
    ]
    told = {"installed": host.installed(), "findings": findings, "changed": False}
    told |= {"asked": module.params["planned"].get("asked"), "clock": time.time()}
    if findings:
        module.fail_json(msg="; ".join(row["found"] for row in findings), remedy=findings[0]["remedy"], **told)
    module.exit_json(**told)


if __name__ == "__main__":
    main()
