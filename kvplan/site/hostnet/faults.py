"""All rules over the files of hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.site.hostnet import places
from kvplan.site.hostnet.fault_common import name_faults, parameter_faults
from kvplan.site.hostnet.fault_ports import port_faults
from kvplan.site.hostnet.fault_roce import adapter_faults, roce_faults, unit_faults
from kvplan.site.hostnet.fault_routing import daemon_faults, routing_faults
from kvplan.site.hostnet.fault_sites import site_faults
from kvplan.site.hostnet.rules import fault
from kvplan.site.hostnet.view import views

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvplan.schema.design import Finding
    from kvplan.schema.roles import Role
    from kvplan.site.deployment import Deployment


def host_faults(deployment: Deployment, tree: Mapping[str, str]) -> Iterator[Finding]:
    """Check the rendered files of hosts, read back, against design, Site and catalogue.

    Parameters
    ----------
    deployment
        The deployment.
    tree
        The rendered tree, texts by path.

    Yields
    ------
    Finding
        What breaks a rule of `RULES`.
    """
    yield from _strays(deployment, tree)
    hosts = views(deployment, tree)
    for host in hosts:
        yield from host.broken
        yield from port_faults(deployment, host)
        yield from routing_faults(deployment, host)
        yield from roce_faults(deployment, host)
    yield from site_faults(deployment, hosts)
    roles = tuple(dict.fromkeys(server.role for server in deployment.servers))
    for role in roles:
        yield from _role_faults(deployment, role, tree)
    yield from _name_file_faults(deployment, roles, tree)


def _strays(deployment: Deployment, tree: Mapping[str, str]) -> Iterator[Finding]:
    """Find folders that are no server's."""
    parts = (path.split("/") for path in tree if path.startswith("hosts/"))
    folders = {folder for _, folder, *rest in parts if rest}
    for folder in sorted(folders - {server.name for server in deployment.servers} - {"_common"}):
        yield fault(1, f"hosts/{folder}", f"there is no server {folder}")


def _role_faults(deployment: Deployment, role: Role, tree: Mapping[str, str]) -> Iterator[Finding]:
    """Check the files that servers of a role share."""
    folder = places.of_role(role, "")
    files = {path.removeprefix(folder): text for path, text in tree.items() if path.startswith(f"{folder}/")}
    yield from parameter_faults(deployment, role, files)
    if any(server.fabric for server in deployment.in_role(role)):
        yield from daemon_faults(role, files)
        yield from unit_faults(role, files)
        yield from adapter_faults(deployment, role, files)


def _name_file_faults(deployment: Deployment, roles: tuple[Role, ...], tree: Mapping[str, str]) -> Iterator[Finding]:
    """Check the file of names of every role: once where they are equal, as they should be."""
    paths: dict[str, str] = {}
    for role in roles:
        path = places.of_role(role, places.HOSTS)
        paths.setdefault(tree.get(path, ""), path)
    for text, path in paths.items():
        yield from name_faults(deployment, path, text)
    for path in [*paths.values()][1:]:
        yield fault(48, path, "differs from that of other servers")
