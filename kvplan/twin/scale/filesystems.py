"""File systems: creation, what is listed of them, mounts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.twin.scale.arguments import Arguments
from kvplan.twin.scale.limits import KIB
from kvplan.twin.scale.output import table
from kvplan.twin.scale.shell import Shell, command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.twin.scale.doc import Doc

_CREATE_SECONDS = 120.0
_PERCENT = 100
MOUNTS = "localDevName realDevName owningCluster totalNodes nodeIP nodeName clusterName"
_MMCRFS = {"-A": "automount", "-Q": "quotas", "-S": "atime", "-n": "nodes", "-m": "m", "-r": "r", "-i": "inode"}


def filesystem(shell: Shell, verb: str, words: list[str]) -> Iterator[float]:
    """Run `mmvdisk filesystem`.

    Parameters
    ----------
    shell
        Who runs it.
    verb
        create, add, list, delete.
    words
        The rest; options of mmcrfs come last.

    Yields
    ------
    float
        Seconds that the creation takes.
    """
    at = words.index("--mmcrfs") if "--mmcrfs" in words else len(words)
    valued = "--file-system --vdisk-set --failure-groups --trim"
    args = Arguments(shell.name, words[:at], valued, "-Y --confirm")
    held = shell.cluster["file_systems"]
    if verb == "list":
        rows = [(name, ",".join(each["sets"]), each["mount_point"]) for name, each in held.items()]
        shell.say(*table("mmvdisk", "filesystem", "fsName vdiskSets defaultMountPoint", rows))
        return
    shell.need_active()
    name = args.need("--file-system")
    if verb == "delete":
        _delete(shell, name)
        return
    sets = [_unused(shell, each) for each in args.need("--vdisk-set").split(",")]
    if verb == "add":
        known(shell, name)["sets"] += [each["name"] for each in sets]
    else:
        if name in held:
            shell.refuse(f"File system '{name}' already exists.")
        made = _made(shell, name, sets, words[at + 1 :])
        yield _CREATE_SECONDS
        shell.cluster["file_systems"][name] = made
        shell.say(f"mmvdisk: Creating file system '{name}'.", "mmcrfs: 6027-1371 Propagating the cluster configuration "
                  "data to all affected nodes.")  # fmt: skip
    for each in sets:
        shell.cluster["vdisk_sets"][each["name"]]["file_system"] = name


def _unused(shell: Shell, name: str) -> Doc:
    """Return a vdisk set that is created and belongs to no file system."""
    held: Doc | None = shell.cluster["vdisk_sets"].get(name)
    if held is None or not held["created"]:
        shell.refuse(f"Vdisk set '{name}' does not exist or is not created.")
    if held["file_system"]:
        shell.refuse(f"Vdisk set '{name}' is in use by file system '{held['file_system']}'.")
    return held


def _made(shell: Shell, name: str, sets: list[Doc], words: list[str]) -> Doc:
    """Return a file system with the options of mmcrfs."""
    options = Arguments("mmcrfs", words, "-T " + " ".join(_MMCRFS), "--filesetdf --auto-inode-limit --perfileset-quota")
    return {
        "name": name,
        "sets": [each["name"] for each in sets],
        "block": sets[0]["block"],
        "bytes": sum(each["bytes"] for each in sets),
        "mount_point": options.get("-T", f"/gpfs/{name}"),
        **{field: options.get(option, _default(option)) for option, field in _MMCRFS.items()},
        "filesetdf": "--filesetdf" in options.flags,
        "auto_inodes": "--auto-inode-limit" in options.flags,
        "version": "38.00 (6.0.0.0)" if shell.state["release"].startswith("6.0.0") else "36.00 (5.2.3.0)",
        "pools": sorted({each["pool"] for each in sets}),
        "filesets": {"root": {"id": 0, "path": "", "limit": 0, "allocated": 0, "quota": {}}},
        "policy": "",
        "used": 0,
    }


def _default(option: str) -> str:
    """Return what mmcrfs does without an option."""
    return {"-A": "yes", "-Q": "no", "-S": "relatime", "-n": "32", "-i": "4096"}.get(option, "1")


def known(shell: Shell, name: str) -> Doc:
    """Return a file system of the cluster.

    Parameters
    ----------
    shell
        Who asks.
    name
        Of the file system.

    Returns
    -------
    Doc
        The file system.

    Raises
    ------
    Refusal
        When the cluster knows none.
    """
    held: Doc | None = shell.cluster["file_systems"].get(name.rpartition("/")[2])
    if held is None:
        shell.refuse(f"6027-1388 File system {name} is not known to the GPFS cluster.")
    return held


def _delete(shell: Shell, name: str) -> None:
    """Delete a file system that is mounted nowhere."""
    held = known(shell, name)
    if any(name in shell.machine_of(node)["mounts"] for node in shell.cluster["nodes"]):
        shell.refuse(f"6027-1504 File system {name} is mounted.")
    for each in held["sets"]:
        shell.cluster["vdisk_sets"][each]["file_system"] = ""
    del shell.cluster["file_systems"][name]


@command("mmlsfs")
def mmlsfs(shell: Shell, words: list[str]) -> None:
    """List the attributes of a file system."""
    args = Arguments(shell.name, words, "", "-Y")
    names = list(shell.cluster["file_systems"]) if args.words == ["all"] else args.words
    rows = []
    for name in names:
        held = known(shell, name)
        fields = {
            "blockSize": held["block"],
            "quotasEnforced": "user;group;fileset" if held["quotas"] == "yes" else "none",
            "filesetdfEnabled": held["filesetdf"],
            "automaticMountOption": held["automount"],
            "defaultMountPoint": held["mount_point"],
            "suppressATime": held["atime"],
            "numNodes": held["nodes"],
            "inodeSize": held["inode"],
            "autoInodeLimit": held["auto_inodes"],
            "filesystemVersion": held["version"],
            "storagePools": ";".join(held["pools"]),
        }
        rows += [(name, field, value, "") for field, value in fields.items()]
    if not rows:
        shell.refuse("6027-1367 No file systems were found.")
    shell.say(*table(shell.name, "", "deviceName fieldName data remarks", rows))


@command("mmmount")
def mmmount(shell: Shell, words: list[str]) -> int:
    """Mount a file system on nodes whose daemon is active."""
    args = Arguments(shell.name, words, "-N", "-a")
    (name,) = args.words
    remote = shell.cluster["remote_file_systems"].get(name)
    if remote:
        need_granted(shell, remote)
    else:
        known(shell, name)
    shell.say("mmmount: 6027-1623 Mounting file systems ...")
    failed = 0
    for node in shell.chosen(args):
        held = shell.machine_of(node)
        if not shell.active(node):
            shell.err.append(f"{node['admin']}:  mount: 6027-665 Failed to connect to file system daemon: GPFS is down")
            failed = 1
        elif name not in held["mounts"]:
            held["mounts"].append(name)
    return failed


@command("mmumount")
def mmumount(shell: Shell, words: list[str]) -> None:
    """Unmount a file system."""
    args = Arguments(shell.name, words, "-N", "-a -f")
    (name,) = args.words
    for node in shell.chosen(args):
        held = shell.machine_of(node)
        held["mounts"] = [each for each in held["mounts"] if each != name]
    shell.say("mmumount: 6027-1674 Unmounting file systems ...")


def need_granted(shell: Shell, remote: Doc) -> None:
    """Refuse a file system of another cluster that did not let this one in.

    Parameters
    ----------
    shell
        Who asks.
    remote
        Name of the owner and of the file system there.

    Raises
    ------
    Refusal
        When the owner is unknown, has another key, or gave no access.
    """
    owner = shell.state["clusters"].get(remote["cluster"])
    mine = shell.cluster
    if owner is None or remote["device"] not in owner["file_systems"]:
        shell.refuse(f"6027-1388 File system {remote['device']} is not known to cluster {remote['cluster']}.")
    guest = owner["auth"].get(mine["name"], {})
    keys_fit = guest.get("key") == mine["auth"].get(".", {}).get("committed")
    if not keys_fit or mine["remote_clusters"][owner["name"]]["key"] != owner["auth"].get(".", {}).get("committed"):
        shell.refuse(f"6027-510 Cannot mount: authentication with cluster {owner['name']} failed.")
    if remote["device"] not in guest.get("grants", {}):
        shell.refuse(f"6027-510 Cannot mount: cluster {mine['name']} has no access to {remote['device']}.")


@command("mmlsmount")
def mmlsmount(shell: Shell, words: list[str]) -> None:
    """List where a file system is mounted, in clusters afar too."""
    args = Arguments(shell.name, words, "", "-Y -L")
    (name,) = args.words
    remote = shell.cluster["remote_file_systems"].get(name)
    owner = remote["cluster"] if remote else shell.cluster["name"]
    device = remote["device"] if remote else known(shell, name)["name"]
    found = []
    for cluster in shell.state["clusters"].values():
        far = [local for local, each in cluster["remote_file_systems"].items() if each["cluster"] == owner]
        local = device if cluster["name"] == owner else next(iter(far), "")
        found += [(node, cluster) for node in cluster["nodes"] if local in shell.machine_of(node)["mounts"]]
    rows = [(name, device, owner, len(found), node["ip"], node["daemon"], cluster["name"]) for node, cluster in found]
    shell.say(*table(shell.name, "", MOUNTS, rows or [(name, device, owner, 0, "", "", "")]))


@command("mmdf")
def mmdf(shell: Shell, words: list[str]) -> None:
    """Show how full a file system is."""
    args = Arguments(shell.name, words, "", "-Y")
    held = known(shell, args.words[0])
    size, free = held["bytes"] // KIB, (held["bytes"] - held["used"]) // KIB
    share = free * _PERCENT // size
    pools = [(pool, size, free, share, 0, 0) for pool in held["pools"]]
    shell.say(
        *table("mmdf", "poolTotal", "poolName poolSize freeBlocks freeBlocksPct freeFragments freeFragmentsPct", pools)
    )
    shell.say(*table("mmdf", "fsTotal", "fsSize freeBlocks freeBlocksPct freeFragments freeFragmentsPct",
                     [(size, free, share, 0, 0)]))  # fmt: skip


@command("mmlsnsd")
def mmlsnsd(shell: Shell, words: list[str]) -> None:
    """List NSDs: two of each vdisk set on each server. An unknown name is no error."""
    Arguments(shell.name, words, "-d -f", "-Y -X -L")
    rows = []
    for each in shell.cluster["vdisk_sets"].values():
        servers = shell.cluster["groups"][each["group"]]["servers"]
        for number in range(1, 2 * len(servers) + 1 if each["created"] else 1):
            disk = f"{each['group'].upper()}LG{number:03}{each['name'].upper()}"
            rows.append((each["file_system"], disk, f"0A{number:014X}", servers[(number - 1) // 2], "no"))
    wanted = words[words.index("-d") + 1].split(",") if "-d" in words else None
    rows = [row for row in rows if wanted is None or row[1] in wanted]
    shell.say(*table(shell.name, "nsd", "fileSystem diskName volumeId serverList thinDisk", rows))


@command("mmlsmgr")
def mmlsmgr(shell: Shell, words: list[str]) -> None:
    """List the managers: of each file system, and of the cluster."""
    Arguments(shell.name, words, "", "-Y -c")
    shell.need_active()
    held = shell.cluster["file_systems"]
    rows = [(name, manager_of(shell, each), "") for name, each in held.items()]
    shell.say(*table(shell.name, "filesystemManager", "filesystem manager managerIP", rows))
    first = next(node["daemon"] for node in shell.cluster["nodes"] if node["quorum"] and shell.active(node))
    shell.say(*table(shell.name, "clusterManager", "manager managerIP", [(first, "")]))


def manager_of(shell: Shell, held: Doc) -> str:
    """Return the node that manages a file system.

    Parameters
    ----------
    shell
        Who asks.
    held
        The file system.

    Returns
    -------
    str
        Daemon name: the one that was appointed, or the first that is active when that one is not.
    """
    able = [node["daemon"] for node in shell.cluster["nodes"] if node["manager"] and shell.active(node)]
    appointed: str = held.get("manager", "")
    return appointed if appointed in able else next(iter(able), "none")


@command("mmchmgr")
def mmchmgr(shell: Shell, words: list[str]) -> None:
    """Appoint another manager of a file system."""
    args = Arguments(shell.name, words, "", "-c")
    shell.need_active()
    device, name = args.words
    (node,) = shell.nodes(name)
    if not shell.active(node):
        shell.refuse(f"6027-1542 Node {name} is not active and cannot manage {device}.")
    known(shell, device)["manager"] = node["daemon"]
