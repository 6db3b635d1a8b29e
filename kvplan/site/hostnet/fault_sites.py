"""Rules for all servers together: what must be there once, and what the Site must allow."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from kvplan.site.hostnet.rules import fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kvplan.schema.design import Finding
    from kvplan.site.deployment import Deployment
    from kvplan.site.hostnet.view import HostView


def site_faults(deployment: Deployment, hosts: list[HostView]) -> Iterator[Finding]:
    """Check what concerns several servers, or all.

    Parameters
    ----------
    deployment
        The deployment.
    hosts
        The files of every server.

    Yields
    ------
    Finding
        What breaks a rule.
    """
    yield from _frame_sizes(deployment)
    ports = [(host, port) for host in hosts for port in host.ports.values()]
    macs = ((port.mac, f"{host.server.name}:{port.name}") for host, port in ports if port.mac)
    for mac, users in _shared(macs):
        yield fault(5, users[1], f"{mac} is also that of {users[0]}", "Correct the MAC addresses in the Site.")
    addresses = (
        (address.partition("/")[0], f"{host.server.name}:{port.name}")
        for host, port in ports for address in port.addresses if not address.startswith("127.")
    )  # fmt: skip
    for address, users in _shared(addresses):
        yield fault(10, users[1], f"{address} is also that of {users[0]}")
    asns = ((str(host.frr.asn), host.server.name) for host in hosts if host.frr)
    for asn, users in _shared(asns):
        yield fault(27, users[1], f"AS {asn} is also that of {users[0]}")


def _frame_sizes(deployment: Deployment) -> Iterator[Finding]:
    """Compare the frame sizes that the Site chooses."""
    network = deployment.site.network
    if network.host_mtu_bytes > network.fabric_mtu_bytes:
        text = f"hosts send {network.host_mtu_bytes} bytes, and switches take {network.fabric_mtu_bytes}"
        yield fault(13, "network.host_mtu_bytes", text, "Lower network.host_mtu_bytes to that of the switches.")
    least = deployment.setting("host.rdma_least_mtu")
    if network.host_mtu_bytes < int(least):
        text = f"{network.host_mtu_bytes} bytes are too few for RDMA frames of 4096 bytes, which need {least}"
        yield fault(14, "network.host_mtu_bytes", text, "Raise network.host_mtu_bytes, to 9000 as a rule.", "warning")


def _shared(values: Iterable[tuple[str, str]]) -> Iterator[tuple[str, list[str]]]:
    """Find values that several users have."""
    users: dict[str, list[str]] = defaultdict(list)
    for value, user in values:
        users[value].append(user)
    return ((value, found) for value, found in users.items() if len(found) > 1)
