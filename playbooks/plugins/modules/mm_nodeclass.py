"""Keep a node class of the user."""
# ruff: noqa: INP001

from __future__ import annotations

from typing import TYPE_CHECKING

from ansible.module_utils.mm_task import run

if TYPE_CHECKING:
    from ansible.module_utils.mm_task import Task

DOCUMENTATION = r"""
module: mm_nodeclass
short_description: Keep a node class of the user
description:
  - Creates the class, adds the nodes that it lacks and takes out those that it should not have.
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
- name: Name the servers
  mm_nodeclass:
    name: kvservers
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
    "name": {"type": "str", "required": True},
    "nodes": {"type": "list", "elements": "str", "required": True},
}


def work(task: Task) -> None:
    """Create or replace."""
    name, wanted = task["name"], sorted(task.known_nodes(task["nodes"]))
    columns = {"nodeclass": str, "members": str}
    found = task.rows(["mmlsnodeclass", name, "-Y"], "nodeclass", columns, absent="6027-1715|is not known")
    held = sorted(found[0]["members"].split(",")) if found else []
    task.before, task.after = {name: held}, {name: wanted}
    if not found:
        task.change("mmcrnodeclass", name, "-N", ",".join(wanted))
    elif held != wanted:
        task.change("mmchnodeclass", name, "replace", "-N", ",".join(wanted))
    task.end()


def main() -> None:
    """Run the module."""
    run(work, SPEC)


if __name__ == "__main__":
    main()
