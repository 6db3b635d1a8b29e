"""Rules for the ports of one server: names, MAC addresses, addresses, frame sizes, routes."""

from __future__ import annotations

import re
from ipaddress import ip_address, ip_interface
from typing import TYPE_CHECKING, Final

from kvplan.site.hostnet import places
from kvplan.site.hostnet.parse import MAIN_TABLE
from kvplan.site.hostnet.rules import fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.schema.design import Finding
    from kvplan.site.deployment import Deployment, HostPort, Server
    from kvplan.site.hostnet.parse import PortFile
    from kvplan.site.hostnet.view import HostView

# The kernel's IFNAMSIZ is 16 with the byte that ends the name.
_PLAIN_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,14}")
_BARE_MAC: Final = re.compile(r"""macaddress:\s*(?!["'])[0-9a-fA-F]""")


def port_faults(deployment: Deployment, view: HostView) -> Iterator[Finding]:
    """Check the network files of a server against design and Site.

    Parameters
    ----------
    deployment
        The deployment.
    view
        The server's files.

    Yields
    ------
    Finding
        What breaks a rule.
    """
    server = view.server
    macs = {port.port.name: port.mac for port in server.management} | {leg.name: leg.mac for leg in server.fabric}
    yield from _missing(view, macs)
    if _BARE_MAC.search(view.files.get(places.NETPLAN, "")):
        yield fault(6, view.where(places.NETPLAN), "a MAC address is not quoted")
    addresses = {port.port.name: port.port.address for port in server.management}
    addresses |= {leg.name: leg.port.address for leg in server.fabric}
    for name, address in addresses.items():
        if name in view.ports:
            yield from _labels(view, view.ports[name], macs[name])
            yield from _addresses(view, view.ports[name], address)
    yield from _default_routes(deployment, view)
    yield from _announced_names(view)
    yield from _tables(view)
    for leg in server.fabric:
        if leg.name in view.ports:
            yield from _leg(deployment, view, leg)


def _announced_names(view: HostView) -> Iterator[Finding]:
    """Check the names that switches see."""
    lines = view.files.get(places.LLDP, "").splitlines()
    for wanted in (f"configure system hostname {view.server.name}", "configure lldp portidsubtype ifname"):
        if wanted not in lines:
            yield fault(55, view.where(places.LLDP), f"lacks {wanted!r}, without which cables look wrong to switches")


def _expected(server: Server) -> set[str]:
    """List the ports that a server's files describe; one with a loopback address has `lo` too."""
    lo = {"lo"} if server.loopback else set()
    return lo | {port.port.name for port in server.management} | {leg.name for leg in server.fabric}


def _missing(view: HostView, macs: dict[str, str]) -> Iterator[Finding]:
    """Compare which ports there are, and see that labels are known."""
    expected = _expected(view.server)
    for name in sorted(expected - {*view.ports}):
        yield fault(1, view.server.name, f"{name} has no network file")
    for name in sorted({*view.ports} - expected):
        yield fault(1, view.port_where(name), f"{name} is no port of {view.server.name}")
    for name in sorted({*view.ports} | {*macs}):
        if not _PLAIN_NAME.fullmatch(name):
            yield fault(8, view.server.name, f"{name!r} is no name for an interface", "Name the port anew.")
    for name, mac in macs.items():
        if not mac:
            remedy = f"Write the address that the card's label has into servers[{view.server.name}].macs.{name}."
            yield fault(3, view.server.name, f"the Site has no MAC address of {name}", remedy)


def _labels(view: HostView, port: PortFile, mac: str) -> Iterator[Finding]:
    """Check MAC address and name of a port."""
    where = view.port_where(port.name)
    if mac and port.mac != mac:
        yield fault(4, where, f"{port.name} is matched by {port.mac or 'no MAC address'}, and the Site has {mac}")
    if mac and not port.pinned:
        yield fault(7, where, f"the name {port.name} is not pinned to {mac}")


def _addresses(view: HostView, port: PortFile, address: str) -> Iterator[Finding]:
    """Check the addresses of a port."""
    if port.addresses != (address,):
        found = ", ".join(port.addresses) or "no address"
        yield fault(9, view.port_where(port.name), f"{port.name} has {found}, and the design gives it {address}")


def _default_routes(deployment: Deployment, view: HostView) -> Iterator[Finding]:
    """See that only the management port leads everywhere."""
    gateway = deployment.site.network.management_gateway
    wanted = {(view.server.management[0].port.name, gateway)} if gateway else set()
    routes = [(port.name, route) for port in view.ports.values() for route in port.routes if route.is_default]
    for name, route in routes:
        if route.table != MAIN_TABLE or (name, route.via) not in wanted:
            yield fault(15, view.port_where(name), f"{name} has a default route through {route.via}")
    for port in view.server.management:
        if gateway and ip_address(gateway) not in ip_interface(port.port.address).network:
            remedy = "Correct network.management_gateway, or the build's management prefix."
            yield fault(53, view.server.name, f"{port.port.name} has {port.port.address}, without {gateway}", remedy)
    if wanted and not routes:
        yield fault(15, view.server.name, f"has no default route, and the Site's gateway is {gateway}")


def _tables(view: HostView) -> Iterator[Finding]:
    """See that each leg has a table of its own."""
    users: dict[int, str] = {}
    for port in view.ports.values():
        for table in sorted({rule.table for rule in port.rules}):
            if table in users:
                text = f"{port.name} and {users[table]} both use table {table}"
                yield fault(17, view.port_where(port.name), text)
            users[table] = port.name


def _leg(deployment: Deployment, view: HostView, leg: HostPort) -> Iterator[Finding]:
    """Check what only a leg has: peer, frame size, routes by source, IPv6."""
    port, where = view.ports[leg.name], view.port_where(leg.name)
    yield from _peer(view, leg)
    mtu = deployment.site.network.host_mtu_bytes
    if port.mtu != mtu:
        yield fault(12, where, f"{leg.name} has an MTU of {port.mtu or 'no stated size'}, and the Site says {mtu}")
    tables = {rule.table for rule in port.rules if rule.source.removesuffix("/32") == leg.address}
    if not any(route.table in tables and route.table != MAIN_TABLE for route in port.routes):
        yield fault(16, where, f"what leaves from {leg.address} has no table with routes through {leg.name}")
    if not port.ipv6:
        yield fault(18, where, f"IPv6 is off on {leg.name}, and RDMA connections need it")


def _peer(view: HostView, leg: HostPort) -> Iterator[Finding]:
    """Check that both ends of a leg are the two addresses of one /31, and that routes go to the other end."""
    where = view.port_where(leg.name)
    far = ip_interface(leg.peer.address)
    for text in view.ports[leg.name].addresses:
        near = ip_interface(text)
        if near.network != far.network or near.network.num_addresses != 2 or near.ip == far.ip:  # noqa: PLR2004 - a /31
            yield fault(11, where, f"{leg.name} has {text}, and {leg.peer.device} {leg.peer.name} has {far}")
    for via in sorted({route.via for route in view.ports[leg.name].routes} - {str(far.ip)}):
        yield fault(11, where, f"{leg.name} sends to {via}, and the switch has {far.ip}")
