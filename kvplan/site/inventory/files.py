"""The files of the inventory: one of hosts, one a group, one a host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvplan.site.inventory.groups import all_vars, group_vars
from kvplan.site.inventory.hosts import controller_vars, server_vars, switch_vars
from kvplan.site.tree import File
from kvplan.site.yaml_out import yaml_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kvplan.schema.roles import Role
    from kvplan.site.deployment import Deployment

SERVER_GROUPS: dict[Role, str] = {"storage": "storage", "client": "gpu", "control": "control"}
SWITCH_GROUPS: dict[Role, str] = {
    "leaf": "leaves",
    "spine": "spines",
    "super-spine": "super_spines",
    "management-switch": "management_switches",
}


def inventory_files(deployment: Deployment) -> Iterator[File]:
    """Write the inventory of a deployment.

    Groups: `storage`, `gpu`, `control`, `switches` with `leaves`, `spines`, `super_spines` and `management_switches`
    below it, and `bmc` with a controller a server. No file has a secret: `kv_secrets` says where each one is.

    Parameters
    ----------
    deployment
        What is deployed.

    Yields
    ------
    File
        `inventory/hosts.yml`, `inventory/group_vars/*.yml` and `inventory/host_vars/*.yml`.
    """
    yield _file("hosts.yml", _groups(deployment))
    yield _file("group_vars/all.yml", all_vars(deployment))
    for group, values in group_vars(deployment).items():
        yield _file(f"group_vars/{group}.yml", values)
    for server in deployment.servers:
        yield _file(f"host_vars/{server.name}.yml", server_vars(deployment, server))
        yield _file(f"host_vars/{controller_name(server.name)}.yml", controller_vars(server))
    for switch in deployment.switches:
        yield _file(f"host_vars/{switch.name}.yml", switch_vars(deployment, switch))


def controller_name(server: str) -> str:
    """Name the controller of a server in the inventory."""
    return f"{server}-bmc"


def _groups(deployment: Deployment) -> dict[str, Any]:
    """Sort all hosts into groups."""
    groups = {
        group: _hosts(server.name for server in deployment.in_role(role)) for role, group in SERVER_GROUPS.items()
    }
    switches = {
        group: _hosts(switch.name for switch in deployment.switches if switch.role == role)
        for role, group in SWITCH_GROUPS.items()
    }
    filled = {group: hosts for group, hosts in switches.items() if hosts["hosts"]}
    controllers = _hosts(controller_name(server.name) for server in deployment.servers)
    return {"all": {"children": {**groups, "switches": {"children": filled}, "bmc": controllers}}}


def _hosts(names: Iterable[str]) -> dict[str, Any]:
    """Make a group of hosts."""
    return {"hosts": {name: {} for name in names}}


def _file(path: str, data: dict[str, Any]) -> File:
    """Make one file of the inventory."""
    return File(f"inventory/{path}", yaml_text(data))
