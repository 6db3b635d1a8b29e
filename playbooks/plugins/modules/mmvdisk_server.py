"""Inspect, map and configure the servers of a recovery group."""
# ruff: noqa: INP001

from __future__ import annotations

from typing import TYPE_CHECKING

from ansible.module_utils.mm import MmError, size_bytes, yes
from ansible.module_utils.mm_drives import data_drives, wrong_with
from ansible.module_utils.mm_task import NOT_YET, run

if TYPE_CHECKING:
    from ansible.module_utils.mm_task import Task

DOCUMENTATION = r"""
module: mmvdisk_server
short_description: Inspect, map and configure the servers of a recovery group
description:
  - C(inspected) looks at the drives of this node - their number, what is on them, their write cache - and
    changes nothing.
  - C(mapped) maps the slots of this node to drives; its daemon is stopped for that and started again.
  - C(configured) compares the topologies of all servers and configures those that are not, one daemon after
    the other.
options:
  state:
    description: What is wanted.
    type: str
    choices: [inspected, mapped, configured]
    required: true
  node:
    description: Daemon name of this node, for C(inspected).
    type: str
  node_class:
    description: Class of the servers, for C(configured).
    type: str
  nodes:
    description: Servers that are to be configured before they join the class, for growth.
    type: list
    elements: str
    default: []
  drives:
    description: Drives of each server.
    type: int
    required: true
  serials:
    description: Serials of the drives; without them all NVMe drives count that hold nothing mounted.
    type: list
    elements: str
    default: []
  mode:
    description: How drives are attached.
    type: str
    choices: [nvme, lmr]
    default: nvme
  slots:
    description: First and last slot.
    type: list
    elements: int
    default: []
  pagepool_bytes:
    description: Page pool [B].
    type: int
  max_block_bytes:
    description: Largest block size of the cluster [B].
    type: int
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
- name: See that the drives are the ones of the plan and empty
  mmvdisk_server:
    state: inspected
    node: storage-001-kv.kv.example
    drives: 16

- name: Configure the servers
  mmvdisk_server:
    state: configured
    node_class: nc1
    drives: 16
    pagepool_bytes: 137438953472
    max_block_bytes: 16777216
"""

RETURN = r"""
commands:
  description: What was run to change something, or would have been in check mode.
  returned: always
  type: list
  elements: str
drives:
  description: Path and serial of the drives of this node.
  returned: when O(state=inspected)
  type: list
  elements: dict
"""

SPEC = {
    "state": {"type": "str", "choices": ["inspected", "mapped", "configured"], "required": True},
    "node": {"type": "str"},
    "node_class": {"type": "str"},
    "nodes": {"type": "list", "elements": "str", "default": []},
    "drives": {"type": "int", "required": True},
    "serials": {"type": "list", "elements": "str", "default": []},
    "mode": {"type": "str", "choices": ["nvme", "lmr"], "default": "nvme"},
    "slots": {"type": "list", "elements": "int", "default": []},
    "pagepool_bytes": {"type": "int"},
    "max_block_bytes": {"type": "int"},
}
REQUIRED = [
    ("state", "inspected", ["node"]),
    ("state", "mapped", ["slots"]),
    ("state", "configured", ["node_class", "pagepool_bytes", "max_block_bytes"]),
]


def work(task: Task) -> None:
    """Do what the state asks for."""
    {"inspected": _inspect, "mapped": _map, "configured": _configure}[task["state"]](task)


def _inspect(task: Task) -> None:
    """Fail with everything that is wrong with the drives of this node."""
    served = [each for each in task.vdisk_classes(NOT_YET) if task["node"] in each["members"].split(",")]
    drives = data_drives(task, task["serials"])
    in_use = any(each["recoveryGroups"] for each in served)
    faults = wrong_with(task, drives, task["drives"], task["serials"], in_use=in_use)
    if faults:
        raise MmError("; ".join(faults))
    task.end(drives=[{"path": drive["path"], "serial": drive["serial"]} for drive in drives])


def _mapped(task: Task) -> int:
    """Return how many drives have a slot."""
    lines = (task.read("ecedrivemapping", "--report") or "").splitlines()
    return sum(line.split()[0].isdigit() for line in lines if line.split())


def _map(task: Task) -> None:
    """Map the slots, with the daemon down meanwhile."""
    first, last = task["slots"]
    found = _mapped(task)
    task.before, task.after = {"mapped": found}, {"mapped": task["drives"]}
    if found != task["drives"]:
        state = task.rows(["mmgetstate", "-Y"], "", {"state": str}, absent="6027-1382")
        running = bool(state) and state[0]["state"] != "down"
        if running:
            task.change("mmshutdown")
        slots = ("--slotrange", str(first), str(last))
        task.change("ecedrivemapping", "--mode", task["mode"], *slots, "--force")
        found = task["drives"] if task.check else _mapped(task)
        if running:
            task.change("mmstartup")
    if found != task["drives"]:
        message = f"Slot location is missing: {found} of {task['drives']} drives are mapped in slots {first} to {last}"
        raise MmError(message)
    task.end()


def _configure(task: Task) -> None:
    """Compare the topologies, configure who is not, and see that the values are stored."""
    name = task["node_class"]
    scopes = [("--node-class", name)] + ([("-N", ",".join(task["nodes"]))] if task["nodes"] else [])
    values = ("--pagepool", str(task["pagepool_bytes"]), "--maxblocksize", f"{task['max_block_bytes'] >> 20}M")
    for scope in scopes:
        _need_same(task, scope)
        listing = ["mmvdisk", "server", "list", *scope, "-Y"]
        servers = task.rows(listing, "serverSummary", {"nodeName": str, "remarks": str})
        for server in servers:
            task.before[server["nodeName"]] = server["remarks"]
            task.after[server["nodeName"]] = "configured"
        open_ones = [server["nodeName"] for server in servers if server["remarks"] == "unconfigured"]
        if open_ones or (task.check and not servers):
            task.change("mmvdisk", "server", "configure", *scope, "--recycle", "one", *values)
        elif not _stored(task, name):
            task.change("mmvdisk", "server", "configure", *scope, "--update", "--recycle", "one", *values)
    if not (task.check or _stored(task, name)):
        message = "The page pool stays as it was, for an update never lowers it: unconfigure the servers first"
        raise MmError(message)
    task.end()


def _need_same(task: Task, scope: tuple[str, str]) -> None:
    """Fail when a server shows other drives than the rest, or another number than planned."""
    columns = {"nodeName": str, "needsAttention": yes, "diskTopology": str}
    listing = ["mmvdisk", "server", "list", *scope, "--disk-topology", "-Y"]
    servers = task.rows(listing, "serverDiskTopology", columns)
    wrong = [
        each for each in servers if each["needsAttention"] or str(task["drives"]) not in each["diskTopology"].split()
    ]
    if wrong:
        shown = "; ".join(f"{each['nodeName']} shows {each['diskTopology']}" for each in wrong)
        message = f"A server needs attention: {shown}; {task['drives']} drives are planned"
        raise MmError(message)


def _stored(task: Task, name: str) -> bool:
    """Whether page pool and largest block are stored as asked for."""
    columns = {"configParameter": str, "value": str, "nodeList": str}
    held = {
        (row["configParameter"], row["nodeList"]): row["value"] for row in task.rows(["mmlsconfig", "-Y"], "", columns)
    }
    asked = {("pagepool", name): task["pagepool_bytes"], ("maxblocksize", ""): task["max_block_bytes"]}
    return all(size_bytes(held.get(key, "0")) == value for key, value in asked.items())


def main() -> None:
    """Run the module."""
    run(work, SPEC, required_if=REQUIRED)


if __name__ == "__main__":
    main()
