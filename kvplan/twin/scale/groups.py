"""Recovery groups: creation over time, logs, spares, pdisks, suspension, growth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.twin.scale.arguments import Arguments
from kvplan.twin.scale.arrays import ARRAY, free_bytes, group_of, list_groups, pdisk_bytes
from kvplan.twin.scale.limits import FEWEST_SPARES, LARGE_ARRAY, LOG_SECONDS
from kvplan.twin.scale.servers import known_class, need_count, running_as_stored, topology

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.twin.scale.doc import Doc
    from kvplan.twin.scale.shell import Shell

_VALUED = (
    "--recovery-group --node-class -N --match --fanout -v --log-home-da --trim-da --split-da --declustered-array "
    "--spare-pdisks --suspend --resume --window --log-group --active --version"
)
_FLAGS = "-Y --defer-log-format --complete-log-format --complete-node-add --confirm -p --not-ok --restart"


def recoverygroup(shell: Shell, verb: str, words: list[str]) -> Iterator[float]:
    """Run `mmvdisk recoverygroup`.

    Parameters
    ----------
    shell
        Who runs it.
    verb
        create, add, list, change, delete.
    words
        The rest.

    Yields
    ------
    float
        Seconds that formatting takes.
    """
    if verb == "list":
        list_groups(shell, words)
        return
    args = Arguments(shell.name, words, _VALUED, _FLAGS)
    shell.need_active()
    if verb == "create" and "--complete-log-format" in args.flags:
        for name in (
            [args.values["--recovery-group"]] if "--recovery-group" in args.values else list(shell.cluster["groups"])
        ):
            yield from _format(shell, name)
    elif verb == "create":
        yield from _create(shell, args)
    elif verb == "add":
        yield from _add(shell, args)
    elif verb == "change":
        _change(shell, args)
    else:
        _delete(shell, args)


def _create(shell: Shell, args: Arguments) -> Iterator[float]:
    """Create a group: until its root log is there it is half made."""
    name = args.need("--recovery-group")
    if name in shell.cluster["groups"]:
        shell.refuse(f"Recovery group '{name}' already exists.")
    class_name = args.need("--node-class")
    held = known_class(shell, class_name)
    if held["group"]:
        shell.refuse(f"Node class '{class_name}' already serves recovery group '{held['group']}'.")
    _need_servers(shell, class_name, check="no" if args.get("-v") == "no" else "yes")
    servers = list(held["nodes"])
    shell.cluster["groups"][name] = {
        "name": name,
        "node_class": class_name,
        "servers": servers,
        "spares": max(FEWEST_SPARES, len(servers) // 2),
        "half_made": True,
        "logs": 0,
        "version": shell.state["release"],
        "suspended": "",
        "task": "scrub",
        "adding": False,
        "master": servers[0],
    }
    held["group"] = name
    for node in shell.nodes(class_name):
        for drive in shell.machine_of(node)["drives"]:
            drive["signature"] = f"pdisk of {name}"
    shell.say(f"mmvdisk: Checking node class '{class_name}'.", f"mmvdisk: Defining recovery group '{name}'.",
              f"mmvdisk: Creating recovery group '{name}'.")  # fmt: skip
    yield LOG_SECONDS
    group_of(shell, name).update(half_made=False, logs=1)
    if "--defer-log-format" in args.flags:
        shell.say("mmvdisk: Deferring recovery group log vdisk creation and format.")
        return
    yield from _format(shell, name)
    shell.say(f"mmvdisk: Created recovery group '{name}'.")


def _format(shell: Shell, name: str) -> Iterator[float]:
    """Format the logs that are not formatted yet, as long as all servers live."""
    group = group_of(shell, name)
    if group["half_made"]:
        shell.refuse(f"Vdisk {name.upper()}ROOTLOGHOME not found.")
    total = 2 * len(group["servers"]) + 1
    while group["logs"] < total:
        shell.say(f"mmvdisk: Formatting log vdisk {group['logs'] + 1} of {total} of recovery group '{name}'.")
        yield LOG_SECONDS
        group = group_of(shell, name)
        for node in shell.nodes(group["node_class"]):
            if not shell.active(node):
                shell.refuse(f"Node '{node['daemon']}' is not active: log format stopped.")
        group["logs"] += 1


def _need_servers(shell: Shell, name: str, check: str) -> None:
    """Refuse what a recovery group cannot be made of."""
    nodes = shell.nodes(name)
    need_count(shell, len(nodes))
    for node in nodes:
        machine = shell.machine_of(node)
        if not shell.active(node):
            shell.refuse(f"Node '{node['daemon']}' is not active.")
        if node["daemon"] not in shell.cluster["configured"]:
            shell.refuse(f"Server '{node['daemon']}' of node class '{name}' is not configured.")
        if not running_as_stored(shell, node):
            shell.refuse(f"Server '{node['daemon']}' does not run its configuration: GPFS must be restarted.")
        _need_drives(shell, node, machine, check)
    if len({topology(shell.machine_of(node)) for node in nodes}) > 1:
        shell.refuse(f"The disk topologies of the servers of node class '{name}' differ.")
    if sum(len(shell.machine_of(node)["drives"]) for node in nodes) < LARGE_ARRAY:
        shell.refuse(f"No declustered array would have {LARGE_ARRAY} pdisks.")


def _need_drives(shell: Shell, node: Doc, machine: Doc, check: str) -> None:
    """Refuse drives without a slot, with something on them, or with a volatile cache."""
    unmapped = [drive for drive in machine["drives"] if drive["slot"] > machine["slot_map"]]
    if unmapped:
        shell.refuse(f"Slot location is missing for disk {unmapped[0]['device']} on node '{node['daemon']}': "
                           f"{len(unmapped)} empty slot locations are found.")  # fmt: skip
    for drive in machine["drives"]:
        if drive["signature"] and check == "yes":
            shell.refuse(f"Disk {drive['device']} on node '{node['daemon']}' is already in use: "
                               f"{drive['signature']} found.")  # fmt: skip
        if drive["write_cache"]:
            shell.refuse(f"Volatile write cache is enabled on disk {drive['device']} of node '{node['daemon']}'.")


def _add(shell: Shell, args: Arguments) -> Iterator[float]:
    """Add servers to a group, and then, as a step of its own, complete that."""
    name = args.need("--recovery-group")
    group = group_of(shell, name)
    held = known_class(shell, group["node_class"])
    if "--complete-node-add" in args.flags:
        if not group["adding"]:
            shell.refuse(f"Recovery group '{name}' has no node addition to complete.")
        before = (group["logs"] - 1) // 2
        yield from _format(shell, name)
        group_of(shell, name).update(adding=False, task="rebalance")
        _widen(shell, name, before)
        return
    if group["adding"]:
        shell.refuse(f"A node addition to recovery group '{name}' is not complete.")
    fresh = [node["daemon"] for node in shell.nodes(args.need("-N"))]
    for node in shell.nodes(",".join(fresh)):
        if node["daemon"] in group["servers"]:
            shell.refuse(f"Node '{node['daemon']}' is already a server of recovery group '{name}'.")
        if topology(shell.machine_of(node)) != topology(shell.machine_of(shell.nodes(group["servers"][0])[0])):
            shell.refuse(f"The disk topology of node '{node['daemon']}' differs from that of '{name}'.")
        if node["daemon"] not in shell.cluster["configured"]:
            shell.refuse(f"Server '{node['daemon']}' is not configured.")
        _need_drives(shell, node, shell.machine_of(node), "yes")
    need_count(shell, len(group["servers"]) + len(fresh))
    for node in shell.nodes(",".join(fresh)):
        for drive in shell.machine_of(node)["drives"]:
            drive["signature"] = f"pdisk of {name}"
    group["servers"] += fresh
    held["nodes"] += fresh
    group["adding"] = True
    shell.say(f"mmvdisk: Updating server list of recovery group '{name}': run --complete-node-add next.")


def _widen(shell: Shell, name: str, before: int) -> None:
    """Put a vdisk of each set into each new log group, as large as those that there are."""
    for held in shell.cluster["vdisk_sets"].values():
        if held["group"] == name and held["created"]:
            more = held["bytes"] * (len(group_of(shell, name)["servers"]) - before) // before
            held["bytes"] += more
            if held["file_system"]:
                shell.cluster["file_systems"][held["file_system"]]["bytes"] += more


def _change(shell: Shell, args: Arguments) -> None:
    """Change spares, suspend and resume a server, move a log group, raise the version."""
    group = group_of(shell, args.need("--recovery-group"))
    if "--spare-pdisks" in args.values:
        if args.need("--declustered-array") != ARRAY:
            shell.refuse(f"Declustered array '{args.values['--declustered-array']}' does not exist.")
        wanted = int(args.values["--spare-pdisks"])
        if free_bytes(shell, group) < (wanted - group["spares"]) * pdisk_bytes(shell, group):
            shell.refuse(f"Not enough free space in declustered array '{ARRAY}' for {wanted} spares.")
        group["spares"] = wanted
    if "--suspend" in args.values or "-N" in args.values:
        (node,) = shell.nodes(args.get("-N") or args.values["--suspend"])
        if group["suspended"]:
            shell.refuse(f"Server '{group['suspended']}' is suspended already.")
        group["suspended"] = node["daemon"]
        shell.machine_of(node).update(daemon=False, running={}, mounts=[])
    if "--resume" in args.values:
        (node,) = shell.nodes(args.values["--resume"])
        group["suspended"] = ""
        shell.start(node)
    if "--active" in args.values:
        group["master"] = shell.nodes(args.values["--active"])[0]["daemon"]
    if "--version" in args.values:
        group["version"] = shell.state["release"]


def _delete(shell: Shell, args: Arguments) -> None:
    """Delete a group that nothing uses; a half made one goes only with -p."""
    name = args.need("--recovery-group")
    group = group_of(shell, name)
    users = [each["name"] for each in shell.cluster["vdisk_sets"].values() if each["group"] == name]
    if users:
        shell.refuse(f"Recovery group '{name}' is in use by vdisk set '{users[0]}'.")
    if group["half_made"] and "-p" not in args.flags:
        shell.refuse(f"Vdisk {name.upper()}ROOTLOGHOME not found.")
    if "--confirm" not in args.flags:
        shell.refuse("Deletion must be confirmed: use --confirm.")
    for node in shell.nodes(group["node_class"]):
        for drive in shell.machine_of(node)["drives"]:
            drive["signature"] = f"pdisk of {name}" if group["half_made"] else ""
    known_class(shell, group["node_class"])["group"] = ""
    del shell.cluster["groups"][name]
