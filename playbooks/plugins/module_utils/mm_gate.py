"""The health gate of a Storage Scale cluster, and waiting for it."""
# ruff: noqa: INP001

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from ansible.module_utils.mm import MmError, tolerances

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ansible.module_utils.mm_task import Task


def wait_for(task: Task, wrong: Callable[[], list[str]]) -> None:
    """Wait until nothing is wrong; at once in check mode.

    Parameters
    ----------
    task
        The module, with `timeout` and `poll`.
    wrong
        Says what is.

    Raises
    ------
    MmError
        When something still is after the time.
    """
    end = time.monotonic() + task["timeout"]
    while not task.check:
        faults = wrong()
        if not faults:
            return
        if time.monotonic() >= end:
            raise MmError("; ".join(faults))
        time.sleep(task["poll"])


def wait_healthy(
    task: Task,
    nodes: Sequence[str] = (),
    file_system: str | None = None,
    mounted_on: Sequence[str] = (),
    promised: Mapping[str, Any] | None = None,
) -> None:
    """Wait until the gate opens.

    Parameters
    ----------
    task
        The module.
    nodes
        Who must be active; all members if none is named.
    file_system
        What must be mounted.
    mounted_on
        Where.
    promised
        `code` of vdisks, and how many `nodes` and `devices` they survive.
    """
    wait_for(
        task,
        lambda: faults(task, nodes, file_system, mounted_on) + (weaker(task, **promised) if promised else []),
    )


def faults(
    task: Task, nodes: Sequence[str] = (), file_system: str | None = None, mounted_on: Sequence[str] = ()
) -> list[str]:
    """Return what keeps the gate shut.

    Parameters
    ----------
    task
        The module.
    nodes
        Who must be active; all members if none is named.
    file_system
        What must be mounted.
    mounted_on
        Where.

    Returns
    -------
    list of str
        One sentence each.
    """
    states = task.states()
    found = [f"{node} is {states.get(node)}" for node in nodes or states if states.get(node) != "active"]
    for group in task.groups():
        name = group["rgName"]
        found += [f"recovery group {name} needs service"] if group["needsService"] else []
        found += [f"server {group['suspendedServer']} of {name} is suspended"] if group["suspendedServer"] else []
        found += _busy(task, name) + _bad_disks(task, name)
    if file_system:
        columns = {"nodeName": str}
        mounts = {row["nodeName"] for row in task.rows(["mmlsmount", file_system, "-L", "-Y"], "", columns)}
        found += [f"{file_system} is not mounted on {node}" for node in mounted_on if node not in mounts]
    return found


def weaker(task: Task, code: str, nodes: int, devices: int) -> list[str]:
    """Say which vdisks survive less than was promised.

    Parameters
    ----------
    task
        The module.
    code
        The promised code: vdisks of another one are logs.
    nodes
        How many nodes they survive.
    devices
        How many drives besides.

    Returns
    -------
    list of str
        One sentence for each recovery group that falls short.
    """
    found = []
    for group in task.groups():
        name = group["rgName"]
        text = task.read("mmvdisk", "recoverygroup", "list", "--recovery-group", name, "--fault-tolerance") or ""
        held = {vdisk: counts for vdisk, (its, counts) in tolerances(text).items() if its == code.lower()}
        weak = {
            vdisk: counts
            for vdisk, counts in held.items()
            if (counts.get("node", 0), counts.get("pdisk", 0)) < (nodes, devices)
        }
        if not held:
            found.append(f"recovery group {name} has no vdisk of {code}")
        elif weak:
            vdisk, counts = next(iter(weak.items()))
            shown = " + ".join(f"{count} {unit}" for unit, count in counts.items())
            planned = f"{nodes} node + {devices} pdisk"
            found.append(f"fault tolerance of {len(weak)} vdisks of {name} is {shown} ({vdisk}), planned is {planned}")
    return found


def _busy(task: Task, group: str) -> list[str]:
    """Say which arrays restore redundancy or move data."""
    listing = ["mmvdisk", "recoverygroup", "list", "--recovery-group", group, "--declustered-array", "-Y"]
    arrays = task.rows(listing, "rgDeclusteredArray", {"declusteredArray": str, "backgroundTask": str})
    tasks = [(array["declusteredArray"], array["backgroundTask"]) for array in arrays]
    return [f"{name} of {group}: {work}" for name, work in tasks if work.startswith("reb")]


def _bad_disks(task: Task, group: str) -> list[str]:
    """Say which pdisks are not ok."""
    listing = ["mmvdisk", "pdisk", "list", "--recovery-group", group, "--not-ok", "-Y"]
    columns = {"pdiskName": str, "server": str, "state": str}
    disks = task.rows(listing, "pdiskSummary", columns, header=False)
    return [f"pdisk {disk['pdiskName']} of {disk['server']} is {disk['state']}" for disk in disks]


def events(task: Task, ignored: Sequence[str]) -> list[str]:
    """Return the health events that count.

    Parameters
    ----------
    task
        The module.
    ignored
        Those that do not.

    Returns
    -------
    list of str
        Node, component and event.
    """
    columns = {"node": str, "component": str, "event": str}
    held = task.rows(["mmhealth", "node", "show", "-N", "all", "-Y"], "Event", columns, header=False)
    return [f"{row['node']} {row['component']} {row['event']}" for row in held if row["event"] not in ignored]
