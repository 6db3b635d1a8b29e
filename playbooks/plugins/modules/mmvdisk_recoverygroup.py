"""Create a recovery group, or add servers to it."""
# ruff: noqa: INP001

from __future__ import annotations

from typing import TYPE_CHECKING

from ansible.module_utils.mm import MmError
from ansible.module_utils.mm_job import Job
from ansible.module_utils.mm_task import run

if TYPE_CHECKING:
    from ansible.module_utils.mm_task import Task

DOCUMENTATION = r"""
module: mmvdisk_recoverygroup
short_description: Create a recovery group, or add servers to it
description:
  - Creates the group and formats all its log groups, adds servers and completes that, keeps the spare space
    and the server of the root log group.
  - Without O(wait) a long command runs on by itself. Run the module again, with C(until), to see how far it
    is.
  - A group whose creation was cut short before its root log group was there can only be deleted and created
    anew. With O(state=cleared) the module deletes such a group and no other. The next creation then does not
    look for labels of pdisks on the drives, since they are its own; look at the drives before.
options:
  state:
    description: Whether the group is to be made, or what is left of one that is half made is to be deleted.
    type: str
    choices: [made, cleared]
    default: made
  name:
    description: Name of the group.
    type: str
    required: true
  node_class:
    description: Class of its servers.
    type: str
    required: true
  nodes:
    description: Daemon names of its servers; those it lacks are added.
    type: list
    elements: str
    required: true
  spares:
    description: Spare space [pdisks]; it is raised to that, never lowered.
    type: int
  root_server:
    description: Server of the root log group.
    type: str
  wait:
    description: Whether to wait for long commands.
    type: bool
    default: true
  job_dir:
    description: Where the output of a command that runs on by itself is kept.
    type: path
    default: /var/lib/kvplan/jobs
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
- name: Create the recovery group
  mmvdisk_recoverygroup:
    name: rg1
    node_class: nc1
    nodes: "{{ groups['storage'] }}"
    spares: 4
    wait: false
  register: group
  until: group.ready
  retries: 240
  delay: 15
"""

RETURN = r"""
commands:
  description: What was run to change something, or would have been in check mode.
  returned: always
  type: list
  elements: str
ready:
  description: Whether the group has all log groups and nothing runs any more.
  returned: always
  type: bool
log_groups:
  description: Log groups that are formatted, and how many there will be.
  returned: always
  type: dict
"""

SPEC = {
    "state": {"type": "str", "choices": ["made", "cleared"], "default": "made"},
    "name": {"type": "str", "required": True},
    "node_class": {"type": "str", "required": True},
    "nodes": {"type": "list", "elements": "str", "required": True},
    "spares": {"type": "int"},
    "root_server": {"type": "str"},
    "wait": {"type": "bool", "default": True},
    "job_dir": {"type": "path", "default": "/var/lib/kvplan/jobs"},
}
COMMAND = ("mmvdisk", "recoverygroup")


def work(task: Task) -> None:
    """Take the group as far as it can be taken now."""
    job = Job(task, task["job_dir"], task["name"])
    if task["state"] == "cleared":
        _clear(task, job)
        return
    job.need_no_failure()
    ready = not job.running()
    for step in (_create, _complete, _add, _complete_add) if ready else ():
        argv = step(task, job)
        if argv and task.check:
            task.commands.append(list(argv))
        elif argv and task["wait"]:
            task.change(*argv)
        elif argv:
            job.start(*argv)
            # the next look tells how it went, even if it is over by now
            ready = False
            break
    if ready:
        if not task.check:
            job.mark.unlink(missing_ok=True)
        _settle(task)
    task.end(ready=ready, log_groups={"formatted": len(_logs(task)), "all": 2 * len(task["nodes"]) + 1})


def _group(task: Task) -> dict[str, object] | None:
    """Return the group."""
    return next((each for each in task.groups() if each["rgName"] == task["name"]), None)


def _logs(task: Task) -> dict[str, str]:
    """Return the server of each log group."""
    listing = [*COMMAND, "list", "--recovery-group", task["name"], "--log-group", "-Y"]
    rows = task.rows(listing, "rgLogGroup", {"logGroup": str, "server": str}, absent="does not exist")
    return {row["logGroup"]: row["server"] for row in rows}


def _members(task: Task) -> list[str]:
    """Return the servers of the class."""
    held = [each["members"].split(",") for each in task.vdisk_classes() if each["nodeClass"] == task["node_class"]]
    return held[0] if held else []


def _half_made(task: Task) -> bool:
    """Whether the creation was cut short before the root log group was there: it cannot be gone on with then."""
    return _group(task) is not None and not _logs(task)


def _clear(task: Task, job: Job) -> None:
    """Delete a group that is half made, and remember that what is on the drives is its own."""
    if _half_made(task) and not job.running():
        if not task.check:
            job.mark.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            job.mark.touch()
        task.change(*COMMAND, "delete", "--recovery-group", task["name"], "--confirm", "-p")
    task.end(ready=False)


def _create(task: Task, job: Job) -> tuple[str, ...]:
    """Create the group if there is none; labels on the drives are looked for unless a group left them half made."""
    task.before["log groups"] = len(_logs(task))
    task.after["log groups"] = 2 * len(task["nodes"]) + 1
    half_made = _half_made(task)
    if half_made and task.check:
        task.commands.append([*COMMAND, "delete", "--recovery-group", task["name"], "--confirm", "-p"])
    elif _group(task) is not None:
        return ()
    look = "no" if half_made or job.mark.is_file() else "yes"
    return (*COMMAND, "create", "--recovery-group", task["name"], "--node-class", task["node_class"], "-v", look)


def _complete(task: Task, _: Job) -> tuple[str, ...]:
    """Format the log groups that are missing."""
    group = _group(task)
    if group is None or (task.check and _half_made(task)):
        return ()
    if group["AddNode"] or len(_logs(task)) == 2 * len(_members(task)) + 1:
        return ()
    return (*COMMAND, "create", "--complete-log-format")


def _add(task: Task, _: Job) -> tuple[str, ...]:
    """Add the servers that the group lacks."""
    group, members = _group(task), _members(task)
    missing = [node for node in task["nodes"] if node not in members]
    task.before["servers"], task.after["servers"] = members if group else [], task["nodes"]
    if group is None or group["AddNode"] or not missing:
        return ()
    return (*COMMAND, "add", "--recovery-group", task["name"], "-N", ",".join(missing))


def _complete_add(task: Task, _: Job) -> tuple[str, ...]:
    """Complete an addition, also one that was cut short."""
    group = _group(task)
    if group is None or not (group["AddNode"] or (task.check and len(_members(task)) < len(task["nodes"]))):
        return ()
    return (*COMMAND, "add", "--recovery-group", task["name"], "--complete-node-add")


def _settle(task: Task) -> None:
    """Raise the spares, move the root log group, and see that every pdisk is ok."""
    change = (*COMMAND, "change", "--recovery-group", task["name"])
    listing = [*COMMAND, "list", "--recovery-group", task["name"], "--declustered-array", "-Y"]
    arrays = task.rows(listing, "rgDeclusteredArray", {"declusteredArray": str, "spares": int})
    for array in arrays if task["spares"] is not None else []:
        if array["spares"] < task["spares"]:
            task.before["spares"], task.after["spares"] = array["spares"], task["spares"]
            task.change(
                *change, "--declustered-array", array["declusteredArray"], "--spare-pdisks", str(task["spares"])
            )
    root = _logs(task).get("root")
    if task["root_server"] and root and root != task["root_server"]:
        task.change(*change, "--log-group", "root", "--active", task["root_server"])
    bad = task.rows(
        ["mmvdisk", "pdisk", "list", "--recovery-group", task["name"], "--not-ok", "-Y"],
        "pdiskSummary",
        {"pdiskName": str, "state": str},
        header=False,
    )
    if bad:
        message = "; ".join(f"pdisk {each['pdiskName']} is {each['state']}" for each in bad)
        raise MmError(message)


def main() -> None:
    """Run the module."""
    run(work, SPEC)


if __name__ == "__main__":
    main()
