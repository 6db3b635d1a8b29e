"""The same plan for IBM's own ways: commands of the installation toolkit, and variables of ibm.spectrum_scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kvplan.site.scale.build_steps import block_size, file_system_options, vdisk_set_size
from kvplan.site.scale.cluster import CLIENT_CLASS, SERVER_CLASS
from kvplan.site.scale.parameters import Parameter, client_parameters, server_parameters
from kvplan.site.templating import rendered
from kvplan.site.tree import File
from kvplan.site.yaml_out import yaml_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.site.deployment import Server
    from kvplan.site.scale.cluster import Cluster

TOOLKIT: Final = "scale/export/toolkit.sh"
VARIABLES: Final = "scale/export/ibm-spectrum-scale.yml"
_MMVDISK: Final = "mmvdisk server configure"


def export_files(cluster: Cluster) -> Iterator[File]:
    """Write both exports; neither covers all of the native steps, and each says so.

    Parameters
    ----------
    cluster
        The cluster.

    Yields
    ------
    File
        Two files below `scale/export`.

    References
    ----------
    IBM Storage Scale 6.0.1 documentation, spectrumscale command; IBM/ibm-spectrum-scale-install-infra, roles ece_*.
    """
    yield File(TOOLKIT, rendered("scale/export/toolkit.sh.j2", **_toolkit(cluster)))
    yield File(VARIABLES, rendered("scale/export/variables.yml.j2", body=yaml_text(_inventory(cluster))))


def _toolkit(cluster: Cluster) -> dict[str, Any]:
    """Gather what the toolkit's commands name."""
    deployment = cluster.deployment
    return {
        "version": deployment.site.versions.storage_scale,
        "cluster": cluster.name,
        "installer": deployment.storage[0].admin_address,
        "nodes": deployment.storage,
        "quorum": cluster.quorum,
        "groups": cluster.groups,
        "code": cluster.code.name,
        "block": block_size(cluster).upper(),
        "set_size": vdisk_set_size(cluster),
        "file_system": cluster.storage.file_system,
        "options": " ".join(file_system_options(cluster)),
    }


def _inventory(cluster: Cluster) -> dict[str, Any]:
    """Write the inventory with the variables of the roles."""
    hosts = {server.name: _host(server, cluster, is_storage=True) for server in cluster.deployment.storage}
    if not cluster.is_remote:
        hosts |= {server.name: _host(server, cluster, is_storage=False) for server in cluster.deployment.clients}
    return {"all": {"hosts": hosts, "vars": _variables(cluster)}}


def _host(server: Server, cluster: Cluster, *, is_storage: bool) -> dict[str, Any]:
    """Write a host's variables."""
    in_quorum = server.name in cluster.quorum
    node_class = SERVER_CLASS if is_storage else CLIENT_CLASS
    return {
        "ansible_host": server.admin_address,
        "scale_daemon_nodename": server.names.daemon_fqdn,
        "scale_admin_nodename": server.names.admin_fqdn,
        "scale_cluster_quorum": in_quorum,
        "scale_cluster_manager": in_quorum,
        "scale_nodeclass": [node_class],
        "scale_out_node": is_storage,
    }


def _variables(cluster: Cluster) -> dict[str, Any]:
    """Write the variables of all hosts."""
    storage, groups = cluster.storage, cluster.groups
    return {
        "scale_version": cluster.deployment.site.versions.storage_scale,
        "scale_cluster_clustername": cluster.name,
        "scale_config": _config(cluster),
        "scale_ece_rg": [
            {
                "rg": group.name,
                "nodeclass": group.node_class,
                "servers": ",".join(server.names.daemon_fqdn for server in group.nodes),
            }
            for group in groups
        ],
        "scale_ece_vdisk": [
            {
                "vdisk": group.vdisk_set,
                "rg": group.name,
                "ec": cluster.code.name.lower(),
                "blocksize": block_size(cluster).upper(),
                "Size": vdisk_set_size(cluster),
            }
            for group in groups
        ],
        "scale_ece_filesystem": [
            {
                "filesystem": storage.file_system,
                "vs": ",".join(group.vdisk_set for group in groups),
                "mount_point": storage.mount,
                "mmcrfs": " ".join(file_system_options(cluster)),
            }
        ],
    }


def _config(cluster: Cluster) -> list[dict[str, Any]]:
    """Write the parameters of node classes; those of single nodes are left out, for the roles know classes only."""
    classes: dict[str, list[Parameter]] = {SERVER_CLASS: [], CLIENT_CLASS: []}
    shown = (*server_parameters(cluster), *(() if cluster.is_remote else client_parameters(cluster)))
    for entry in shown:
        if entry.target in classes and entry.set_by != _MMVDISK:
            classes[entry.target].append(entry)
    return [
        {"nodeclass": name, "params": [{entry.name: entry.value} for entry in entries]}
        for name, entries in classes.items()
        if entries
    ]
