"""Ports as files of hosts name them: addresses, next hop, and a routing table of its own for each leg."""

from __future__ import annotations

from ipaddress import IPv4Network, collapse_addresses
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.schema.design import Design
    from kvplan.site.deployment import Deployment, Server

FIRST_TABLE: Final = 101
"""Routing table and priority of the rule of a server's first leg: clear of the kernel's own (253 to 255, 32766)."""


class PortText(NamedTuple):
    """A port as templates read it; `routes` go to `next_hop` in `table`, and only a leg has them."""

    name: str
    mac: str
    address: str
    mtu: int | None = None
    gateway: str | None = None
    dns: tuple[str, ...] = ()
    """Name servers; a keyfile has those of each IP version in their own section."""
    search: tuple[str, ...] = ()
    routes: tuple[str, ...] = ()
    next_hop: str = ""
    table: int = 0

    @property
    def dns4(self) -> tuple[str, ...]:
        """The name servers with an IPv4 address."""
        return tuple(server for server in self.dns if ":" not in server)

    @property
    def dns6(self) -> tuple[str, ...]:
        """The name servers with an IPv6 address."""
        return tuple(server for server in self.dns if ":" in server)

    @property
    def host(self) -> str:
        """The address without the length of its prefix."""
        return self.address.partition("/")[0]


def fabric_prefixes(design: Design) -> tuple[str, ...]:
    """List the prefixes that a leg leads to: all of the design but those of management.

    Parameters
    ----------
    design
        The design.

    Returns
    -------
    tuple of str
        As few prefixes as hold exactly those addresses, in their order.
    """
    held = (IPv4Network(entry.prefix) for entry in design.addresses if entry.option != "management")
    return tuple(str(prefix) for prefix in collapse_addresses(held))


def server_ports(deployment: Deployment, server: Server) -> Iterator[PortText]:
    """List the ports of a server, management first; its gateway is the server's only default route.

    Parameters
    ----------
    deployment
        The deployment.
    server
        One of its servers.

    Yields
    ------
    PortText
        One port. A leg has routes to the fabric in a table of its own, which what comes from its address follows: so
        answers leave by the leg on which they were asked for.
    """
    network = deployment.site.network
    for index, port in enumerate(server.management):
        yield PortText(
            port.port.name, port.mac, port.port.address, gateway=None if index else network.management_gateway,
            dns=network.dns, search=(network.domain,),
        )  # fmt: skip
    prefixes = fabric_prefixes(deployment.design)
    for table, leg in enumerate(server.fabric, start=FIRST_TABLE):
        yield PortText(
            leg.name, leg.mac, leg.port.address, mtu=network.host_mtu_bytes,
            routes=prefixes, next_hop=leg.gateway, table=table,
        )  # fmt: skip
