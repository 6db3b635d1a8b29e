"""Create, link and bound a fileset."""
# ruff: noqa: INP001

from __future__ import annotations

from typing import TYPE_CHECKING

from ansible.module_utils.mm import MmError, size_bytes
from ansible.module_utils.mm_task import run

if TYPE_CHECKING:
    from ansible.module_utils.mm_task import Task

DOCUMENTATION = r"""
module: mm_fileset
short_description: Create, link and bound a fileset
description:
  - Creates an independent fileset with an inode limit, links it, and sets its block quota.
  - Limits that the file system rounded up count as equal.
options:
  file_system:
    description: Device name; it must be mounted on this node.
    type: str
    required: true
  name:
    description: Name of the fileset.
    type: str
    required: true
  path:
    description: Where it is linked.
    type: path
    required: true
  inode_limit:
    description: Largest number of inodes.
    type: int
    required: true
  preallocated_inodes:
    description: Inodes that are made at once.
    type: int
    required: true
  soft_quota:
    description: Such as C(220654G).
    type: str
  hard_quota:
    description: Such as C(259594G).
    type: str
author:
  - The kvplan developers
attributes:
  check_mode:
    description: Reads as ever, runs nothing that changes, and says what it would run.
    support: full
  diff_mode:
    description: Shows what was read and what is wanted.
    support: full
"""

EXAMPLES = r"""
- name: Create the cache fileset
  mm_fileset:
    file_system: kvfs
    name: kvcache
    path: /kvfs/kvcache
    inode_limit: 39221312
    preallocated_inodes: 1000000
    soft_quota: 220654G
    hard_quota: 259594G
"""

RETURN = r"""
commands:
  description: What was run to change something, or would have been in check mode.
  returned: always
  type: list
  elements: str
"""

SPEC = {
    "file_system": {"type": "str", "required": True},
    "name": {"type": "str", "required": True},
    "path": {"type": "path", "required": True},
    "inode_limit": {"type": "int", "required": True},
    "preallocated_inodes": {"type": "int", "required": True},
    "soft_quota": {"type": "str"},
    "hard_quota": {"type": "str"},
}
ROUNDING = 1 << 16
"""Inodes by which a file system may round a limit up."""
NONE = "6027-2682|does not exist"


def work(task: Task) -> None:
    """Create, link, bound."""
    device, name, limit = task["file_system"], task["name"], task["inode_limit"]
    columns = {"filesetName": str, "status": str, "path": str, "maxInodes": int, "allocInodes": int}
    found = task.rows(["mmlsfileset", device, name, "-L", "-Y"], "", columns, absent=NONE)
    held = found[0] if found else None
    task.before = dict(held or {})
    task.after = {"filesetName": name, "status": "Linked", "path": task["path"], "maxInodes": limit}
    inodes = f"{limit}:{task['preallocated_inodes']}"
    if held is None:
        task.change("mmcrfileset", device, name, "--inode-space", "new", "--inode-limit", inodes)
    elif not limit <= held["maxInodes"] <= limit + ROUNDING:
        task.change("mmchfileset", device, name, "--inode-limit", str(limit))
    if held is None or held["status"] != "Linked":
        task.change("mmlinkfileset", device, name, "-J", task["path"])
    elif held["path"] != task["path"]:
        message = f"Fileset {name} is linked at {held['path']}, not {task['path']}: unlink it first"
        raise MmError(message)
    if task["hard_quota"]:
        _quota(task)
    task.end()


def _quota(task: Task) -> None:
    """Set the quota if it differs."""
    columns = {"blockQuota": int, "blockLimit": int}
    listing = ["mmlsquota", "-j", task["name"], task["file_system"], "-Y"]
    found = task.rows(listing, "", columns, absent=NONE)
    soft, hard = task["soft_quota"] or task["hard_quota"], task["hard_quota"]
    wanted = {"blockQuota": size_bytes(soft) >> 10, "blockLimit": size_bytes(hard) >> 10}
    held = found[0] if found else {}
    task.before.update(held)
    task.after.update(wanted)
    if held != wanted:
        task.change("mmsetquota", f"{task['file_system']}:{task['name']}", "--block", f"{soft}:{hard}")


def main() -> None:
    """Run the module."""
    run(work, SPEC)


if __name__ == "__main__":
    main()
