"""The drives of this node, before a recovery group takes them."""
# ruff: noqa: INP001

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ansible.module_utils.mm_task import Task

_COLUMNS = "PATH,SERIAL,SIZE,TYPE,FSTYPE,PTTYPE,MOUNTPOINT"
_WRITE_CACHE = re.compile(r"[Cc]urrent value:\s*(?:0x)?([0-9a-fA-F]+)")


def data_drives(task: Task, serials: Sequence[str]) -> list[dict[str, Any]]:
    """Return the drives that a recovery group would take.

    Parameters
    ----------
    task
        The module.
    serials
        Those of the plan; without them all NVMe drives that hold nothing mounted.

    Returns
    -------
    list of dict
        As lsblk shows them.
    """
    text = task.read("lsblk", "--json", "--bytes", "--output", _COLUMNS) or "{}"
    disks = [each for each in json.loads(text).get("blockdevices", []) if each.get("type") == "disk"]
    if serials:
        return [disk for disk in disks if (disk.get("serial") or "").strip() in serials]
    return [disk for disk in disks if disk["path"].startswith("/dev/nvme") and not _mounted(disk)]


def _mounted(device: dict[str, Any]) -> bool:
    """Whether a drive or something on it is mounted."""
    return bool(device.get("mountpoint")) or any(_mounted(child) for child in device.get("children", []))


def wrong_with(
    task: Task, drives: Sequence[dict[str, Any]], count: int, serials: Sequence[str], *, in_use: bool
) -> list[str]:
    """Return what speaks against the drives.

    Parameters
    ----------
    task
        The module.
    drives
        As lsblk shows them.
    count
        How many there must be.
    serials
        Those of the plan.
    in_use
        Whether a recovery group has them already, so that what is on them is its own.

    Returns
    -------
    list of str
        One sentence each.
    """
    found = []
    if len(drives) != count:
        missing = sorted(set(serials) - {(drive.get("serial") or "").strip() for drive in drives})
        names = f"; missing: {', '.join(missing)}" if missing else ""
        found.append(f"{len(drives)} drives are found, {count} are planned{names}")
    for drive in drives:
        label = f"{drive['path']} (serial {(drive.get('serial') or 'unknown').strip()})"
        held = drive.get("fstype") or drive.get("pttype")
        if held and not in_use:
            found.append(f"Disk {label} is already in use: {held} found")
        if drive.get("children") and not in_use:
            found.append(f"Disk {label} is already in use: it has partitions")
        said = task.read("nvme", "get-feature", drive["path"], "-f", "6", absent="INVALID_FIELD|not supported") or ""
        value = _WRITE_CACHE.search(said)
        if value and int(value.group(1), 16) & 1:
            found.append(f"Volatile write cache is enabled on disk {label}")
    return found
