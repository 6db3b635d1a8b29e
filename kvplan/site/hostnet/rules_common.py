"""Rules for names, clock, limits and kernel parameters, which servers of a role share."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING, Final

from kvplan.site.hostnet import places
from kvplan.site.hostnet.common import sysctls
from kvplan.site.rules import Break, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.site.deployment import Deployment
    from kvplan.site.hostnet.view import Hosts

_STRICT: Final = "1"
_MULTI_PORT: Final = {"net.ipv4.conf.all.arp_ignore": "1", "net.ipv4.conf.all.arp_announce": "2"}


@rule("KV-HST-020", "No kernel parameter turns IPv6 off.")
def _ipv6(hosts: Hosts) -> Iterator[Break]:
    for shared in hosts.shared:
        for key, value in shared.values(places.SYSCTL).items():
            if key.endswith(".disable_ipv6") and value != "0":
                yield Break(shared.where(places.SYSCTL), f"{key} turns IPv6 off, which RDMA connections need")


@rule("KV-HST-021", "The reverse path filter is not strict on servers with several legs.")
def _reverse_path(hosts: Hosts) -> Iterator[Break]:
    for shared in hosts.with_legs:
        parameters = shared.values(places.SYSCTL)
        for scope in ("all", "default"):
            if parameters.get(f"net.ipv4.conf.{scope}.rp_filter", _STRICT) == _STRICT:
                text = f"rp_filter of {scope} is strict: answers that come by another leg are dropped"
                yield Break(shared.where(places.SYSCTL), text)


@rule("KV-HST-022", "Servers with several legs answer and ask by ARP only for the addresses of the port.")
def _arp(hosts: Hosts) -> Iterator[Break]:
    for shared in hosts.with_legs:
        parameters = shared.values(places.SYSCTL)
        for key, value in _MULTI_PORT.items():
            if parameters.get(key) != value:
                text = f"{key} is not {value}: a port answers for addresses of others"
                yield Break(shared.where(places.SYSCTL), text)


@rule("KV-HST-023", "Kernel parameters have the values of the catalogue.")
def _parameters(hosts: Hosts) -> Iterator[Break]:
    for shared in hosts.shared:
        parameters = shared.values(places.SYSCTL)
        for key, value in sysctls(hosts.deployment, shared.role):
            if parameters.get(key) != value:
                text = f"{key} is {parameters.get(key, 'not set')}, wanted {value}"
                yield Break(shared.where(places.SYSCTL), text)


@rule("KV-HST-045", "/etc/hosts has every name of every machine at its address.")
def _names(hosts: Hosts) -> Iterator[Break]:
    remedy = "Render the tree again; names.admin_suffix and names.daemon_suffix must differ."
    for where, held in hosts.names.items():
        for name, address in _wanted(hosts.deployment):
            if address not in held.get(name, ()):
                yield Break(where, f"{name} is not at {address}", remedy)


@rule("KV-HST-046", "/etc/hosts has each name at one address.")
def _one_address(hosts: Hosts) -> Iterator[Break]:
    remedy = "Give each machine, and each of the Site's extra_names, a name of its own."
    for where, held in hosts.names.items():
        for name, found in held.items():
            if len({*found}) > 1 and not all(_is_loopback(entry) for entry in found):
                yield Break(where, f"{name} is at {' and at '.join(found)}", remedy)


@rule("KV-HST-047", "/etc/hosts has no machine's name at a loopback address of the host itself.")
def _no_loopback(hosts: Hosts) -> Iterator[Break]:
    for where, held in hosts.names.items():
        for name, _ in _wanted(hosts.deployment):
            found = held.get(name, [])
            if any(_is_loopback(entry) for entry in found):
                yield Break(where, f"{name} is at {found[0]}, where a host finds only itself")


@rule("KV-HST-048", "/etc/hosts is equal on all servers.")
def _equal_names(hosts: Hosts) -> Iterator[Break]:
    for where in [*hosts.names][1:]:
        yield Break(where, "differs from that of other servers")


@rule("KV-HST-049", "The clock follows the Site's time servers, and no others.")
def _clock(hosts: Hosts) -> Iterator[Break]:
    wanted = hosts.deployment.site.network.ntp
    for shared in hosts.shared:
        path = places.chrony_path(shared.role)
        lines = (line.split() for line in shared.text(path).splitlines())
        found = {words[1] for words in lines if words[:1] in (["server"], ["pool"])}
        if found != {*wanted}:
            text = f"follows {', '.join(sorted(found)) or 'nothing'}, not {', '.join(wanted)}"
            yield Break(shared.where(path), text)


@rule("KV-HST-050", "Locked memory is not limited on servers that use RDMA.")
def _locked_memory(hosts: Hosts) -> Iterator[Break]:
    for shared in hosts.with_legs:
        if "* hard memlock unlimited" not in shared.text(places.LIMITS).splitlines():
            yield Break(shared.where(places.LIMITS), "locked memory is limited")


def _wanted(deployment: Deployment) -> Iterator[tuple[str, str]]:
    """List every name with its address, from the deployment itself."""
    for server in deployment.servers:
        names = server.names
        yield from ((name, server.admin_address) for name in (names.admin, names.admin_fqdn))
        yield from ((name, server.daemon_address) for name in (names.daemon, names.daemon_fqdn))
    for switch in deployment.switches:
        yield switch.name, switch.device.management_address.partition("/")[0]
    yield from ((extra.name, extra.address) for extra in deployment.site.extra_names)


def _is_loopback(address: str) -> bool:
    """Whether an address leads to the host itself; what is no address does not."""
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False
