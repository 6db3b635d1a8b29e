"""The functions that find boot drives, run by bash over trees that look like /sys/block."""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING

import pytest
import yaml
from install_trees import GPU, STORAGE, installer_tree

from kvplan.site.templating import rendered

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Drives = dict[str, tuple[str, int]]
    Run = Callable[[Drives, str], subprocess.CompletedProcess[str]]

FOUND: Drives = {
    "nvme0n1": ("DATA0", 7_680),
    "nvme1n1": ("BOOTS0001A", 480),
    "nvme2n1": ("DATA1", 7_680),
    "nvme3n1": ("BOOTS0001B", 480),
}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Give a way to run a script where there are drives with serial numbers, padded with blanks, and sizes [GB]."""

    def run_with(drives: Drives, script: str) -> subprocess.CompletedProcess[str]:
        block = tmp_path / "block"
        for name, (serial, size_gb) in drives.items():
            (block / name / "device").mkdir(parents=True)
            (block / name / "device" / "serial").write_text(f"{serial:<20}\n", encoding="utf-8")
            (block / name / "size").write_text(f"{size_gb * 10**9 // 512}\n", encoding="utf-8")
        for tool in ("udevadm", "lsblk"):
            (tmp_path / tool).write_text(TOOLS[tool].replace("BLOCK", str(block)), encoding="utf-8")
            (tmp_path / tool).chmod(0o755)
        script = script.replace("/sys/block", str(block)).replace("/tmp/kvplan-", f"{tmp_path}/kvplan-")  # noqa: S108
        environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
        return subprocess.run(
            ["bash", "-c", script], capture_output=True, text=True, check=False, env=environment, cwd=tmp_path
        )

    return run_with


TOOLS = {
    # udev writes the model before the serial number, and the namespace after it
    "udevadm": "#!/bin/bash\n[ $1 = settle ] || echo \"MODEL_$(tr -d ' \\n' < BLOCK/${!#//*\\//}/device/serial)_1\"\n",
    "lsblk": "#!/bin/bash\nname=${!#}; cat BLOCK/${name##*/}/lsblk\n",
}


def pre_script() -> str:
    """Return the %pre script of a storage node."""
    found = re.search(r"^%pre [^\n]*\n(.*?)^%end$", installer_tree()[STORAGE], re.MULTILINE | re.DOTALL)
    assert found
    return found[1]


def early_command() -> str:
    """Return the guard of a GPU server."""
    data = yaml.safe_load(installer_tree()[GPU])
    script: str = data["autoinstall"]["early-commands"][0][-1]
    return script


def test_the_drives_with_the_serials_are_written_down(run: Run, tmp_path: Path) -> None:
    assert run(FOUND, pre_script()).returncode == 0
    lines = (tmp_path / "kvplan-drives.ks").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "ignoredisk --only-use=nvme1n1,nvme3n1"
    assert "clearpart --all --initlabel --disklabel=gpt --drives=nvme1n1,nvme3n1" in lines
    assert not any("nvme0n1" in line or "nvme2n1" in line or "$" in line for line in lines)


def test_partitions_paths_of_multipath_and_other_devices_are_passed_over(run: Run, tmp_path: Path) -> None:
    others = ("nvme1c0n1", "nvme1n1p1", "sda1", "loop0", "sr0", "md0", "dm-0")
    drives = {**FOUND, **dict.fromkeys(others, ("BOOTS0001A", 480))}
    assert run(drives, pre_script()).returncode == 0
    assert "--only-use=nvme1n1,nvme3n1" in (tmp_path / "kvplan-drives.ks").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"nvme1n1": ("OTHER", 480)}, "serial BOOTS0001A matched 0 drives, must match one"),
        ({"nvme1n1": ("BOOTS0001A2", 480)}, "serial BOOTS0001A matched 0 drives, must match one"),
        ({"sda": ("BOOTS0001B", 480)}, "serial BOOTS0001B matched 2 drives, must match one"),
        ({"nvme3n1": ("BOOTS0001B", 7_680)}, "nvme3n1 with serial BOOTS0001B has 7680 GB, outside 400 to 1000 GB"),
        ({"nvme1n1": ("BOOTS0001A", 240)}, "nvme1n1 with serial BOOTS0001A has 240 GB, outside 400 to 1000 GB"),
    ],
)
def test_any_doubt_ends_the_installation(run: Run, tmp_path: Path, changes: Drives, message: str) -> None:
    done = run({**FOUND, **changes}, pre_script())
    assert done.returncode != 0
    assert message in done.stderr
    assert not (tmp_path / "kvplan-drives.ks").exists()


def test_one_drive_twice_is_refused(run: Run) -> None:
    functions = rendered("install/find-drives.sh")
    done = run(FOUND, f"set -eu\n{functions}\ntwo_drives nvme1n1 nvme1n1\necho on")
    assert (done.returncode, done.stdout) == (1, "")
    assert "both serials belong to nvme1n1" in done.stderr


def test_a_serial_that_the_kernel_does_not_show_is_asked_of_lsblk(run: Run, tmp_path: Path) -> None:
    (tmp_path / "block" / "sda").mkdir(parents=True)
    (tmp_path / "block" / "sda" / "lsblk").write_text("  SATA0001  \n", encoding="utf-8")
    (tmp_path / "block" / "sda" / "size").write_text("937500000\n", encoding="utf-8")
    done = run({}, f"set -euo pipefail\n{rendered('install/find-drives.sh')}\nboot_drive SATA0001 400 1000")
    assert (done.returncode, done.stdout) == (0, "sda\n"), done.stderr


def test_the_guard_of_ubuntu_lets_the_right_drives_pass(run: Run) -> None:
    drives = {"nvme0n1": ("DATA0", 7_680), "nvme1n1": ("BOOTC0001A", 480), "nvme2n1": ("BOOTC0001B", 480)}
    done = run(drives, early_command())
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"nvme0n1": ("XBOOTC0001A", 7_680)}, "the pattern for serial BOOTC0001A also matches nvme0n1"),
        ({"nvme2n1": ("GONE", 480)}, "serial BOOTC0001B matched 0 drives"),
        ({"nvme2n1": ("BOOTC0001B", 7_680)}, "outside 400 to 1000 GB"),
    ],
)
def test_the_guard_of_ubuntu_refuses(run: Run, changes: Drives, message: str) -> None:
    drives = {"nvme0n1": ("DATA0", 7_680), "nvme1n1": ("BOOTC0001A", 480), "nvme2n1": ("BOOTC0001B", 480)}
    done = run({**drives, **changes}, early_command())
    assert done.returncode != 0
    assert message in done.stderr


def test_the_guard_of_ubuntu_refuses_what_the_installer_would_not_match(run: Run) -> None:
    drives = {"nvme1n1": ("BOOTC0001A", 480), "nvme2n1": ("BOOTC0001B", 480)}
    script = early_command().replace("--property=ID_SERIAL --value", "--property=ID_SERIAL --value /dev/nvme2n1; :")
    done = run(drives, script)
    assert "the pattern for serial BOOTC0001A does not match nvme1n1" in done.stderr
