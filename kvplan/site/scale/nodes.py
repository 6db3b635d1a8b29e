"""Node files, node classes and the drives that each node must show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvplan.site.scale.cluster import CLIENT_CLASS, SERVER_CLASS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvplan.site.deployment import Server
    from kvplan.site.scale.cluster import Cluster


def node_file(servers: Iterable[Server], quorum: frozenset[str]) -> str:
    """Write a file for `mmcrcluster -N` or `mmaddnode -N`: daemon name, designation, admin name.

    Quorum nodes are managers too; so each manager is a node whose loss the cluster notices.

    Parameters
    ----------
    servers
        The nodes, in order.
    quorum
        Inventory names of those in the quorum.

    Returns
    -------
    str
        A line a node; names are complete, because that is how name resolution gives them back.
    """
    return "".join(
        f"{server.names.daemon_fqdn}:{_designation(server.name in quorum)}:{server.names.admin_fqdn}\n"
        for server in servers
    )


def node_classes(cluster: Cluster) -> list[dict[str, Any]]:
    """List the node classes: one for each side's parameters, and one of mmvdisk for each recovery group."""
    storage, clients = cluster.deployment.storage, cluster.deployment.clients
    return [
        _node_class(SERVER_CLASS, "user", storage, cluster.name),
        *(
            {**_node_class(group.node_class, "mmvdisk", group.nodes, cluster.name), "recovery_group": group.name}
            for group in cluster.groups
        ),
        _node_class(CLIENT_CLASS, "user", clients, cluster.client_name if cluster.is_remote else cluster.name),
    ]


def slots(cluster: Cluster) -> dict[str, Any]:
    """Say which drives the slot map of each storage node must cover."""
    bays = cluster.deployment.plan.parts.server.drive_bays
    first = int(cluster.number("slot_first"))
    return {
        "mode": "nvme",
        "first_slot": first,
        "last_slot": first + bays - 1,
        "nodes": [_drives(server) for server in cluster.deployment.storage],
    }


def _designation(is_quorum: bool) -> str:  # noqa: FBT001 - the one thing it asks
    """Write the designation of a node."""
    return "quorum-manager" if is_quorum else "nonquorum-client"


def _node_class(name: str, kind: str, servers: Iterable[Server], cluster: str) -> dict[str, Any]:
    """Write a node class."""
    members = [server.names.daemon_fqdn for server in servers]
    return {"name": name, "kind": kind, "cluster": cluster, "nodes": members}


def _drives(server: Server) -> dict[str, Any]:
    """Write what a storage node must show."""
    drives = server.site.data_drives
    return {
        "server": server.name,
        "node": server.names.daemon_fqdn,
        "drives": drives.count if drives else 0,
        "size_gb": drives.size_gb if drives else 0,
        "serials": list(drives.serials) if drives else [],
    }
