"""Start, stop and restart Storage Scale daemons in an order that keeps the quorum."""
# ruff: noqa: INP001

from __future__ import annotations

from typing import TYPE_CHECKING

from ansible.module_utils.mm import MmError
from ansible.module_utils.mm_gate import wait_for, wait_healthy
from ansible.module_utils.mm_task import run

if TYPE_CHECKING:
    from ansible.module_utils.mm_task import Task

DOCUMENTATION = r"""
module: mm_state
short_description: Start, stop and restart Storage Scale daemons in an order that keeps the quorum
description:
  - A restart takes one node after the other - nodes without quorum first, masters of recovery groups last -
    and passes the health gate before and after each.
  - A stop that would cost the quorum is refused unless it is allowed.
options:
  state:
    description: What the daemons should do; C(restarted) restarts the named nodes, so name only those that need it.
    type: str
    choices: [started, stopped, restarted]
    default: started
  nodes:
    description: Daemon names; an empty list means none.
    type: list
    elements: str
    required: true
  allow_quorum_loss:
    description: Whether a stop may cost the quorum.
    type: bool
    default: false
  timeout:
    description: How long to wait for a state or for health [s].
    type: int
    default: 600
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
- name: Start the daemons
  mm_state:
    state: started
    nodes: "{{ groups['storage'] }}"
"""

RETURN = r"""
commands:
  description: What was run to change something, or would have been in check mode.
  returned: always
  type: list
  elements: str
states:
  description: State by daemon name.
  returned: always
  type: dict
"""

SPEC = {
    "state": {"type": "str", "choices": ["started", "stopped", "restarted"], "default": "started"},
    "nodes": {"type": "list", "elements": "str", "required": True},
    "allow_quorum_loss": {"type": "bool", "default": False},
    "timeout": {"type": "int", "default": 600},
    "poll": {"type": "float", "default": 5},
}


def work(task: Task) -> None:
    """Start, stop or restart."""
    nodes = task.known_nodes(task["nodes"])
    states = task.states()
    task.before = {node: states.get(node, "unknown") for node in nodes}
    {"started": _start, "stopped": _stop, "restarted": _restart}[task["state"]](task, nodes, states)
    seen = states if task.check else task.states()
    foreseen = "down" if task["state"] == "stopped" else "active"
    task.after = {node: foreseen if task.check else seen.get(node, "unknown") for node in nodes}
    task.end(states=seen)


def _start(task: Task, nodes: list[str], states: dict[str, str]) -> None:
    """Start what is down, and wait until all are active."""
    down = [node for node in nodes if states.get(node, "unknown") in ("down", "unknown")]
    if down:
        task.change("mmstartup", "-N", ",".join(down))
    wait_for(task, lambda: _lacking(task, nodes))


def _lacking(task: Task, nodes: list[str]) -> list[str]:
    """Say who is not active."""
    states = task.states()
    found = [f"{node} is {states.get(node, 'unknown')}" for node in nodes if states.get(node) != "active"]
    return [f"{each}: no quorum" if each.endswith("arbitrating") else each for each in found]


def _stop(task: Task, nodes: list[str], states: dict[str, str]) -> None:
    """Stop what runs, if the quorum may go or stays."""
    running = [node for node in nodes if states.get(node) not in ("down", "unknown", None)]
    if not running:
        return
    quorum = [node["daemonNodeName"] for node in task.members() if "quorum" in node["designation"]]
    left = [node for node in quorum if states.get(node) == "active" and node not in running]
    if 2 * len(left) <= len(quorum) and not task["allow_quorum_loss"]:
        message = f"Stopping {', '.join(running)} would leave no quorum: {len(left)} of {len(quorum)} quorum nodes"
        raise MmError(message)
    task.change("mmshutdown", "-N", ",".join(running))


def _restart(task: Task, nodes: list[str], states: dict[str, str]) -> None:
    """Restart one node after the other, with the gate before and after each."""
    for node in _order(task, nodes):
        if not task.check:
            wait_healthy(task)
        if states.get(node) == "active":
            _hand_over(task, node, states)
            task.change("mmshutdown", "-N", node)
        task.change("mmstartup", "-N", node)
        wait_for(task, lambda name=node: _lacking(task, [name]))
    if nodes and not task.check:
        wait_healthy(task)


def _hand_over(task: Task, node: str, states: dict[str, str]) -> None:
    """Appoint other managers first: a manager that goes down stalls its file systems for a minute."""
    columns = {"filesystem": str, "manager": str}
    managed = task.rows(["mmlsmgr", "-Y"], "filesystemManager", columns, header=False)
    able = [
        member["daemonNodeName"]
        for member in task.members()
        if "anager" in member["designation"] and states.get(member["daemonNodeName"]) == "active"
    ]
    other = next((name for name in able if name != node), "")
    for each in managed:
        if other and each["manager"].split(".")[0] == node.split(".", maxsplit=1)[0]:
            task.change("mmchmgr", each["filesystem"], other)


def _order(task: Task, nodes: list[str]) -> list[str]:
    """Return nodes without quorum first, masters of recovery groups last."""
    quorum = {node["daemonNodeName"] for node in task.members() if "quorum" in node["designation"]}
    masters = {group["currentServers"] for group in task.groups()}
    return sorted(nodes, key=lambda node: (node in masters, node in quorum, node))


def main() -> None:
    """Run the module."""
    run(work, SPEC)


if __name__ == "__main__":
    main()
