"""The files of all hosts' networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.schema.roles import ROLE_NOUNS
from kvplan.site.hostnet import places
from kvplan.site.hostnet.addresses import fabric_prefixes, server_ports
from kvplan.site.hostnet.common import common_files
from kvplan.site.hostnet.roce import roce_files
from kvplan.site.templating import rendered
from kvplan.site.tree import PRIVATE, File

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.site.deployment import Deployment, Server


def host_files(deployment: Deployment) -> Iterator[File]:
    """Write what a host needs for its networks: NetworkManager or netplan, FRR, RoCE, adapters, names and clock.

    Parameters
    ----------
    deployment
        The deployment.

    Yields
    ------
    File
        One file below `hosts/`, at its path on the host; what servers of a role share lies below `hosts/_common/`.
    """
    roles = tuple(dict.fromkeys(server.role for server in deployment.servers))
    yield File(
        "hosts/README.md", rendered("hostnet/README.md.j2", roles=[(role, ROLE_NOUNS[role][0]) for role in roles])
    )
    for role in roles:
        yield from common_files(deployment, role)
    for server in deployment.servers:
        yield from (_keyfiles if server.role == "storage" else _netplan)(deployment, server)
        yield File(places.of_server(server.name, places.LLDP), rendered("hostnet/lldpd.conf.j2", server=server.name))
        if server.fabric:
            yield File(places.of_server(server.name, places.FRR), _frr(deployment, server))
            yield from roce_files(deployment, server)


def _keyfiles(deployment: Deployment, server: Server) -> Iterator[File]:
    """Write a server's connections for NetworkManager, and its interfaces' names for udev."""
    keyfile = places.of_server(server.name, f"{places.KEYFILES}/{{}}.nmconnection")
    yield File(keyfile.format("lo"), rendered("hostnet/lo.nmconnection.j2", loopback=server.loopback), PRIVATE)
    whats = {leg.name: f"Leg to {leg.peer.device} {leg.peer.name}" for leg in server.fabric}
    for port in server_ports(deployment, server):
        what = whats.get(port.name, "Management network")
        text = rendered("hostnet/port.nmconnection.j2", what=f"{what}.", port=port)
        yield File(keyfile.format(port.name), text, PRIVATE)
        if port.mac:
            path = places.of_server(server.name, f"{places.LINKS}/10-kv-{port.name}.link")
            yield File(path, rendered("hostnet/port.link.j2", port=port))


def _netplan(deployment: Deployment, server: Server) -> Iterator[File]:
    """Write a server's network for netplan."""
    ports = tuple(server_ports(deployment, server))
    text = rendered("hostnet/netplan.yaml.j2", server=server.name, loopback=server.loopback, ports=ports)
    yield File(places.of_server(server.name, places.NETPLAN), text, PRIVATE)


def _frr(deployment: Deployment, server: Server) -> str:
    """Write a server's routing: a session on each leg."""
    legs = [
        {
            "gateway": leg.gateway,
            "asn": deployment.devices[leg.peer.device].asn,
            "port": leg.name,
            "switch": leg.peer.device,
            "switch_port": leg.peer.name,
        }
        for leg in server.fabric
    ]
    return rendered(
        "hostnet/frr.conf.j2", server=server.name, loopback=server.loopback, asn=server.device.asn, legs=legs,
        prefixes=fabric_prefixes(deployment.design),
    )  # fmt: skip
