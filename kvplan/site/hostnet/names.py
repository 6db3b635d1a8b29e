"""Every machine by every name: the lines of /etc/hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.site.deployment import Deployment, Server


class NameLine(NamedTuple):
    """A line: an address, and its names with the full one first."""

    address: str
    names: tuple[str, ...]


def name_lines(deployment: Deployment) -> Iterator[NameLine]:
    """List the names of all servers and switches, and those that the Site adds.

    Parameters
    ----------
    deployment
        The deployment.

    Yields
    ------
    NameLine
        Admin and daemon names of a server are lines of their own, because Storage Scale wants to find the same name on
        the way back from an address.
    """
    domain = deployment.site.network.domain
    for server in deployment.servers:
        yield from _server_lines(server)
    for switch in deployment.switches:
        address = switch.device.management_address.partition("/")[0]
        yield NameLine(address, (f"{switch.name}.{domain}", switch.name))
    for extra in deployment.site.extra_names:
        yield NameLine(extra.address, (f"{extra.name}.{domain}", extra.name))


def _server_lines(server: Server) -> Iterator[NameLine]:
    """List both lines of a server; its inventory name goes with the admin name, if the daemon has not taken it."""
    names = server.names
    inventory = () if names.inventory in (names.admin, names.daemon) else (names.inventory,)
    yield NameLine(server.admin_address, (names.admin_fqdn, names.admin, *inventory))
    if names.daemon != names.admin:
        yield NameLine(server.daemon_address, (names.daemon_fqdn, names.daemon))
