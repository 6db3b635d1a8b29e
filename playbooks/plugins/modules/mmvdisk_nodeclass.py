"""Make the node class of a recovery group."""
# ruff: noqa: INP001

from __future__ import annotations

from typing import TYPE_CHECKING

from ansible.module_utils.mm import MmError
from ansible.module_utils.mm_task import run

if TYPE_CHECKING:
    from ansible.module_utils.mm_task import Task

DOCUMENTATION = r"""
module: mmvdisk_nodeclass
short_description: Make the node class of a recovery group
description:
  - Creates the class. A class that a recovery group uses grows when mmvdisk_recoverygroup adds servers, not
    here.
options:
  name:
    description: Name of the class.
    type: str
    required: true
  nodes:
    description: Daemon names.
    type: list
    elements: str
    required: true
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
- name: Make the class
  mmvdisk_nodeclass:
    name: nc1
    nodes: [storage-001-kv.kv.example]
"""

RETURN = r"""
commands:
  description: What was run to change something, or would have been in check mode.
  returned: always
  type: list
  elements: str
to_add:
  description: Nodes that are still to become servers of the recovery group.
  returned: always
  type: list
  elements: str
"""

SPEC = {
    "name": {"type": "str", "required": True},
    "nodes": {"type": "list", "elements": "str", "required": True},
}


def work(task: Task) -> None:
    """Create the class, or say what it lacks."""
    name, wanted = task["name"], task.known_nodes(task["nodes"])
    held = next((each for each in task.vdisk_classes() if each["nodeClass"] == name), None)
    members = held["members"].split(",") if held else []
    task.before, task.after = {name: sorted(members)}, {name: sorted(wanted)}
    lacking = [node for node in wanted if node not in members]
    extra = [node for node in members if node not in wanted]
    if held is None:
        task.change("mmvdisk", "nodeclass", "create", "--node-class", name, "-N", ",".join(wanted))
        lacking = []
    elif extra or (lacking and not held["recoveryGroups"]):
        message = f"Node class '{name}' holds {', '.join(members)}, not {', '.join(wanted)}: it must be made anew"
        raise MmError(message)
    task.end(to_add=lacking)


def main() -> None:
    """Run the module."""
    run(work, SPEC)


if __name__ == "__main__":
    main()
