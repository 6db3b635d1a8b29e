"""The steps that lead from bare nodes to a mounted file system, in the order of Storage Scale's native commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.core.arithmetic import ceil_div
from kvplan.site.scale.cluster import DIRECTORY, SERVER_CLASS, Cluster, Group, daemons
from kvplan.site.scale.memory import pagepool_bytes
from kvplan.site.scale.parameters import server_parameters
from kvplan.site.scale.step import Argv, Step
from kvplan.units import KIB, MIB

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGES: Final = (
    "gpfs.base", "gpfs.gpl", "gpfs.gskit", "gpfs.msg.en_US", "gpfs.docs", "gpfs.license.ec", "gpfs.adv", "gpfs.crypto",
    "gpfs.compression", "gpfs.gnr", "gpfs.gnr.base", "gpfs.gnr.support-scaleout",
)  # fmt: skip
"""Packages of a node that holds drives."""
_OWN_VERSIONS: Final = frozenset({"gpfs.gskit", "gpfs.gnr.base", "gpfs.gnr.support-scaleout"})
"""Packages that are numbered apart from the release, such as gpfs.gskit-8.0.55-19.1: there is one of each in it."""
_DECLUSTERED_ARRAY: Final = "DA1"


def build_steps(cluster: Cluster) -> tuple[Step, ...]:
    """List the fifteen native steps.

    Parameters
    ----------
    cluster
        The cluster.

    Returns
    -------
    tuple of Step
        From packages to the mount on storage nodes.

    References
    ----------
    IBM Storage Scale ECE 6.0.1 documentation, mmvdisk command reference; threen134/cloudland gpfs_ece.sh (6.0.0.2).
    """
    return tuple(step(cluster) for step in _STEPS)


def vdisk_set_size(cluster: Cluster) -> str:
    """Write the size of a vdisk set, in percent of what its declustered array holds."""
    return f"{cluster.storage.set_size_percent}%"


def block_size(cluster: Cluster) -> str:
    """Write the block size as mmvdisk takes it."""
    size = cluster.deployment.plan.profile.block_bytes
    return f"{size // MIB}m" if size >= MIB else f"{size // KIB}k"


def file_system_options(cluster: Cluster) -> Argv:
    """Write the options of mmcrfs; mmvdisk sets those of blocks and disks."""
    storage, deployment = cluster.storage, cluster.deployment
    times = "no" if storage.access_times else "relatime"
    nodes = max(len(deployment.storage) + len(deployment.clients), int(cluster.number("expected_nodes")))
    return [
        "-T", storage.mount, "-A", "yes", "-Q", "yes", "-S", times, "-n", str(nodes), "--filesetdf",
        "--auto-inode-limit",
    ]  # fmt: skip


def _software(cluster: Cluster) -> Step:
    """Install packages and build the kernel layer."""
    return Step(
        name="software",
        title="Install the packages and build the kernel layer",
        runs_on="each-storage-node",
        daemons="any",
        package="storage_scale",
        reads=[["rpm", "-q", *PACKAGES], ["modinfo", "mmfs26"]],
        commands=[["dnf", "install", "-y", *with_versions(cluster, PACKAGES, "-")], ["mmbuildgpl"]],
        done_when="every package is there, in the version named, and the module mmfs26 is that of the running kernel",
    )


def with_versions(cluster: Cluster, names: tuple[str, ...], joint: str) -> Argv:
    """Append the release to names as packages write it, 6.0.0.1 as 6.0.0-1; not to those numbered apart from it."""
    release, _, fix = cluster.deployment.site.versions.storage_scale.rpartition(".")
    return [name if name in _OWN_VERSIONS else f"{name}{joint}{release}-{fix}" for name in names]


def _cluster(cluster: Cluster) -> Step:
    """Create the cluster."""
    return Step(
        name="cluster",
        title="Create the cluster",
        daemons="any",
        reads=[["mmlscluster", "-Y"]],
        commands=[create_cluster("nodes.stanza", cluster.name)],
        done_when="mmlscluster lists the daemon and admin names of nodes.stanza, letter for letter",
    )


def create_cluster(node_file: str, name: str) -> Argv:
    """Write the command that creates a cluster from a node file."""
    shells = ["-r", "/usr/bin/ssh", "-R", "/usr/bin/scp"]
    return ["mmcrcluster", "-N", f"{DIRECTORY}/{node_file}", "-C", name, *shells]


def _licence(cluster: Cluster) -> Step:
    """Designate licences."""
    return Step(
        name="licence",
        title="Designate server licences, as the Site accepts them",
        daemons="any",
        reads=[["mmlslicense", "-L", "-Y"]],
        commands=[["mmchlicense", "server", "--accept", "-N", daemons(cluster.deployment.storage)]],
        done_when="the designated licence of each storage node is server",
    )


def _configure(cluster: Cluster) -> Step:
    """Store parameters and start the daemons."""
    nodes = daemons(cluster.deployment.storage)
    commands = [entry.command for entry in server_parameters(cluster) if entry.set_by == "mmchconfig"]
    return Step(
        name="configure",
        title="Store the parameters and start the daemons",
        daemons="any",
        reads=[["mmlsnodeclass", SERVER_CLASS, "-Y"], ["mmlsconfig", "-Y"], ["mmgetstate", "-a", "-Y"]],
        commands=[["mmcrnodeclass", SERVER_CLASS, "-N", nodes], *commands, ["mmstartup", "-a"]],
        done_when="stored and running values are those of mmchconfig.yaml, and mmgetstate shows every node active",
    )


def _nodeclass(cluster: Cluster) -> Step:
    """Make the node classes of the recovery groups."""
    return Step(
        name="nodeclass",
        title="Make a node class for each recovery group",
        reads=[["mmvdisk", "nodeclass", "list", "-Y"]],
        commands=_each(
            cluster,
            lambda group: [
                "mmvdisk", "nodeclass", "create", "--node-class", group.node_class, "-N", daemons(group.nodes)
            ],
        ),
        done_when="each node class lists the nodes of nodeclasses.yaml",
    )  # fmt: skip


def _topology(cluster: Cluster) -> Step:
    """Look at the disk topology; nothing is changed."""
    look = _each(
        cluster,
        lambda group: [
            "mmvdisk", "server", "list", "--node-class", group.node_class, "--disk-topology", "-Y"
        ],
    )  # fmt: skip
    return Step(
        name="topology",
        title="See that all nodes of a group show the same drives",
        reads=look,
        commands=[],
        done_when="no node needs attention, and the topology of all nodes of a group is the same",
    )


def _slot_map(cluster: Cluster) -> Step:
    """Map slots to drives."""
    first = int(cluster.number("slot_first"))
    last = first + cluster.deployment.plan.parts.server.drive_bays - 1
    return Step(
        name="slot_map",
        title="Map the slots of the backplane to drives, with the daemons down",
        runs_on="each-storage-node",
        daemons="down",
        reads=[["ecedrivemapping", "--report"]],
        commands=[
            ["mmshutdown"],
            ["ecedrivemapping", "--mode", "nvme", "--slotrange", str(first), str(last), "--force"],
            ["mmstartup"],
        ],
        done_when="the report of each node covers as many drives as slots.yaml expects of it, and the node is active",
    )


def _server_configure(cluster: Cluster) -> Step:
    """Configure the recovery group servers."""
    pagepool = str(pagepool_bytes(cluster, "server"))
    largest = f"{int(cluster.number('max_block_bytes')) // MIB}M"
    options = ["--recycle", "one", "--pagepool", pagepool, "--maxblocksize", largest]
    return Step(
        name="server_configure",
        title="Configure the servers, one daemon after the other",
        reads=_each(cluster, lambda group: ["mmvdisk", "server", "list", "--node-class", group.node_class, "-Y"]),
        commands=_each(
            cluster, lambda group: ["mmvdisk", "server", "configure", "--node-class", group.node_class, *options]
        ),
        done_when="each server is configured, and mmdiag --config on each node shows both values as asked",
    )


def _recovery_group(cluster: Cluster) -> Step:
    """Create the recovery groups, which writes over the data drives, and the log vdisks where they were put off."""
    create = _each(
        cluster,
        lambda group: [
            "mmvdisk", "recoverygroup", "create", "--recovery-group", group.name, "--node-class", group.node_class,
            "-v", "yes",
        ],
    )  # fmt: skip
    return Step(
        name="recovery_group",
        title="Create the recovery groups",
        destructive=True,
        reads=[["mmvdisk", "recoverygroup", "list", "-Y"]],
        commands=[*create, ["mmvdisk", "recoverygroup", "create", "--complete-log-format"]],
        done_when="a group of n nodes has 2n + 1 log groups, and no pdisk is other than ok",
    )


def _root_log_group(cluster: Cluster) -> Step:
    """Put the root log group of each recovery group on its first server, without which Storage Scale shows a tip."""
    group_of = ["mmvdisk", "recoverygroup"]
    return Step(
        name="root_log_group",
        title="Put the root log group on the first server of its recovery group",
        reads=_each(
            cluster, lambda group: [*group_of, "list", "--recovery-group", group.name, "--log-group", "-Y"]
        ),
        commands=_each(
            cluster,
            lambda group: [
                *group_of, "change", "--recovery-group", group.name, "--log-group", "root", "--active",
                group.nodes[0].names.daemon_fqdn,
            ],
        ),
        done_when="the root log group of each is served by its first server, and mmhealth shows no gnr_rg_not_primary",
    )  # fmt: skip


def _spares(cluster: Cluster) -> Step:
    """Set the spare space."""
    return Step(
        name="spares",
        title="Raise the spare space where it is less than planned",
        reads=_each(
            cluster,
            lambda group: [
                "mmvdisk", "recoverygroup", "list", "--recovery-group", group.name, "--declustered-array", "-Y"
            ],
        ),
        commands=_each(
            cluster,
            lambda group: [
                "mmvdisk", "recoverygroup", "change", "--recovery-group", group.name, "--declustered-array",
                _DECLUSTERED_ARRAY, "--spare-pdisks", str(spares(cluster, group)),
            ],
        ),
        done_when="the declustered array of each group has at least the planned spares",
    )  # fmt: skip


def spares(cluster: Cluster, group: Group) -> int:
    """Share the planned spares out to the groups by their nodes [pdisks]."""
    return ceil_div(cluster.deployment.plan.profile.spare_pdisks * len(group.nodes), len(cluster.deployment.storage))


def _vdisk_define(cluster: Cluster) -> Step:
    """Define the vdisk sets."""
    options = [
        "--code", cluster.code.name.lower(), "--block-size", block_size(cluster), "--set-size", vdisk_set_size(cluster),
        "--checksum-granularity", f"{cluster.granularity_bytes // KIB}k",
    ]  # fmt: skip
    return Step(
        name="vdisk_define",
        title="Define a vdisk set in each recovery group",
        reads=[["mmvdisk", "vdiskset", "list", "-Y"]],
        commands=_each(
            cluster,
            lambda group: [
                "mmvdisk", "vdiskset", "define", "--vdisk-set", group.vdisk_set, "--recovery-group", group.name,
                *options,
            ],
        ),
        done_when="each set is listed with this code, block size and size; none of them can be changed later",
    )  # fmt: skip


def _vdisk_create(cluster: Cluster) -> Step:
    """Create the vdisk sets."""
    return Step(
        name="vdisk_create",
        title="Create the vdisk sets",
        reads=[["mmvdisk", "vdiskset", "list", "-Y"]],
        commands=_each(cluster, lambda group: ["mmvdisk", "vdiskset", "create", "--vdisk-set", group.vdisk_set]),
        done_when="each set is listed as created",
    )


def _file_system(cluster: Cluster) -> Step:
    """Create the file system over all vdisk sets."""
    sets = ",".join(group.vdisk_set for group in cluster.groups)
    return Step(
        name="file_system",
        title="Create the file system",
        reads=[["mmvdisk", "filesystem", "list", "-Y"]],
        commands=[
            [
                "mmvdisk", "filesystem", "create", "--file-system", cluster.storage.file_system, "--vdisk-set", sets,
                "--mmcrfs", *file_system_options(cluster),
            ],
        ],
        done_when="mmlsfs shows block size, quotas, access times and mount point as asked",
    )  # fmt: skip


def _mount(cluster: Cluster) -> Step:
    """Mount on the storage nodes."""
    name = cluster.storage.file_system
    return Step(
        name="mount",
        title="Mount it on the storage nodes",
        reads=[["mmlsmount", name, "-L", "-Y"]],
        commands=[["mmmount", name, "-N", SERVER_CLASS]],
        done_when="every storage node has it mounted, and mmdf shows the planned capacity",
    )


def _each(cluster: Cluster, command: Callable[[Group], Argv]) -> list[Argv]:
    """Write a command for each recovery group."""
    return [command(group) for group in cluster.groups]


_STEPS: Final = (
    _software, _cluster, _licence, _configure, _nodeclass, _topology, _slot_map, _server_configure, _recovery_group,
    _root_log_group, _spares, _vdisk_define, _vdisk_create, _file_system, _mount,
)  # fmt: skip
