"""Store parameters of Storage Scale and compare them with what the daemons run."""
# ruff: noqa: INP001

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ansible.module_utils.mm import same_value
from ansible.module_utils.mm_task import run

if TYPE_CHECKING:
    from ansible.module_utils.mm_task import Task

DOCUMENTATION = r"""
module: mm_config
short_description: Store parameters of Storage Scale and compare them with what the daemons run
description:
  - Stores what differs; parameters that C(mmvdisk server configure) sets are only compared.
  - Reads what each active daemon runs from C(mmdiag --config), and returns the nodes that must be restarted.
options:
  parameters:
    description:
      - Records with C(parameter), C(value), C(target) (C(all), a node class or a node), C(set_by) and C(restart),
        as in C(scale/mmchconfig.yaml) of the rendered tree.
      - A value C(DEFAULT) takes a setting out.
    type: list
    elements: dict
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
- name: Store the parameters
  mm_config:
    parameters:
      - parameter: workerThreads
        value: "3072"
        target: kvservers
        set_by: mmchconfig
        restart: true
  register: config

- name: Restart where they do not run yet
  mm_state:
    state: restarted
    nodes: "{{ config.restart_nodes }}"
"""

RETURN = r"""
commands:
  description: What was run to change something, or would have been in check mode.
  returned: always
  type: list
  elements: str
restart_nodes:
  description: Daemon names of active nodes whose daemon runs other values than are stored.
  returned: always
  type: list
  elements: str
mismatched:
  description: What runs, by node and parameter, where it differs.
  returned: always
  type: dict
not_stored:
  description: Parameters that another command has to set and that differ.
  returned: always
  type: list
  elements: str
"""

SPEC = {"parameters": {"type": "list", "elements": "dict", "required": True}}
RUNNING = re.compile(r"^(?P<node>[^\s:]+):\s+!?\s*(?P<name>[A-Za-z]\w*) ?(?P<value>.*)$")


def work(task: Task) -> None:
    """Store, then compare with what runs."""
    columns = {"configParameter": str, "value": str, "nodeList": str}
    held = {
        (row["configParameter"], row["nodeList"]): row["value"] for row in task.rows(["mmlsconfig", "-Y"], "", columns)
    }
    wrong = [each for each in task["parameters"] if not _same(task, each, held)]
    mine = [each for each in task["parameters"] if each.get("set_by", "mmchconfig") == "mmchconfig"]
    for each in wrong:
        if each in mine:
            _store(task, each)
    mismatched = _mismatched(task)
    # those that were stored a moment ago went to the daemons too
    at_once = {each["parameter"]: each for each in mine if not each.get("restart")}
    for node, values in mismatched.items():
        for name in [name for name in values if name in at_once]:
            del values[name]
            if at_once[name] not in wrong:
                task.change("mmchconfig", f"{name}={at_once[name]['value']}", "-i", "-N", node)
    mismatched = {node: values for node, values in mismatched.items() if values}
    not_stored = [each["parameter"] for each in wrong if each not in mine]
    task.end(restart_nodes=list(mismatched), mismatched=mismatched, not_stored=not_stored)


def _target(wanted: dict[str, Any]) -> str:
    """Return for whom a parameter is stored: nothing stands for all."""
    target = str(wanted.get("target", "all"))
    return "" if target == "all" else target


def _same(task: Task, wanted: dict[str, Any], held: dict[tuple[str, str], str]) -> bool:
    """Whether a parameter is stored as asked for."""
    name, value, target = wanted["parameter"], str(wanted["value"]), _target(wanted)
    found = held.get((name, target))
    label = f"{name} {target}".strip()
    task.before[label], task.after[label] = found, None if value == "DEFAULT" else value
    return found is None if value == "DEFAULT" else found is not None and same_value(found, value)


def _store(task: Task, wanted: dict[str, Any]) -> None:
    """Store a parameter, and let daemons have it at once if they can."""
    at_once = [] if wanted.get("restart") else ["-i"]
    where = ["-N", _target(wanted)] if _target(wanted) else []
    task.change("mmchconfig", f"{wanted['parameter']}={wanted['value']}", *at_once, *where)


def _mismatched(task: Task) -> dict[str, dict[str, str]]:
    """Return what active daemons run otherwise than asked for."""
    members = task.members()
    states = task.states()
    active = [node for node, state in states.items() if state == "active"]
    if not active:
        return {}
    names = {spelt: node["daemonNodeName"] for node in members for spelt in _spellings(node)}
    text = task.read("mmdsh", "-N", ",".join(active), "mmdiag", "--config") or ""
    running: dict[str, dict[str, str]] = {}
    for found in filter(None, map(RUNNING.match, text.splitlines())):
        running.setdefault(names.get(found["node"], found["node"]), {})[found["name"]] = found["value"]
    classes = _classes(task)
    wrong: dict[str, dict[str, str]] = {}
    for wanted in task["parameters"]:
        name, target = wanted["parameter"], wanted.get("target", "all")
        for node in active if target == "all" else classes.get(target, [target]):
            value = running.get(node, {}).get(name)
            if value is not None and wanted["value"] != "DEFAULT" and not same_value(value, wanted["value"]):
                wrong.setdefault(node, {})[name] = value
    return wrong


def _spellings(node: dict[str, str]) -> list[str]:
    """Return the names by which mmdsh may call a node."""
    full = [node["daemonNodeName"], node["adminNodeName"]]
    return [*full, *(name.split(".")[0] for name in full)]


def _classes(task: Task) -> dict[str, list[str]]:
    """Return the members of each node class."""
    rows = task.rows(["mmlsnodeclass", "--all", "-Y"], "nodeclass", {"nodeclass": str, "members": str})
    return {row["nodeclass"]: row["members"].split(",") for row in rows}


def main() -> None:
    """Run the module."""
    run(work, SPEC)


if __name__ == "__main__":
    main()
