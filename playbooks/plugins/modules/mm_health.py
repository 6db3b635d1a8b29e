"""Pass the health gate of a Storage Scale cluster."""
# ruff: noqa: INP001

from __future__ import annotations

from typing import TYPE_CHECKING

from ansible.module_utils.mm_gate import events, wait_healthy
from ansible.module_utils.mm_task import run

if TYPE_CHECKING:
    from ansible.module_utils.mm_task import Task

DOCUMENTATION = r"""
module: mm_health
short_description: Pass the health gate of a Storage Scale cluster
description:
  - Changes nothing. Fails when a daemon is not active, a recovery group needs service, a pdisk is not ok, a
    rebuild or rebalance runs, a server is suspended, or the file system is not mounted where it should be.
  - Meant for before and after every step that disturbs.
options:
  nodes:
    description: Daemon names that must be active; all members without it.
    type: list
    elements: str
    default: []
  file_system:
    description: File system that must be mounted on O(mounted_on).
    type: str
  mounted_on:
    description: Daemon names.
    type: list
    elements: str
    default: []
  promised:
    description: What vdisks survive by the plan; the gate stays shut while they survive less.
    type: dict
    suboptions:
      code:
        description: Their erasure code; those of another one are logs.
        type: str
        required: true
      nodes:
        description: Nodes that may fail.
        type: int
        required: true
      devices:
        description: Drives that may fail besides.
        type: int
        required: true
  ignored_events:
    description: Events that do not count; servers of makers without a component list always have the default.
    type: list
    elements: str
    default: [ess_config_mismatch]
  timeout:
    description: How long to wait for health [s].
    type: int
    default: 0
  poll:
    description: How long to wait between two looks [s].
    type: float
    default: 5
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
- name: See that the cluster is well
  mm_health:
    file_system: kvfs
    mounted_on: [storage-001-kv.kv.example]
    timeout: 600
"""

RETURN = r"""
commands:
  description: What was run to change something, or would have been in check mode.
  returned: always
  type: list
  elements: str
events:
  description: Events of components that are not healthy, without those ignored.
  returned: always
  type: list
  elements: str
"""

PROMISED = {
    "code": {"type": "str", "required": True},
    "nodes": {"type": "int", "required": True},
    "devices": {"type": "int", "required": True},
}
SPEC = {
    "nodes": {"type": "list", "elements": "str", "default": []},
    "file_system": {"type": "str"},
    "mounted_on": {"type": "list", "elements": "str", "default": []},
    "promised": {"type": "dict", "options": PROMISED},
    "ignored_events": {"type": "list", "elements": "str", "default": ["ess_config_mismatch"]},
    "timeout": {"type": "int", "default": 0},
    "poll": {"type": "float", "default": 5},
}


def work(task: Task) -> None:
    """Wait for health, or fail with what is wrong."""
    wait_healthy(task, task["nodes"], task["file_system"], task["mounted_on"], task["promised"])
    task.end(events=events(task, task["ignored_events"]))


def main() -> None:
    """Run the module."""
    run(work, SPEC)


if __name__ == "__main__":
    main()
