"""Clusters: members, licences, node classes."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from kvplan.twin.scale.arguments import Arguments
from kvplan.twin.scale.output import table
from kvplan.twin.scale.shell import Shell, command

if TYPE_CHECKING:
    from kvplan.twin.scale.doc import Doc

SUMMARY = (
    "clusterName clusterId uidDomain rshPath rshSudoWrapper rcpPath rcpSudoWrapper repositoryType primaryServer "
    "secondaryServer"
)
NODE = "nodeNumber daemonNodeName ipAddress adminNodeName designation otherNodeRoles adminLoginName otherNodeRolesAlias"
LICENCE = (
    "nodeName requiredLicense designatedLicense totalNodes licensedServers licensedClients unlicensedServers "
    "unlicensedClients licensedFpo"
)
MOST_VOTERS = 8
"""Quorum nodes that a configuration repository takes."""
PROPAGATE = (
    "{}: 6027-1371 Propagating the cluster configuration data to all affected nodes.  This is an asynchronous process."
)


@command("mmcrcluster")
def mmcrcluster(shell: Shell, words: list[str]) -> None:
    """Create a cluster from a file of nodes."""
    args = Arguments(shell.name, words, "-N -C -r -R -p -s --port", "-A --ccr-enable")
    name = args.get("-C") or shell.machine_name
    if shell.machine["cluster"]:
        shell.refuse(f"6027-1598 Node {shell.machine_name} was not added to the cluster. "
                           "The node appears to already belong to a GPFS cluster.")  # fmt: skip
    nodes = _stanza(shell, args.need("-N"), 1)
    if not any(node["quorum"] for node in nodes):
        shell.refuse("6027-1668 There are no quorum nodes in the list of nodes.")
    _need_free(shell, nodes)
    if not any(node["machine"] == shell.machine_name for node in nodes):
        shell.refuse("6027-1670 The node on which the command runs must be in the list of nodes.")
    shell.state["clusters"][name] = {
        "name": name,
        "id": str(zlib.crc32(name.encode())),
        "rsh": args.get("-r", "/usr/bin/ssh"),
        "rcp": args.get("-R", "/usr/bin/scp"),
        "nodes": nodes,
        **{part: {} for part in ("config", "classes", "vdisk_classes", "groups", "vdisk_sets", "file_systems")},
        "configured": [],
        **{part: {} for part in ("callbacks", "auth", "remote_clusters", "remote_file_systems")},
    }
    if "-A" in args.flags:
        shell.state["clusters"][name]["config"]["autoload"] = {"": "yes"}
    _join(shell, name, nodes)


@command("mmaddnode")
def mmaddnode(shell: Shell, words: list[str]) -> None:
    """Add nodes to the cluster."""
    args = Arguments(shell.name, words, "-N", "--accept")
    cluster = shell.cluster
    last = max(node["number"] for node in cluster["nodes"])
    nodes = _stanza(shell, args.need("-N"), last + 1)
    known = {node["machine"] for node in cluster["nodes"]}
    for node in nodes:
        if node["machine"] in known:
            shell.refuse(f"6027-1598 Node {node['daemon']} was not added to the cluster. "
                               "The node appears to already belong to a GPFS cluster.")  # fmt: skip
    _need_free(shell, nodes)
    cluster["nodes"] += nodes
    _join(shell, cluster["name"], nodes)


@command("mmchnode")
def mmchnode(shell: Shell, words: list[str]) -> None:
    """Let nodes be of the quorum or managers, or no longer."""
    roles = {"--quorum": ("quorum", True), "--nonquorum": ("quorum", False),
             "--manager": ("manager", True), "--client": ("manager", False)}  # fmt: skip
    args = Arguments(shell.name, words, "-N", " ".join(roles))
    if not args.flags:
        shell.refuse("6027-1256 No change was specified.")
    shell.need_reach(nodes := shell.nodes(args.need("-N")))
    for role, holds in (roles[flag] for flag in args.flags):
        for node in nodes:
            if holds and node["licence"] not in ("server", ""):
                shell.refuse(f"6027-1855 Node {node['daemon']} has no server license.")
            node[role] = holds
    voters = [node for node in shell.cluster["nodes"] if node["quorum"]]
    if not 1 <= len(voters) <= MOST_VOTERS:
        shell.refuse(f"6027-1890 A cluster has 1 to {MOST_VOTERS} quorum nodes, not {len(voters)}.")
    if any(shell.machine_of(node)["daemon"] for node in shell.cluster["nodes"]) and not shell.quorate():
        shell.refuse("6027-1891 The change would leave the cluster without quorum.")
    shell.say(PROPAGATE.format(shell.name))


@command("mmdelnode")
def mmdelnode(shell: Shell, words: list[str]) -> None:
    """Remove nodes whose daemon is down and who serve nothing."""
    args = Arguments(shell.name, words, "-N", "-f")
    cluster = shell.cluster
    gone = shell.nodes(args.need("-N"))
    for node in gone:
        if shell.machine_of(node)["daemon"]:
            shell.refuse(f"6027-1347 GPFS is still active on node {node['daemon']}; it cannot be deleted.")
        if any(node["daemon"] in each["nodes"] for each in cluster["vdisk_classes"].values()):
            shell.refuse(f"6027-1669 Node {node['daemon']} is used by a mmvdisk node class.")
    cluster["nodes"] = [node for node in cluster["nodes"] if node not in gone]
    for node in gone:
        shell.machine_of(node).update(cluster="", running={})
        for members in cluster["classes"].values():
            if node["daemon"] in members:
                members.remove(node["daemon"])
    shell.say(PROPAGATE.format(shell.name))


@command("mmsdrrestore")
def mmsdrrestore(shell: Shell, words: list[str]) -> None:
    """Give nodes that were reinstalled the configuration of their cluster again."""
    args = Arguments(shell.name, words, "-N -p -R", "-a")
    cluster = shell.cluster
    nodes = shell.chosen(args)
    shell.need_reach(nodes)
    for node in nodes:
        held = shell.machine_of(node)
        if held["cluster"] not in ("", cluster["name"]) or held["leftover"]:
            shell.refuse(f"6027-1598 Node {node['daemon']} appears to already belong to a GPFS cluster.")
        held["cluster"] = cluster["name"]
    shell.say(f"{shell.name}: Command successfully completed")


def _stanza(shell: Shell, path: str, first: int) -> list[Doc]:
    """Read `name:designation:admin` lines; each name becomes the one that the reverse look-up gives."""
    is_file = ":" not in path and shell.file(path).is_file()
    lines = shell.file(path).read_text(encoding="utf-8").split() if is_file else path.split(",")
    nodes: list[Doc] = []
    for line in lines:
        name, designation, admin = (*line.split(":"), "", "")[:3]
        held = next((each for each in shell.state["machines"].values() if name in each["names"]), None)
        if held is None:
            shell.refuse(f"6027-1628 Cannot determine basic environment information. Host name {name} not known.")
        daemon = held["reverse"] or name
        nodes.append(
            {
                "number": first + len(nodes),
                "daemon": daemon,
                "admin": admin or daemon,
                "ip": held["ip"],
                "machine": held["name"],
                "quorum": designation.startswith("quorum") or "-quorum" in designation,
                "manager": "manager" in designation,
                "licence": "",
            }
        )
    return nodes


def _need_free(shell: Shell, nodes: list[Doc]) -> None:
    """Refuse nodes that do not answer, or that hold traces of a cluster."""
    shell.need_reach(nodes)
    for node in nodes:
        held = shell.machine_of(node)
        if not held["base"]:
            shell.err.append(f"{node['admin']}:  bash: line 1: /usr/lpp/mmfs/bin/mmremote: No such file or directory")
            shell.refuse(f"6027-1628 Cannot determine basic environment information on node {node['admin']}: "
                         "it lacks the package gpfs.base.")  # fmt: skip
        if held["cluster"] or held["leftover"]:
            shell.refuse(f"6027-1598 Node {node['daemon']} was not added to the cluster. "
                               "The node appears to already belong to a GPFS cluster.")  # fmt: skip


def _join(shell: Shell, name: str, nodes: list[Doc]) -> None:
    """Let machines know their cluster."""
    for node in nodes:
        shell.machine_of(node)["cluster"] = name
    shell.say(f"{shell.name}: Command successfully completed", f"{shell.name}: 6027-1254 Warning: Not all nodes have "
              "proper GPFS license designations.", PROPAGATE.format(shell.name))  # fmt: skip


@command("mmlscluster")
def mmlscluster(shell: Shell, words: list[str]) -> None:
    """List the cluster and its nodes."""
    args = Arguments(shell.name, words, "", "-Y")
    cluster = shell.cluster
    if "-Y" not in args.flags:
        shell.say("", "GPFS cluster information", f"  GPFS cluster name:         {cluster['name']}", "")
        shell.say(
            *(f"  {node['number']}   {node['daemon']}  {node['ip']}  {node['admin']}" for node in cluster["nodes"])
        )
        return
    name = cluster["name"]
    summary = (name, cluster["id"], name, cluster["rsh"], False, cluster["rcp"], False, "CCR", "", "")
    shell.say(*table(shell.name, "clusterSummary", SUMMARY, [summary]))
    shell.say(*table(shell.name, "clusterNode", NODE, [_listed(node) for node in cluster["nodes"]]))


def _listed(node: Doc) -> tuple[object, ...]:
    """Return a node as mmlscluster lists it."""
    parts = (("quorum", node["quorum"]), ("Manager" if node["quorum"] else "manager", node["manager"]))
    designation = "".join(word for word, held in parts if held)
    return (node["number"], node["daemon"], node["ip"], node["admin"], designation, "", "", "")


@command("mmchlicense")
def mmchlicense(shell: Shell, words: list[str]) -> None:
    """Designate licences; they must be accepted."""
    args = Arguments(shell.name, words, "-N", "--accept")
    if args.words not in (["server"], ["client"], ["fpo"]):
        shell.refuse(f"Incorrect license type {' '.join(args.words)}")
    if "--accept" not in args.flags:
        shell.refuse("6027-1855 The license agreement must be accepted: use --accept.")
    for node in shell.nodes(args.need("-N")):
        node["licence"] = args.words[0]
    shell.say(PROPAGATE.format(shell.name))


@command("mmlslicense")
def mmlslicense(shell: Shell, words: list[str]) -> None:
    """List the licence that each node needs and has."""
    Arguments(shell.name, words, "", "-L -Y")
    nodes = shell.cluster["nodes"]
    counts = [sum(node["licence"] == kind for node in nodes) for kind in ("server", "client", "")]
    rows = [(node["daemon"], required(node), node["licence"] or "none", len(nodes), *counts, 0, 0) for node in nodes]
    shell.say(*table(shell.name, "", LICENCE, rows))


def required(node: Doc) -> str:
    """Return the licence that a node needs.

    Parameters
    ----------
    node
        Of a cluster.

    Returns
    -------
    str
        Quorum and manager nodes are servers.
    """
    return "server" if node["quorum"] or node["manager"] else "client"


@command("mmcrnodeclass")
def mmcrnodeclass(shell: Shell, words: list[str]) -> None:
    """Make a node class of the user."""
    args = Arguments(shell.name, words, "-N")
    (name,) = args.words
    classes = shell.cluster["classes"]
    if name in classes or name in shell.cluster["vdisk_classes"]:
        shell.refuse(f"6027-1714 Node class {name} already exists.")
    classes[name] = [node["daemon"] for node in shell.nodes(args.need("-N"))]
    shell.say(PROPAGATE.format(shell.name))


@command("mmchnodeclass")
def mmchnodeclass(shell: Shell, words: list[str]) -> None:
    """Add nodes to a class, take them out, or replace them."""
    args = Arguments(shell.name, words, "-N")
    name, verb = args.words
    held = shell.cluster["classes"].get(name)
    if held is None:
        shell.refuse(f"6027-1715 Node class {name} is not known.")
    nodes = [node["daemon"] for node in shell.nodes(args.need("-N"))]
    if verb == "replace":
        held[:] = nodes
    elif verb == "add":
        held += [node for node in nodes if node not in held]
    else:
        held[:] = [node for node in held if node not in nodes]
    shell.say(PROPAGATE.format(shell.name))


@command("mmlsnodeclass")
def mmlsnodeclass(shell: Shell, words: list[str]) -> None:
    """List node classes of the user."""
    args = Arguments(shell.name, words, "", "-Y --all")
    vdisk = shell.cluster["vdisk_classes"]
    classes = {**shell.cluster["classes"], **{name: held["nodes"] for name, held in vdisk.items()}}
    for name in args.words:
        if name not in classes:
            shell.refuse(f"6027-1715 Node class {name} is not known.")
    rows = [(name, ",".join(classes[name])) for name in args.words or sorted(classes)]
    shell.say(*table(shell.name, "nodeclass", "nodeclass members", rows))
