"""What the operating system shows of the drives: lsblk and nvme, as far as modules ask for it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kvplan.twin.scale.shell import Shell, command

if TYPE_CHECKING:
    from kvplan.twin.scale.doc import Doc


@command("lsblk")
def lsblk(shell: Shell, _: list[str]) -> None:
    """List drives as JSON; what a recovery group wrote is no signature that lsblk knows."""
    devices = [
        {
            "path": drive["device"],
            "serial": drive["serial"],
            "size": drive["size_gb"] * 10**9,
            "type": "disk",
            "fstype": None if drive["signature"].startswith("pdisk") else drive["signature"] or None,
            "pttype": None,
            "mountpoint": None,
        }
        for drive in shell.machine["drives"]
    ]
    devices += [_system(drive) for drive in shell.machine["boot_drives"]]
    shell.say(json.dumps({"blockdevices": devices}))


def _system(drive: Doc) -> Doc:
    """Return a drive that the system is installed on."""
    size = drive["size_gb"] * 10**9
    mirror = {"path": "/dev/md127", "serial": None, "size": size, "type": "raid1", "fstype": "xfs", "pttype": None,
              "mountpoint": "/"}  # fmt: skip
    member = {"path": f"{drive['device']}p1", "serial": None, "size": size, "type": "part",
              "fstype": "linux_raid_member", "pttype": "gpt", "mountpoint": None, "children": [mirror]}  # fmt: skip
    return {"path": drive["device"], "serial": drive["serial"], "size": size, "type": "disk", "fstype": None,
            "pttype": "gpt", "mountpoint": None, "children": [member]}  # fmt: skip


@command("nvme")
def nvme(shell: Shell, words: list[str]) -> None:
    """Show the feature of the volatile write cache, or switch it."""
    drive = next((each for each in shell.machine["drives"] if each["device"] in words), None)
    if drive is None or words[0] not in ("get-feature", "set-feature"):
        shell.refuse(f"{' '.join(words)}: No such file or directory")
    if words[0] == "set-feature":
        drive["write_cache"] = words[words.index("-v") + 1] != "0"
    shell.say(f"get-feature:0x06 (Volatile Write Cache), Current value:{int(drive['write_cache']):#010x}")
