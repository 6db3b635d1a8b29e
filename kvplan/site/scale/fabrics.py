"""Which RDMA devices the daemons use, and the fabric number of each: ports connect inside one number only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.site.hostnet.roce import rdma_name

if TYPE_CHECKING:
    from kvplan.schema.roles import Network, Rail
    from kvplan.site.deployment import Deployment, Server

_JOINED: Final[tuple[tuple[Network, ...], ...]] = (("storage-client", "client"), ("storage",))
"""Networks whose ports talk to each other."""
_RAILS: Final[tuple[Rail, Rail]] = ("a", "b")
_DEVICE_PORT: Final = 1
"""An adapter in Ethernet mode has a device for each port, so the port of a device is always its first."""


def fabric_numbers(deployment: Deployment) -> dict[tuple[Network, Rail], int]:
    """Give each fabric its number: clients and storage apart, and rails apart where every machine has ports on both.

    A machine with ports on one rail only would not reach those on the other, so such networks share one number.

    Parameters
    ----------
    deployment
        Design and Site together.

    Returns
    -------
    dict of int
        The number of each network and rail, from 1.
    """
    numbers: dict[tuple[Network, Rail], int] = {}
    first = 1
    for networks in _JOINED:
        is_split = all(rails >= set(_RAILS) for rails in _rails(deployment, networks))
        second = first + is_split
        for network in networks:
            numbers |= {(network, "a"): first, (network, "b"): second}
        first = second + 1
    return numbers


def by_verbs_ports(deployment: Deployment, servers: tuple[Server, ...]) -> dict[str, list[Server]]:
    """Gather the servers whose `verbsPorts` are alike, in the order of the servers."""
    numbers = fabric_numbers(deployment)
    alike: dict[str, list[Server]] = {}
    for server in servers:
        alike.setdefault(_verbs_ports(server, numbers), []).append(server)
    return alike


def _verbs_ports(server: Server, numbers: dict[tuple[Network, Rail], int]) -> str:
    """Write the ports of one server by name."""
    ports = sorted((held.port for held in server.fabric), key=lambda port: port.name)
    return " ".join(f"{rdma_name(port.name)}/{_DEVICE_PORT}/{numbers[port.network, port.rail]}" for port in ports)


def _rails(deployment: Deployment, networks: tuple[Network, ...]) -> list[set[Rail]]:
    """List the rails of each server that has ports on any of the networks."""
    held = (
        {port.port.rail for port in server.fabric if port.port.network in networks}
        for server in (*deployment.storage, *deployment.clients)
    )
    return [rails for rails in held if rails]
