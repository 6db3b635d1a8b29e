"""Rules for all servers together: what must be there once, and what the Site must allow."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from kvplan.site.rules import Break, rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kvplan.site.hostnet.view import Hosts

_MTU: Final = "network.host_mtu_bytes"


@rule("KV-HST-005", "No two ports have the same MAC address.")
def _own_macs(hosts: Hosts) -> Iterator[Break]:
    macs = (
        (port.mac, f"{view.server.name}:{port.name}")
        for view in hosts.views
        for port in view.ports.values()
        if port.mac
    )
    for mac, users in _shared(macs):
        yield Break(users[1], f"{mac} is also that of {users[0]}", "Correct the MAC addresses in the Site.")


@rule("KV-HST-010", "No two ports of servers have the same address.")
def _own_addresses(hosts: Hosts) -> Iterator[Break]:
    ports = ((view.server.name, port) for view in hosts.views for port in view.ports.values())
    addresses = (
        (address.partition("/")[0], f"{server}:{port.name}")
        for server, port in ports
        for address in port.addresses
        if not address.startswith("127.")
    )
    for address, users in _shared(addresses):
        yield Break(users[1], f"{address} is also that of {users[0]}")


@rule("KV-HST-013", "The MTU of hosts is not above that of the switches.")
def _mtu_of_switches(hosts: Hosts) -> Iterator[Break]:
    network = hosts.deployment.site.network
    if network.host_mtu_bytes > network.fabric_mtu_bytes:
        text = f"hosts send {network.host_mtu_bytes} bytes, and switches take {network.fabric_mtu_bytes}"
        yield Break(_MTU, text, f"Lower {_MTU} to that of the switches.")


@rule("KV-HST-014", "The MTU of hosts lets RDMA use frames of 4096 bytes.", "warning")
def _mtu_of_rdma(hosts: Hosts) -> Iterator[Break]:
    least, mtu = hosts.deployment.setting("host.rdma_least_mtu"), hosts.deployment.site.network.host_mtu_bytes
    if mtu < int(least):
        text = f"{mtu} bytes are too few for RDMA frames of 4096 bytes, which need {least}"
        yield Break(_MTU, text, f"Raise {_MTU}, to 9000 as a rule.")


@rule("KV-HST-027", "No two servers have the same ASN.")
def _own_numbers(hosts: Hosts) -> Iterator[Break]:
    for asn, users in _shared((str(view.frr.asn), view.server.name) for view in hosts.views if view.frr):
        yield Break(users[1], f"AS {asn} is also that of {users[0]}")


def _shared(values: Iterable[tuple[str, str]]) -> Iterator[tuple[str, list[str]]]:
    """Find values that several users have."""
    users: dict[str, list[str]] = defaultdict(list)
    for value, user in values:
        users[value].append(user)
    return ((value, found) for value, found in users.items() if len(found) > 1)
