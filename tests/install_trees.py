"""Rendered installer files, and what the rules find once something in them is changed."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from designs import plan_of
from sites import deployment_of, deployment_with, site_data

from kvplan.site.install import install_faults, install_files

if TYPE_CHECKING:
    from kvplan.schema.design import Finding
    from kvplan.site.deployment import Deployment

STORAGE = "install/storage-001.ks"
GPU = "install/gpu-0001/user-data"
GPU_META = "install/gpu-0001/meta-data"
CONTROL = "install/control-1/user-data"


def tree_of_deployment(deployment: Deployment) -> dict[str, str]:
    """Render the installer files of a deployment."""
    return {file.path: file.text for file in install_files(deployment)}


@cache
def installer_tree(nodes: int = 8) -> dict[str, str]:
    """Render the installer files of the deployment of so many nodes."""
    return tree_of_deployment(deployment_of(nodes))


def servers_with(name: str, **changes: Any) -> list[dict[str, Any]]:
    """Return the servers of the Site of 8 nodes, of which one says something else in some of its sections."""
    servers: list[dict[str, Any]] = site_data(plan_of(8))["servers"]
    server = next(server for server in servers if server["name"] == name)
    for section, values in changes.items():
        server[section] = {**server[section], **values}
    return servers


@cache
def with_known_data_drive() -> Deployment:
    """Return a deployment of 8 nodes in which a data drive of the first storage node is known by its serial number."""
    return deployment_with(8, servers=servers_with("storage-001", data_drives={"serials": ["DATAS0001X"]}))


def found_in(deployment: Deployment) -> list[Finding]:
    """Apply the rules to what is rendered for a deployment."""
    return list(install_faults(deployment, tree_of_deployment(deployment)))


def found_after(path: str, old: str, new: str, *, count: int = -1) -> list[Finding]:
    """Apply the rules to the tree of 8 nodes once a text in one file is replaced."""
    tree = dict(installer_tree())
    assert old in tree[path], f"{old!r} does not stand in {path}"
    tree[path] = tree[path].replace(old, new, count)
    return list(install_faults(with_known_data_drive(), tree))
