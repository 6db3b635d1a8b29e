"""Mount or unmount a file system on nodes."""
# ruff: noqa: INP001

from __future__ import annotations

from typing import TYPE_CHECKING

from ansible.module_utils.mm import MmError
from ansible.module_utils.mm_task import run

if TYPE_CHECKING:
    from ansible.module_utils.mm_task import Task

DOCUMENTATION = r"""
module: mm_mount
short_description: Mount or unmount a file system on nodes
description:
  - Mounts where it is not mounted, or unmounts where it is.
options:
  file_system:
    description: Device name.
    type: str
    required: true
  nodes:
    description: Daemon names.
    type: list
    elements: str
    required: true
  state:
    description: What is wanted.
    type: str
    choices: [mounted, unmounted]
    default: mounted
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
- name: Mount it on the servers
  mm_mount:
    file_system: kvfs
    nodes: [storage-001-kv.kv.example]
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
    "nodes": {"type": "list", "elements": "str", "required": True},
    "state": {"type": "str", "choices": ["mounted", "unmounted"], "default": "mounted"},
}


def work(task: Task) -> None:
    """Mount or unmount."""
    device, nodes = task["file_system"], task.known_nodes(task["nodes"])
    up = task["state"] == "mounted"
    held = _mounts(task)
    task.before = {node: "mounted" if node in held else "unmounted" for node in nodes}
    task.after = dict.fromkeys(nodes, task["state"])
    todo = [node for node in nodes if (node in held) != up]
    if todo:
        task.change("mmmount" if up else "mmumount", device, "-N", ",".join(todo))
        left = [] if task.check else [node for node in nodes if (node in _mounts(task)) != up]
        if left:
            message = f"{device} is not {task['state']} on {', '.join(left)}"
            raise MmError(message)
    task.end()


def _mounts(task: Task) -> set[str]:
    """Return where it is mounted."""
    rows = task.rows(["mmlsmount", task["file_system"], "-L", "-Y"], "", {"nodeName": str})
    return {row["nodeName"] for row in rows}


def main() -> None:
    """Run the module."""
    run(work, SPEC)


if __name__ == "__main__":
    main()
