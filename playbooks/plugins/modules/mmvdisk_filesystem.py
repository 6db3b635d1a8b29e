"""Create a file system of vdisk sets."""
# ruff: noqa: INP001

from __future__ import annotations

from typing import TYPE_CHECKING

from ansible.module_utils.mm import MmError, same_value
from ansible.module_utils.mm_task import run

if TYPE_CHECKING:
    from ansible.module_utils.mm_task import Task

DOCUMENTATION = r"""
module: mmvdisk_filesystem
short_description: Create a file system of vdisk sets
description:
  - Creates the file system, or adds the vdisk sets that it lacks. Fails when an attribute differs from what
    is asked for.
options:
  name:
    description: Device name.
    type: str
    required: true
  vdisk_sets:
    description: Vdisk sets, each created.
    type: list
    elements: str
    required: true
  mount_point:
    description: Default mount point.
    type: path
    required: true
  mmcrfs:
    description: More options of mmcrfs, such as C(-Q) and C(yes).
    type: list
    elements: str
    default: []
  attributes:
    description: Attributes that C(mmlsfs) must show.
    type: dict
    default: {}
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
- name: Create the file system
  mmvdisk_filesystem:
    name: kvfs
    vdisk_sets: [vs1]
    mount_point: /kvfs
    mmcrfs: ["-A", "yes", "-Q", "yes", "-S", relatime]
    attributes:
      suppressATime: relatime
"""

RETURN = r"""
commands:
  description: What was run to change something, or would have been in check mode.
  returned: always
  type: list
  elements: str
attributes:
  description: What mmlsfs shows.
  returned: always
  type: dict
"""

SPEC = {
    "name": {"type": "str", "required": True},
    "vdisk_sets": {"type": "list", "elements": "str", "required": True},
    "mount_point": {"type": "path", "required": True},
    "mmcrfs": {"type": "list", "elements": "str", "default": []},
    "attributes": {"type": "dict", "default": {}},
}
COMMAND = ("mmvdisk", "filesystem")


def work(task: Task) -> None:
    """Create the file system or add to it."""
    name, wanted = task["name"], task["vdisk_sets"]
    systems = task.rows([*COMMAND, "list", "-Y"], "filesystem", {"fsName": str, "vdiskSets": str})
    held = next((each["vdiskSets"].split(",") for each in systems if each["fsName"] == name), None)
    missing = [each for each in wanted if each not in (held or [])]
    task.before, task.after = {"vdisk sets": held or []}, {"vdisk sets": wanted}
    if held is None:
        options = ("--mmcrfs", "-T", task["mount_point"], *task["mmcrfs"])
        task.change(*COMMAND, "create", "--file-system", name, "--vdisk-set", ",".join(wanted), *options)
    elif missing:
        task.change(*COMMAND, "add", "--file-system", name, "--vdisk-set", ",".join(missing))
    task.end(attributes=_attributes(task))


def _attributes(task: Task) -> dict[str, str]:
    """Return the attributes, and fail where one differs."""
    rows = task.rows(["mmlsfs", task["name"], "-Y"], "", {"fieldName": str, "data": str})
    held = {row["fieldName"]: row["data"] for row in rows}
    wanted = {"defaultMountPoint": task["mount_point"], **task["attributes"]} if rows else {}
    wrong = [
        f"{field} is {held.get(field, 'not shown')}, not {value}"
        for field, value in wanted.items()
        if not same_value(held.get(field, ""), value)
    ]
    if wrong:
        message = f"File system {task['name']}: {'; '.join(wrong)}"
        raise MmError(message)
    return held


def main() -> None:
    """Run the module."""
    run(work, SPEC)


if __name__ == "__main__":
    main()
