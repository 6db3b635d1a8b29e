"""The steps after the mount: the cache fileset with its limits, and the clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.site.scale.build_steps import create_cluster, with_versions
from kvplan.site.scale.cluster import CLIENT_CLASS, DIRECTORY, daemons
from kvplan.site.scale.parameters import client_parameters
from kvplan.site.scale.step import Argv, Step

if TYPE_CHECKING:
    from kvplan.site.scale.cluster import Cluster

_KEYS: list[Argv] = [
    ["mmauth", "genkey", "new"],
    ["mmauth", "genkey", "commit"],
    ["mmauth", "update", ".", "-l", "AUTHONLY"],
]
PACKAGES: Final = (
    "gpfs.base", "gpfs.gpl", "gpfs.gskit", "gpfs.msg.en-us", "gpfs.docs", "gpfs.adv", "gpfs.crypto",
)  # fmt: skip
"""Packages of a GPU server, beside that of its edition: one cluster has one edition, a cluster of clients its own."""
_BUILT_WITH: Final = ("build-essential", "iputils-arping", "ksh", "libaio1t64", "m4")
"""Packages of Ubuntu 24.04 that Storage Scale runs and builds its kernel layer with, beside the kernel's headers."""
_PUBLIC_KEY: Final = "/var/mmfs/ssl/id_rsa_committed.pub"


def join_steps(cluster: Cluster) -> tuple[Step, ...]:
    """List the steps of fileset, quota and clients.

    Parameters
    ----------
    cluster
        The cluster.

    Returns
    -------
    tuple of Step
        Clients join the cluster, or form their own and mount from afar, as the Site says.

    References
    ----------
    IBM Storage Scale 6.0 documentation, filesets, quotas, and mounting a remote file system.
    """
    clients: tuple[Step, ...] = _remote(cluster) if cluster.is_remote else (_same_cluster(cluster),)
    clients = (_client_software(cluster), *clients) if cluster.deployment.clients else ()
    return (_fileset(cluster), _quota(cluster), *clients)


def _client_software(cluster: Cluster) -> Step:
    """Install packages on the clients and build the kernel layer."""
    needed = (*_BUILT_WITH, f"linux-headers-{cluster.deployment.site.versions.ubuntu_kernel}")
    edition, package = (
        ("gpfs.license.dm", "storage_scale_client") if cluster.is_remote else ("gpfs.license.ec", "storage_scale")
    )
    packages = (*PACKAGES, edition)
    return Step(
        name="client_software",
        title="Install the packages on the GPU servers and build the kernel layer",
        minutes="software",
        runs_on="each-client",
        daemons="any",
        package=package,
        reads=[["dpkg-query", "--show", *needed, *packages], ["modinfo", "mmfs26"]],
        commands=[["apt-get", "install", "-y", *needed, *with_versions(cluster, packages, "=")], ["mmbuildgpl"]],
        done_when="every package is there, in the version named, and the module mmfs26 is that of the running kernel",
    )


def _fileset(cluster: Cluster) -> Step:
    """Create the cache fileset with an inode space of its own, owned by the engines."""
    storage, engines = cluster.storage, cluster.deployment.site.inference.engines
    at_once = min(int(cluster.number("inode_preallocated")), cluster.inode_limit)
    name = [storage.file_system, storage.fileset]
    limit = ["--inode-space", "new", "--inode-limit", f"{cluster.inode_limit}:{at_once}"]
    return Step(
        name="fileset",
        title="Create and link the cache fileset",
        reads=[["mmlsfileset", *name, "-L", "-Y"]],
        commands=[
            ["mmcrfileset", *name, *limit],
            ["mmlinkfileset", *name, "-J", cluster.cache_path],
            ["chown", f"{engines.uid}:{engines.gid}", cluster.cache_path],
            ["chmod", "0770", cluster.cache_path],
        ],
        done_when="the fileset is linked at its path with this inode limit",
    )


def _quota(cluster: Cluster) -> Step:
    """Set the quota of the cache fileset."""
    storage = cluster.storage
    hard = cluster.quota_gib
    soft = hard * storage.watermarks.high_percent // 100 if cluster.allows_eviction else hard
    return Step(
        name="quota",
        title="Set the quota of the cache fileset",
        reads=[["mmlsquota", "-j", storage.fileset, storage.file_system, "-Y"]],
        commands=[["mmsetquota", f"{storage.file_system}:{storage.fileset}", "--block", f"{soft}G:{hard}G"]],
        done_when="mmlsquota shows both limits",
    )


def _configured(cluster: Cluster) -> list[Argv]:
    """Write the commands that store the parameters of the clients."""
    nodes = daemons(cluster.deployment.clients)
    return [
        ["mmchlicense", "client", "--accept", "-N", nodes],
        ["mmcrnodeclass", CLIENT_CLASS, "-N", nodes],
        *(entry.command for entry in client_parameters(cluster)),
    ]


def _same_cluster(cluster: Cluster) -> Step:
    """Let the clients join the storage cluster."""
    name = cluster.storage.file_system
    return Step(
        name="client_join",
        title="Add the GPU servers to the cluster and mount the file system there",
        minutes="clients",
        reads=[["mmlscluster", "-Y"], ["mmlslicense", "-L", "-Y"], ["mmlsmount", name, "-L", "-Y"]],
        commands=[
            ["mmaddnode", "-N", f"{DIRECTORY}/clients.stanza"],
            *_configured(cluster),
            ["mmstartup", "-N", CLIENT_CLASS],
            ["mmmount", name, "-N", CLIENT_CLASS],
        ],
        done_when="every client is listed and active, runs the values of client-mmchconfig.yaml, and has it mounted",
    )


def _remote(cluster: Cluster) -> tuple[Step, ...]:
    """Let the clients form a cluster, exchange keys, and mount from afar."""
    return _client_cluster(cluster), _client_keys(), _grant(cluster), _remote_mount(cluster)


def _client_cluster(cluster: Cluster) -> Step:
    """Create the clients' cluster."""
    return Step(
        name="client_cluster",
        title="Create the cluster of the GPU servers",
        minutes="clients",
        runs_on="client-admin",
        daemons="any",
        reads=[["mmlscluster", "-Y"], ["mmlslicense", "-L", "-Y"], ["mmgetstate", "-a", "-Y"]],
        commands=[create_cluster("clients.stanza", cluster.client_name), *_configured(cluster)],
        done_when="mmlscluster lists clients.stanza, and the parameters of client-mmchconfig.yaml are stored",
    )


def _client_keys() -> Step:
    """Make the keys of both clusters."""
    return Step(
        name="client_keys",
        title="Make a key for each cluster",
        minutes="clients",
        runs_on="both-admins",
        daemons="any",
        reads=[["mmauth", "show", ".", "-Y"]],
        commands=_KEYS,
        done_when="both clusters have a committed key and ask for authentication",
    )


def _grant(cluster: Cluster) -> Step:
    """Grant the clients' cluster access."""
    name, key = cluster.client_name, f"{DIRECTORY}/clients.pub"
    return Step(
        name="client_grant",
        title="Let the cluster of the GPU servers mount the file system",
        minutes="clients",
        reads=[["mmauth", "show", "all", "-Y"]],
        copies=[{"from": "client-admin", "path": _PUBLIC_KEY, "to": "storage-admin", "as": key}],
        commands=[
            ["mmauth", "add", name, "-k", key],
            ["mmauth", "grant", name, "-f", cluster.storage.file_system, "-a", "rw"],
        ],
        done_when="mmauth shows the clients' cluster with access rw to the file system",
    )


def _remote_mount(cluster: Cluster) -> Step:
    """Mount from the clients' cluster."""
    storage, key = cluster.storage, f"{DIRECTORY}/storage.pub"
    contacts = daemons(server for server in cluster.deployment.storage if server.name in cluster.quorum)
    name = storage.file_system
    return Step(
        name="client_mount",
        title="Mount the file system on the GPU servers",
        minutes="clients",
        runs_on="client-admin",
        daemons="any",
        reads=[
            ["mmremotecluster", "show", "all", "-Y"],
            ["mmremotefs", "show", "all", "-Y"],
            ["mmlsmount", name, "-L", "-Y"],
        ],
        copies=[{"from": "storage-admin", "path": _PUBLIC_KEY, "to": "client-admin", "as": key}],
        commands=[
            ["mmstartup", "-a"],
            ["mmremotecluster", "add", cluster.name, "-n", contacts, "-k", key],
            ["mmremotefs", "add", name, "-f", name, "-C", cluster.name, "-T", storage.mount, "-A", "yes"],
            ["mmmount", name, "-a"],
        ],
        done_when="every client is active, runs the values of client-mmchconfig.yaml, and has the file system mounted",
    )
