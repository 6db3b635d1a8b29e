"""Create a Storage Scale cluster, or add nodes to it."""
# ruff: noqa: INP001

from __future__ import annotations

from typing import TYPE_CHECKING

from ansible.module_utils.mm import MmError
from ansible.module_utils.mm_task import run

if TYPE_CHECKING:
    from ansible.module_utils.mm_task import Task

DOCUMENTATION = r"""
module: mm_cluster
short_description: Create a Storage Scale cluster, or add nodes to it
description:
  - Creates the cluster on the node that runs this, or adds the nodes that it lacks.
  - Fails when the cluster keeps other names than asked for, because every later command needs the names that
    it keeps.
  - A member that was reinstalled and knows no cluster gets its configuration again.
  - New nodes join without a vote, for a quorum node that is not up counts against the quorum. They and others
    whose designation changed are let into the quorum or taken out of it once they are active; run the module
    again after their start, while C(waiting) names any.
  - Takes no node out; members that are not asked for are returned.
options:
  name:
    description: Name of the cluster.
    type: str
    required: true
  nodes:
    description: All members, in the order of their numbers.
    type: list
    elements: dict
    required: true
    suboptions:
      daemon:
        description: Daemon name.
        type: str
        required: true
      admin:
        description: Admin name; the daemon name without it.
        type: str
      designation:
        description: Such as C(quorum-manager).
        type: str
        default: nonquorum-client
  timeout:
    description: How long a command may take [s]; a question of ssh would hold it up for an hour.
    type: int
    default: 900
  remote_shell:
    description: Path of the remote shell.
    type: path
    default: /usr/bin/ssh
  remote_copy:
    description: Path of the remote copy.
    type: path
    default: /usr/bin/scp
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
- name: Create the cluster
  mm_cluster:
    name: kvstore.kv.example
    nodes:
      - daemon: storage-001-kv.kv.example
        admin: storage-001-adm.kv.example
        designation: quorum-manager
"""

RETURN = r"""
commands:
  description: What was run to change something, or would have been in check mode.
  returned: always
  type: list
  elements: str
extra_nodes:
  description: Members that were not asked for.
  returned: always
  type: list
  elements: str
restored:
  description: Daemon names of members that had been reinstalled and got their configuration again.
  returned: always
  type: list
  elements: str
added:
  description: Daemon names of the nodes that were added.
  returned: always
  type: list
  elements: str
waiting:
  description: Daemon names of members whose vote changes once all of them are active.
  returned: always
  type: list
  elements: str
"""

NODE = {
    "daemon": {"type": "str", "required": True},
    "admin": {"type": "str"},
    "designation": {"type": "str", "default": "nonquorum-client"},
}
SPEC = {
    "name": {"type": "str", "required": True},
    "nodes": {"type": "list", "elements": "dict", "required": True, "options": NODE},
    "timeout": {"type": "int", "default": 900},
    "remote_shell": {"type": "path", "default": "/usr/bin/ssh"},
    "remote_copy": {"type": "path", "default": "/usr/bin/scp"},
}


def work(task: Task) -> None:
    """Create the cluster or add nodes."""
    wanted = task["nodes"]
    task.limit_s = task["timeout"]
    summary = task.rows(["mmlscluster", "-Y"], "clusterSummary", {"clusterName": str}, absent="6027-1382")
    if summary and summary[0]["clusterName"] != task["name"]:
        message = f"This node appears to already belong to a GPFS cluster: {summary[0]['clusterName']}"
        raise MmError(message)
    present = task.members() if summary else []
    known = {node["daemonNodeName"] for node in present}
    missing = [node for node in wanted if node["daemon"] not in known]
    task.before = {"nodes": sorted(known)}
    task.after = {"nodes": sorted(known | {node["daemon"] for node in wanted})}
    if not summary:
        shells = ("-r", task["remote_shell"], "-R", task["remote_copy"])
        task.change("mmcrcluster", "-N", _descriptors(missing), "-C", task["name"], *shells)
    elif missing:
        # a quorum node that is not up yet would count against the quorum
        later = [{**node, "designation": node["designation"].replace("quorum", "nonquorum", 1)} for node in missing
                 if node["designation"].startswith("quorum")]  # fmt: skip
        plain = [node for node in missing if not node["designation"].startswith("quorum")]
        task.change("mmaddnode", "-N", _descriptors([*later, *plain]))
    restored = _restore(task, [node["daemon"] for node in wanted if node["daemon"] in known])
    members = present if task.check else task.members()
    if not task.check:
        _need_names(wanted, members)
    waiting = _designate(task, wanted, members) if summary else []
    extra = sorted({node["daemonNodeName"] for node in members} - {node["daemon"] for node in wanted})
    task.end(extra_nodes=extra, added=[node["daemon"] for node in missing], restored=restored, waiting=waiting)


def _restore(task: Task, known: list[str]) -> list[str]:
    """Give members that were reinstalled the configuration again; members that do not answer are left alone."""
    states = task.states() if known else {}
    lost = [node for node in known if states[node] == "unknown" and _knows_no_cluster(task, node)]
    if lost:
        task.change("mmsdrrestore", "-N", ",".join(lost))
    return lost


def _knows_no_cluster(task: Task, node: str) -> bool:
    """Whether a member answers and knows no cluster."""
    try:
        return task.read("mmdsh", "-N", node, "mmlscluster", "-Y", absent="6027-1382") is None
    except MmError:
        return False


def _designate(task: Task, wanted: list[dict[str, str]], members: list[dict[str, str]]) -> list[str]:
    """Let nodes be of the quorum that are not, then take out those that are; return who must be started first."""
    held = {node["daemonNodeName"]: "quorum" in node["designation"] for node in members}
    planned = {node["daemon"]: node["designation"].startswith("quorum") for node in wanted}
    joining = [name for name, votes in planned.items() if votes and not held.get(name, task.check)]
    leaving = [name for name, votes in planned.items() if not votes and held.get(name)]
    states = task.states() if joining or leaving else {}
    able = [name for name in joining if states.get(name) == "active"]
    if able:
        task.change("mmchnode", "--quorum", "--manager", "-N", ",".join(able))
    waiting = [name for name in joining if name not in able]
    if leaving and not waiting:
        task.change("mmchnode", "--nonquorum", "--client", "-N", ",".join(leaving))
    return waiting + (leaving if waiting else [])


def _descriptors(nodes: list[dict[str, str]]) -> str:
    """Return what -N takes."""
    return ",".join(f"{node['daemon']}:{node['designation']}:{node['admin'] or node['daemon']}" for node in nodes)


def _need_names(wanted: list[dict[str, str]], members: list[dict[str, str]]) -> None:
    """Fail when the cluster keeps other names, or another kind of node."""
    held = {node["daemonNodeName"]: node for node in members}
    for node in wanted:
        found = held.get(node["daemon"])
        if found is None or found["adminNodeName"] != (node["admin"] or node["daemon"]):
            kept = found["adminNodeName"] if found else ", ".join(sorted(held))
            message = f"Incorrect node name {node['daemon']}: the cluster keeps {kept}"
            raise MmError(message)


def main() -> None:
    """Run the module."""
    run(work, SPEC)


if __name__ == "__main__":
    main()
