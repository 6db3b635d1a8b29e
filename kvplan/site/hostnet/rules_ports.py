"""Rules for the ports of servers: names, MAC addresses, addresses, frame sizes, routes."""

from __future__ import annotations

import re
from ipaddress import ip_address, ip_interface
from typing import TYPE_CHECKING, Final

from kvplan.site.hostnet import places
from kvplan.site.hostnet.addresses import fabric_prefixes
from kvplan.site.hostnet.parse import MAIN_TABLE
from kvplan.site.rules import Break, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.site.hostnet.view import Hosts

# The kernel's IFNAMSIZ is 16 with the byte that ends the name.
_PLAIN_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,14}")
_BARE_MAC: Final = re.compile(r"""macaddress:\s*(?!["'])[0-9a-fA-F]""")
_ENDS: Final = 2


@rule("KV-HST-001", "Each server has a network file for every port of the design, and there are no others.")
def _files(hosts: Hosts) -> Iterator[Break]:
    parts = (path.split("/") for path in hosts.tree if path.startswith("hosts/"))
    folders = {folder for _, folder, *rest in parts if rest}
    for folder in sorted(folders - {view.server.name for view in hosts.views} - {"_common"}):
        yield Break(f"hosts/{folder}", f"there is no server {folder}")
    for view in hosts.views:
        yield from view.misnamed
        expected = {*view.designed, *(["lo"] if view.server.loopback else [])}
        for name in sorted(expected - view.ports.keys()):
            yield Break(view.server.name, f"{name} has no network file")
        for name in sorted(view.ports.keys() - expected):
            yield Break(view.port_where(name), f"{name} is no port of {view.server.name}")


@rule("KV-HST-002", "Each file can be read by the rules of its format.")
def _readable(hosts: Hosts) -> Iterator[Break]:
    for view in hosts.views:
        yield from view.unreadable


@rule("KV-HST-003", "The Site has the MAC address of every port of a server.")
def _known_macs(hosts: Hosts) -> Iterator[Break]:
    for view in hosts.views:
        for name, port in view.designed.items():
            if not port.mac:
                remedy = f"Write the address that the card's label has into servers[{view.server.name}].macs.{name}."
                yield Break(view.server.name, f"the Site has no MAC address of {name}", remedy)


@rule("KV-HST-004", "A port's file has the MAC address that the Site has.")
def _macs(hosts: Hosts) -> Iterator[Break]:
    for view, port, designed in hosts.ports:
        if designed.mac and port.mac != designed.mac:
            text = f"{port.name} is matched by {port.mac or 'no MAC address'}, and the Site has {designed.mac}"
            yield Break(view.port_where(port.name), text)


@rule("KV-HST-006", "A MAC address in YAML is quoted: six pairs of digits would otherwise be a number.")
def _quoted_macs(hosts: Hosts) -> Iterator[Break]:
    for view in hosts.views:
        if _BARE_MAC.search(view.files.get(places.NETPLAN, "")):
            yield Break(view.where(places.NETPLAN), "a MAC address is not quoted")


@rule("KV-HST-007", "Each port's name is pinned to its MAC address, by a .link file or by netplan.")
def _pinned(hosts: Hosts) -> Iterator[Break]:
    for view, port, designed in hosts.ports:
        if designed.mac and not port.pinned:
            yield Break(view.port_where(port.name), f"the name {port.name} is not pinned to {designed.mac}")


@rule("KV-HST-008", "Names of interfaces are plain and have 15 characters at most.")
def _plain_names(hosts: Hosts) -> Iterator[Break]:
    for view in hosts.views:
        for name in sorted(view.ports.keys() | view.designed.keys()):
            if not _PLAIN_NAME.fullmatch(name):
                yield Break(view.server.name, f"{name!r} is no name for an interface", "Name the port anew.")


@rule("KV-HST-009", "A port has the address that the design gives it, and no other.")
def _addresses(hosts: Hosts) -> Iterator[Break]:
    for view, port, designed in hosts.ports:
        if port.addresses != (designed.address,):
            found = ", ".join(port.addresses) or "no address"
            text = f"{port.name} has {found}, and the design gives it {designed.address}"
            yield Break(view.port_where(port.name), text)


@rule("KV-HST-011", "Both ends of a leg are on one /31, and the host's next hop is the switch's end.")
def _ends(hosts: Hosts) -> Iterator[Break]:
    for view, port, leg in hosts.legs:
        where, far = view.port_where(leg.name), ip_interface(leg.peer.address)
        for text in port.addresses:
            near = ip_interface(text)
            if near.network != far.network or near.network.num_addresses != _ENDS or near.ip == far.ip:
                yield Break(where, f"{leg.name} has {text}, and {leg.peer.device} {leg.peer.name} has {far}")
        for via in sorted({route.via for route in port.routes} - {str(far.ip)}):
            yield Break(where, f"{leg.name} sends to {via}, and the switch has {far.ip}")


@rule("KV-HST-012", "Each leg has the Site's MTU of hosts.")
def _mtu(hosts: Hosts) -> Iterator[Break]:
    mtu = hosts.deployment.site.network.host_mtu_bytes
    for view, port, leg in hosts.legs:
        if port.mtu != mtu:
            text = f"{leg.name} has an MTU of {port.mtu or 'no stated size'}, and the Site says {mtu}"
            yield Break(view.port_where(leg.name), text)


@rule("KV-HST-015", "A server has no default route but the Site's gateway, on its management port.")
def _default_routes(hosts: Hosts) -> Iterator[Break]:
    gateway = hosts.deployment.site.network.management_gateway
    for view in hosts.views:
        wanted = {(port.port.name, gateway) for port in view.server.management[:1] if gateway}
        routes = [(port.name, route) for port in view.ports.values() for route in port.routes if route.is_default]
        for name, route in routes:
            if route.table != MAIN_TABLE or (name, route.via) not in wanted:
                yield Break(view.port_where(name), f"{name} has a default route through {route.via}")
        if wanted and not routes:
            yield Break(view.server.name, f"has no default route, and the Site's gateway is {gateway}")


@rule("KV-HST-016", "What leaves from a leg's address follows a table with routes through that leg.")
def _source_routes(hosts: Hosts) -> Iterator[Break]:
    fabric = fabric_prefixes(hosts.deployment.design)
    for view, port, leg in hosts.legs:
        tables = {entry.table for entry in port.rules if entry.source.removesuffix("/32") == leg.address} - {MAIN_TABLE}
        reached = {route.to for route in port.routes if route.table in tables}
        for prefix in fabric:
            if prefix not in reached:
                text = f"what leaves from {leg.address} has no table with a route to {prefix} through {leg.name}"
                yield Break(view.port_where(leg.name), text)


@rule("KV-HST-017", "No two legs of a server share a routing table.")
def _own_tables(hosts: Hosts) -> Iterator[Break]:
    for view in hosts.views:
        users: dict[int, str] = {}
        tables = ((port.name, table) for port in view.ports.values() for table in sorted({r.table for r in port.rules}))
        for name, table in tables:
            if table in users:
                yield Break(view.port_where(name), f"{name} and {users[table]} both use table {table}")
            users[table] = name


@rule("KV-HST-018", "IPv6 is on for every leg.")
def _ipv6(hosts: Hosts) -> Iterator[Break]:
    for view, port, leg in hosts.legs:
        if not port.ipv6:
            yield Break(view.port_where(leg.name), f"IPv6 is off on {leg.name}, and RDMA connections need it")


@rule("KV-HST-056", "No port takes addresses or routes from whoever offers them on the network.")
def _automatic(hosts: Hosts) -> Iterator[Break]:
    for view, port, _ in hosts.ports:
        for what in port.automatic:
            text = f"{port.name} takes what is offered by DHCP or routers' advertisements: {what}"
            yield Break(view.port_where(port.name), text)


@rule("KV-HST-057", "The Site's name servers and domain are on the management ports, and none are on legs.")
def _resolvers(hosts: Hosts) -> Iterator[Break]:
    network = hosts.deployment.site.network
    for view, port, _ in hosts.ports:
        is_leg = any(leg.name == port.name for leg in view.server.fabric)
        dns, search = ((), ()) if is_leg else (network.dns, (network.domain,))
        if {*port.dns} != {*dns} or port.search != search:
            found = ", ".join((*port.dns, *port.search)) or "no server"
            text = f"{port.name} asks {found} for names, not {', '.join((*dns, *search)) or 'nobody'}"
            yield Break(view.port_where(port.name), text)


@rule("KV-HST-053", "The gateway of the management network is in the prefix of a server's management port.")
def _gateway(hosts: Hosts) -> Iterator[Break]:
    gateway = hosts.deployment.site.network.management_gateway
    remedy = "Correct network.management_gateway, or the build's management prefix."
    for view in hosts.views:
        for port in (entry.port for entry in view.server.management if gateway):
            if ip_address(str(gateway)) not in ip_interface(port.address).network:
                yield Break(view.server.name, f"{port.name} has {port.address}, without {gateway}", remedy)


@rule("KV-HST-055", "LLDP calls a server and its ports what the plan of the cabling calls them.")
def _announced_names(hosts: Hosts) -> Iterator[Break]:
    for view in hosts.views:
        lines = view.files.get(places.LLDP, "").splitlines()
        for wanted in (f"configure system hostname {view.server.name}", "configure lldp portidsubtype ifname"):
            if wanted not in lines:
                text = f"lacks {wanted!r}, without which cables look wrong to switches"
                yield Break(view.where(places.LLDP), text)
