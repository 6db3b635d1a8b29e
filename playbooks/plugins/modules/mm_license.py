"""Designate Storage Scale licences."""
# ruff: noqa: INP001

from __future__ import annotations

from typing import TYPE_CHECKING

from ansible.module_utils.mm import MmError
from ansible.module_utils.mm_task import run

if TYPE_CHECKING:
    from ansible.module_utils.mm_task import Task

DOCUMENTATION = r"""
module: mm_license
short_description: Designate Storage Scale licences
description:
  - Designates the licence of nodes that have another one or none.
  - Only with O(accept), which stands for the consent of the operator.
options:
  kind:
    description: Licence to be designated.
    type: str
    choices: [server, client]
    required: true
  nodes:
    description: Daemon names.
    type: list
    elements: str
    required: true
  accept:
    description: Whether the licence agreement is accepted.
    type: bool
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
- name: Designate server licences
  mm_license:
    kind: server
    accept: true
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
    "kind": {"type": "str", "choices": ["server", "client"], "required": True},
    "nodes": {"type": "list", "elements": "str", "required": True},
    "accept": {"type": "bool", "required": True},
}


def work(task: Task) -> None:
    """Designate what is missing."""
    columns = {"nodeName": str, "designatedLicense": str}
    held = {row["nodeName"]: row["designatedLicense"] for row in task.rows(["mmlslicense", "-L", "-Y"], "", columns)}
    lacking = [node for node in task.known_nodes(task["nodes"]) if held.get(node) != task["kind"]]
    task.before = {node: held.get(node, "none") for node in task["nodes"]}
    task.after = dict.fromkeys(task["nodes"], task["kind"])
    if lacking:
        if not task["accept"]:
            message = "The license agreement must be accepted before licences are designated"
            raise MmError(message)
        task.change("mmchlicense", task["kind"], "--accept", "-N", ",".join(lacking))
    task.end()


def main() -> None:
    """Run the module."""
    run(work, SPEC)


if __name__ == "__main__":
    main()
