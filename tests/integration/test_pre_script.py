"""The %pre script of a Kickstart file in a machine with UEFI and NVMe drives in an order that nobody would expect."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from initial_systems import initial_system
from install_trees import STORAGE, servers_with, tree_of_deployment
from sites import deployment_with

from kvplan.twin.bmc.qemu import FIRMWARE, VARIABLES

pytestmark = pytest.mark.slow

BOOT_A, BOOT_B, LARGE, ABSENT = "BOOTS0001A", "BOOTS0001B", "DATAS0001C", "BOOTS0001X"
DRIVES_GB = {"DATAS0001A": 7_680, BOOT_B: 480, LARGE: 7_680, BOOT_A: 480, "DATAS0001D": 480}
"""Serial numbers and sizes in the order in which the kernel names the drives."""
CASES = {"right": [BOOT_A, BOOT_B], "absent": [BOOT_A, ABSENT], "large": [LARGE, BOOT_B]}
TOOLS = ("qemu-system-x86_64", "qemu-img", "busybox", "bash-static")
WITHIN_S = 180
INIT = """
for name in /sys/block/nvme*; do
    echo "drive ${name##*/} $(< "$name/device/serial")"
done
for case in right absent large; do
    echo "begin $case"
    bash "/$case.sh"
    echo "status $?"
    [ ! -e /tmp/kvplan-drives.ks ] || busybox cat /tmp/kvplan-drives.ks
    busybox rm -f /tmp/kvplan-drives.ks
    echo "end $case"
done
busybox poweroff -f
"""


class Run(NamedTuple):
    """What one run of the script did: its exit status, and the lines that it left or complained with."""

    status: int
    lines: tuple[str, ...]


def kernel() -> Path | None:
    """Return the newest kernel that has NVMe built in."""
    for path in sorted(Path("/boot").glob("vmlinuz-*"), reverse=True):
        config = path.with_name(path.name.replace("vmlinuz", "config"))
        if config.is_file() and "\nCONFIG_BLK_DEV_NVME=y\n" in config.read_text(encoding="utf-8"):
            return path
    return None


def lacking() -> list[str]:
    """List what this machine lacks for the test."""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    missing += [str(path) for path in (FIRMWARE, VARIABLES) if not path.is_file()]
    return missing if kernel() else [*missing, "a kernel in /boot with NVMe built in"]


def script_for(serials: list[str]) -> str:
    """Return the %pre script of a storage node whose boot drives have these serial numbers."""
    servers = servers_with("storage-001", boot_drives={"serials": serials})
    text = tree_of_deployment(deployment_with(8, servers=servers))[STORAGE]
    found = re.search(r"^%pre [^\n]*\n(.*?)^%end$", text, re.MULTILINE | re.DOTALL)
    assert found
    return found[1]


def drive_options(folder: Path) -> list[str]:
    """Make sparse drives, and return the options that put them into the machine."""
    options = []
    for serial, size_gb in DRIVES_GB.items():
        image = folder / f"{serial}.qcow2"
        subprocess.run(
            ["qemu-img", "create", "-q", "-f", "qcow2", str(image), str(size_gb * 10**9)], check=True, timeout=WITHIN_S
        )
        options += ["-drive", f"if=none,id={serial},file={image},format=qcow2"]
        options += ["-device", f"nvme,drive={serial},serial={serial}"]
    return options


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Start the machine once, and return what it wrote on its serial console."""
    if missing := lacking():
        pytest.skip(f"needs {', '.join(missing)}")
    folder = tmp_path_factory.mktemp("machine")
    shutil.copy(VARIABLES, folder / "variables.fd")
    scripts = {f"{case}.sh": script_for(serials) for case, serials in CASES.items()}
    command: list[Any] = [
        "qemu-system-x86_64", "-machine", "q35,accel=tcg", "-cpu", "max", "-smp", "1", "-m", "512", "-nic", "none",
        "-display", "none", "-monitor", "none", "-serial", f"file:{folder / 'serial'}", "-no-reboot",
        "-drive", f"if=pflash,format=raw,readonly=on,file={FIRMWARE}",
        "-drive", f"if=pflash,format=raw,file={folder / 'variables.fd'}",
        "-kernel", kernel(), "-initrd", initial_system(folder, INIT, scripts),
        "-append", "console=ttyS0 quiet panic=-1",
        *drive_options(folder),
    ]  # fmt: skip
    subprocess.run(command, check=True, timeout=WITHIN_S, capture_output=True)
    return (folder / "serial").read_text(encoding="utf-8", errors="replace").replace("\r", "")


def run_of(console: str, case: str) -> Run:
    """Cut one run of the script out of what was written."""
    found = re.search(rf"^begin {case}\n(.*?)^status (\d+)\n(.*?)^end {case}$", console, re.MULTILINE | re.DOTALL)
    assert found, console
    return Run(int(found[2]), (*found[1].splitlines(), *found[3].splitlines()))


def test_the_machine_has_uefi_and_drives_in_another_order(console: str) -> None:
    assert "firmware UEFI" in console
    named = dict(re.findall(r"^drive (\w+) (\S+) *$", console, re.MULTILINE))
    assert {name: named[name] for name in sorted(named)} == {
        f"nvme{index}n1": serial for index, serial in enumerate(DRIVES_GB)
    }


def test_the_right_drives_are_picked(console: str) -> None:
    run = run_of(console, "right")
    assert run.status == 0
    assert "ignoredisk --only-use=nvme3n1,nvme1n1" in run.lines
    assert "clearpart --all --initlabel --disklabel=gpt --drives=nvme3n1,nvme1n1" in run.lines
    assert set(re.findall(r"nvme\d+n\d+", "\n".join(run.lines))) == {"nvme3n1", "nvme1n1"}


def test_an_absent_drive_is_refused(console: str) -> None:
    assert run_of(console, "absent") == Run(1, (f"kvplan: serial {ABSENT} matched 0 drives, must match one",))


def test_a_drive_of_the_wrong_size_is_refused(console: str) -> None:
    message = f"kvplan: nvme2n1 with serial {LARGE} has 7680 GB, outside 400 to 1000 GB"
    assert run_of(console, "large") == Run(1, (message,))
