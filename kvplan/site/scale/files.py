"""All files about Storage Scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvplan.render.data import data_json
from kvplan.site.scale.build_steps import build_steps
from kvplan.site.scale.cluster import DIRECTORY, Cluster
from kvplan.site.scale.export import export_files
from kvplan.site.scale.fabrics import fabric_numbers
from kvplan.site.scale.join_steps import join_steps
from kvplan.site.scale.memory import memory_report
from kvplan.site.scale.nodes import node_classes, node_file, slots
from kvplan.site.scale.parameters import client_parameters, server_parameters
from kvplan.site.scale.policy import policy_files
from kvplan.site.templating import rendered
from kvplan.site.tree import File
from kvplan.site.yaml_out import yaml_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kvplan.site.deployment import Deployment
    from kvplan.site.scale.parameters import Parameter


def scale_files(deployment: Deployment) -> Iterator[File]:
    """Write what creates the storage cluster, its file system and cache fileset, joins the clients, and evicts.

    Parameters
    ----------
    deployment
        Plan, design and Site together.

    Yields
    ------
    File
        Files below `scale`.

    Examples
    --------
    >>> from kvplan.site.scale import scale_files, RULES
    >>> callable(scale_files), list(RULES)[0]
    (True, 'KV-SCL-001')
    """
    cluster = Cluster(deployment)
    steps = (*build_steps(cluster), *join_steps(cluster))
    clients = cluster.client_name if cluster.is_remote else cluster.name
    yield File("scale/README.md", rendered("scale/README.md.j2", **_page(cluster)))
    yield File("scale/nodes.stanza", node_file(deployment.storage, cluster.quorum))
    yield File("scale/clients.stanza", node_file(deployment.clients, cluster.client_quorum))
    yield File("scale/nodeclasses.yaml", yaml_text(node_classes(cluster)))
    yield File("scale/slots.yaml", yaml_text(slots(cluster)))
    yield File("scale/mmchconfig.yaml", _parameters(cluster.name, server_parameters(cluster)))
    yield File("scale/client-mmchconfig.yaml", _parameters(clients, client_parameters(cluster)))
    yield File("scale/steps.yaml", yaml_text([step.data(number, cluster) for number, step in enumerate(steps, 1)]))
    yield File("scale/memory.json", data_json(memory_report(cluster)))
    yield File("scale/capacity.json", data_json(_capacity(cluster)))
    yield from policy_files(cluster)
    yield from export_files(cluster)


def _page(cluster: Cluster) -> dict[str, Any]:
    """Gather what the page about the files names."""
    deployment = cluster.deployment
    return {
        "evicts": cluster.allows_eviction,
        "storage": len(deployment.storage),
        "clients": len(deployment.clients),
        "groups": cluster.groups,
        "code": cluster.code.name,
        "is_remote": cluster.is_remote,
        "directory": DIRECTORY,
        "quorum": sorted(cluster.quorum),
        "fabrics": fabric_numbers(deployment),
    }


def _parameters(cluster: str, parameters: Iterable[Parameter]) -> str:
    """Write the parameters of a cluster."""
    return yaml_text({"cluster": cluster, "parameters": [entry.data() for entry in parameters]})


def _capacity(cluster: Cluster) -> dict[str, Any]:
    """Say how the limits of the cache fileset come about, and what its vdisks survive by the Plan."""
    tolerance = cluster.deployment.plan.profile.fault_tolerance
    return {
        "file_system_bytes": cluster.capacity_bytes,
        "quota_gib": cluster.quota_gib,
        "file_bytes": cluster.file_bytes,
        "files": cluster.files,
        "inode_limit": cluster.inode_limit,
        "metadata_bytes": cluster.metadata_bytes,
        "erasure_code": cluster.code.name,
        "node_failures": tolerance.node_failures,
        "further_device_failures": tolerance.further_device_failures,
    }
