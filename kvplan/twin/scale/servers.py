"""Servers of recovery groups: node classes, topology, slot maps, configuration."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kvplan.twin.scale.arguments import Arguments
from kvplan.twin.scale.daemon import store
from kvplan.twin.scale.limits import MEMORY_SPREAD, RAID_TRACKS, SERVERS, size_bytes
from kvplan.twin.scale.output import table
from kvplan.twin.scale.shell import Shell, command
from kvplan.twin.scale.world import effective

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.twin.scale.doc import Doc

RECYCLE_SECONDS = 60.0


@command("ecedrivemapping")
def ecedrivemapping(shell: Shell, words: list[str]) -> None:
    """Map the slots of the backplane to drives, with the daemon down."""
    args = Arguments(
        shell.name, [word for word in words if not word.isdigit()], "--mode", "--force --report --slotrange"
    )
    held = shell.machine
    drives = held["drives"]
    if "--report" in args.flags:
        shell.say("Slot  Device            Serial", *(
            f"{drive['slot']:>4}  {drive['device']:<16}  {drive['serial']}" for drive in drives if held["slot_map"]
            and drive["slot"] <= held["slot_map"]
        ))  # fmt: skip
        return
    if held["daemon"]:
        shell.refuse("GPFS must be down on this node to map drives.")
    if args.need("--mode") not in ("nvme", "lmr"):
        shell.refuse(f"Incorrect mode {args.get('--mode')}.")
    bounds = [int(word) for word in words if word.isdigit()]
    if "--slotrange" not in args.flags or len(bounds) != 2:  # noqa: PLR2004
        shell.refuse("No slot range was given and standard input is not a terminal.")
    held["slot_map"] = bounds[1]
    shell.say(f"Mapped {sum(drive['slot'] <= bounds[1] for drive in drives)} drives.")


def nodeclass(shell: Shell, verb: str, words: list[str]) -> None:
    """Run `mmvdisk nodeclass`.

    Parameters
    ----------
    shell
        Who runs it.
    verb
        create, list, delete.
    words
        The rest.
    """
    args = Arguments(shell.name, words, "--node-class -N", "-Y --confirm")
    cluster = shell.cluster
    classes = cluster["vdisk_classes"]
    if verb == "list":
        rows = [(name, ",".join(held["nodes"]), held["group"]) for name, held in sorted(classes.items())]
        shell.say(*table("mmvdisk", "nodeclass", "nodeClass members recoveryGroups", rows))
        return
    name = args.need("--node-class")
    if verb == "create":
        _create_class(shell, name, args)
        return
    held = known_class(shell, name)
    if held["group"] or set(held["nodes"]) & set(cluster["configured"]):
        shell.refuse(f"Node class '{name}' is configured or in use: unconfigure its servers first.")
    del classes[name]


def _create_class(shell: Shell, name: str, args: Arguments) -> None:
    """Make a node class of nodes that are in no other."""
    classes = shell.cluster["vdisk_classes"]
    if name in classes or name in shell.cluster["classes"]:
        shell.refuse(f"Node class '{name}' already exists.")
    nodes = [node["daemon"] for node in shell.nodes(args.need("-N"))]
    for other, held in classes.items():
        for node in nodes:
            if node in held["nodes"]:
                shell.refuse(f"Node '{node}' is already in mmvdisk node class '{other}'.")
    classes[name] = {"nodes": nodes, "group": ""}
    shell.say(f"mmvdisk: Node class '{name}' created.")


def known_class(shell: Shell, name: str) -> Doc:
    """Return a mmvdisk node class.

    Parameters
    ----------
    shell
        Who asks.
    name
        Of the class.

    Returns
    -------
    Doc
        The class.

    Raises
    ------
    Refusal
        When there is none.
    """
    held: Doc | None = shell.cluster["vdisk_classes"].get(name)
    if held is None:
        shell.refuse(f"Node class '{name}' does not exist.")
    return held


def server(shell: Shell, verb: str, words: list[str]) -> Iterator[float]:
    """Run `mmvdisk server`.

    Parameters
    ----------
    shell
        Who runs it.
    verb
        list, configure, unconfigure.
    words
        The rest.

    Yields
    ------
    float
        Seconds that a restart of a daemon takes.
    """
    valued = "--node-class --recycle --pagepool --maxblocksize --custom-config --disk-list --ignore-disk-list -N"
    args = Arguments(shell.name, words, valued, "--disk-topology -Y --update --verify -v")
    name = args.values["-N"] if "-N" in args.values else args.need("--node-class")
    group = "" if "-N" in args.values else known_class(shell, name)["group"]
    if verb == "list":
        _listing(shell, shell.nodes(name), topology_only="--disk-topology" in args.flags)
    elif verb == "unconfigure":
        _unconfigure(shell, name, group)
    elif "--verify" in args.flags:
        configured = shell.cluster["configured"]
        rows = [(node["daemon"], node["daemon"] in configured) for node in shell.nodes(name)]
        shell.say(*table("mmvdisk", "serverVerify", "nodeName configured", rows))
    else:
        _check_configure(shell, args, name)
        _store(shell, args, name)
        yield from _recycle(shell, args.get("--recycle", "none"), name)


def _unconfigure(shell: Shell, name: str, group: str) -> None:
    """Take the configuration from servers that no recovery group uses."""
    if group:
        shell.refuse(f"Node class '{name}' is in use by recovery group '{group}'.")
    gone = [node["daemon"] for node in shell.nodes(name)]
    shell.cluster["configured"] = [node for node in shell.cluster["configured"] if node not in gone]
    for parameter in ("pagepool", "nsdRAIDTracks"):
        store(shell.cluster, parameter, name, "DEFAULT")


def _check_configure(shell: Shell, args: Arguments, name: str) -> None:
    """Refuse servers that are down or differ, values in a form that was refused, and a stop of the whole quorum."""
    nodes = shell.nodes(name)
    if "--update" not in args.flags and all(node["daemon"] in shell.cluster["configured"] for node in nodes):
        shell.refuse(f"Node class '{name}' is already configured: use --update.")
    for node in nodes:
        if not shell.machine_of(node)["gnr"]:
            shell.refuse(f"Node '{node['daemon']}' lacks the package gpfs.gnr.")
        if not shell.active(node):
            shell.refuse(f"Node '{node['daemon']}' is not active.")
    if len({topology(shell.machine_of(node)) for node in nodes}) > 1:
        shell.refuse(f"The disk topologies of the servers of node class '{name}' differ.")
    memory = [shell.machine_of(node)["memory_gib"] for node in nodes]
    if max(memory) > min(memory) * (1 + MEMORY_SPREAD):
        shell.refuse(f"The servers of node class '{name}' do not have the same amount of memory.")
    pagepool = args.get("--pagepool")
    if pagepool and not pagepool.rstrip("%").isdigit():
        shell.refuse(f"Invalid argument '{pagepool}' for --pagepool.")
    if args.get("--recycle") == "all":
        shell.refuse("--recycle all stops GPFS on all servers. Do you wish to continue (yes or no)? No answer.")


def _store(shell: Shell, args: Arguments, name: str) -> None:
    """Store what was asked for; an update never lowers the page pool."""
    cluster = shell.cluster
    pagepool = args.get("--pagepool")
    if pagepool.endswith("%"):
        memory = min(shell.machine_of(node)["memory_gib"] for node in shell.nodes(name))
        pagepool = str((memory << 30) * int(pagepool[:-1]) // 100)
    targets = [name] if name in cluster["vdisk_classes"] else [node["daemon"] for node in shell.nodes(name)]
    for target in targets:
        older = cluster["config"].get("pagepool", {}).get(target, "0")
        if pagepool and not ("--update" in args.flags and int(pagepool) < int(older)):
            store(cluster, "pagepool", target, pagepool)
        store(cluster, "nsdRAIDTracks", target, RAID_TRACKS)
    if "--maxblocksize" in args.values:
        store(cluster, "maxblocksize", "", str(size_bytes(args.values["--maxblocksize"])))
    for pair in filter(None, args.get("--custom-config").split(",")):
        parameter, _, value = pair.partition("=")
        for target in targets:
            store(cluster, parameter, target, value)
    daemons = [node["daemon"] for node in shell.nodes(name)]
    cluster["configured"] += [node for node in daemons if node not in cluster["configured"]]
    shell.say(f"mmvdisk: Node class '{name}' is now configured to be recovery group servers.")


def _recycle(shell: Shell, how: str, name: str) -> Iterator[float]:
    """Restart one daemon after the other."""
    if how == "none":
        shell.say("mmvdisk: For configuration changes to take effect, GPFS should be restarted on the servers.")
        return
    for daemon in [node["daemon"] for node in shell.nodes(name)]:
        shell.say(f"mmvdisk: Restarting GPFS on node '{daemon}'.")
        yield RECYCLE_SECONDS
        (node,) = shell.nodes(daemon)
        shell.start(node)


def topology(machine: Doc) -> str:
    """Describe the drives of a machine as mmvdisk does.

    Parameters
    ----------
    machine
        Of the state.

    Returns
    -------
    str
        Count and kind.
    """
    sizes = Counter(drive["size_gb"] for drive in machine["drives"])
    return "ECE " + ", ".join(f"{count} NVMe" for _, count in sorted(sizes.items())) if sizes else "no disks"


def _listing(shell: Shell, nodes: list[Doc], *, topology_only: bool) -> None:
    """List servers: state, or drives."""
    if topology_only:
        kinds = Counter(topology(shell.machine_of(node)) for node in nodes)
        usual = kinds.most_common(1)[0][0]
        rows = []
        for node in nodes:
            shown = topology(shell.machine_of(node)) if shell.active(node) else "unavailable"
            rows.append((node["number"], node["daemon"], shown != usual, shown))
        shell.say(*table("mmvdisk", "serverDiskTopology", "nodeNumber nodeName needsAttention diskTopology", rows))
        return
    states = [(node["number"], node["daemon"], shell.active(node), *_use(shell, node["daemon"])) for node in nodes]
    shell.say(*table("mmvdisk", "serverSummary", "nodeNumber nodeName active recoveryGroup remarks", states))


def _use(shell: Shell, daemon: str) -> tuple[str, str]:
    """Return the recovery group of a server, and whether it was configured."""
    classes = shell.cluster["vdisk_classes"].values()
    group = next((held["group"] for held in classes if daemon in held["nodes"]), "")
    if daemon not in shell.cluster["configured"]:
        return group, "unconfigured"
    return group, f"serving {group}" if group else "configured"


def running_as_stored(shell: Shell, node: Doc) -> bool:
    """Whether the daemon of a server runs what mmvdisk stored for it.

    Parameters
    ----------
    shell
        Who asks.
    node
        The server.

    Returns
    -------
    bool
        False while it must be restarted.
    """
    stored = effective(shell.cluster, node["daemon"])
    running = shell.machine_of(node)["running"]
    return all(running.get(name) == stored.get(name) for name in ("pagepool", "nsdRAIDTracks", "maxblocksize"))


def need_count(shell: Shell, count: int) -> None:
    """Refuse too few or too many servers.

    Parameters
    ----------
    shell
        Who asks.
    count
        Servers of a recovery group.

    Raises
    ------
    Refusal
        When there are not that many.
    """
    if not SERVERS[0] <= count <= SERVERS[1]:
        shell.refuse(f"A scale-out recovery group takes {SERVERS[0]} to {SERVERS[1]} servers, not {count}.")
