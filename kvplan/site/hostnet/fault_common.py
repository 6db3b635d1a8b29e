"""Rules for names, clock, limits and kernel parameters, which servers of a role share."""

from __future__ import annotations

from collections import defaultdict
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final

from kvplan.site.hostnet import places
from kvplan.site.hostnet.common import sysctls
from kvplan.site.hostnet.parse import settings
from kvplan.site.hostnet.rules import fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvplan.schema.design import Finding
    from kvplan.schema.roles import Role
    from kvplan.site.deployment import Deployment

_STRICT: Final = "1"
_MULTI_PORT: Final = {"net.ipv4.conf.all.arp_ignore": "1", "net.ipv4.conf.all.arp_announce": "2"}


def name_faults(deployment: Deployment, where: str, text: str) -> Iterator[Finding]:
    """Check a file of names against the names and addresses of all machines.

    Parameters
    ----------
    deployment
        The deployment.
    where
        Where the file lies in the tree.
    text
        The file.

    Yields
    ------
    Finding
        What breaks a rule.
    """
    held: dict[str, list[str]] = defaultdict(list)
    for line in text.splitlines():
        address, *names = line.partition("#")[0].split() or [""]
        for name in names:
            held[name].append(address)
    for name, address in _wanted(deployment):
        found = held.get(name, [])
        if address not in found:
            remedy = "Render the tree again; names.admin_suffix and names.daemon_suffix must differ."
            yield fault(45, where, f"{name} is not at {address}", remedy)
        if any(_is_loopback(entry) for entry in found):
            yield fault(47, where, f"{name} is at {found[0]}, where a host finds only itself")
    for name, found in held.items():
        if len({*found}) > 1 and not all(_is_loopback(entry) for entry in found):
            remedy = "Give each machine, and each of the Site's extra_names, a name of its own."
            yield fault(46, where, f"{name} is at {' and at '.join(found)}", remedy)


def parameter_faults(deployment: Deployment, role: Role, files: Mapping[str, str]) -> Iterator[Finding]:
    """Check kernel parameters, limits and time servers of a role.

    Parameters
    ----------
    deployment
        The deployment.
    role
        What the servers are.
    files
        The files that they share, by path on the host.

    Yields
    ------
    Finding
        What breaks a rule.
    """
    parameters = settings(files.get(places.SYSCTL, ""))
    where = places.of_role(role, places.SYSCTL)
    for key, value in sysctls(deployment, role):
        if parameters.get(key) != value:
            yield fault(23, where, f"{key} is {parameters.get(key, 'not set')}, wanted {value}")
    for key, value in parameters.items():
        if key.endswith(".disable_ipv6") and value != "0":
            yield fault(20, where, f"{key} turns IPv6 off, which RDMA connections need")
    if any(server.fabric for server in deployment.in_role(role)):
        yield from _fabric_parameters(where, parameters)
        if "* hard memlock unlimited" not in files.get(places.LIMITS, "").splitlines():
            yield fault(50, places.of_role(role, places.LIMITS), "locked memory is limited")
    yield from _clock(deployment, role, files)


def _fabric_parameters(where: str, parameters: dict[str, str]) -> Iterator[Finding]:
    """Check the parameters that servers with several legs live by."""
    for scope in ("all", "default"):
        if parameters.get(f"net.ipv4.conf.{scope}.rp_filter", _STRICT) == _STRICT:
            yield fault(21, where, f"rp_filter of {scope} is strict: answers that come by another leg are dropped")
    for key, value in _MULTI_PORT.items():
        if parameters.get(key) != value:
            yield fault(22, where, f"{key} is not {value}: a port answers for addresses of others")


def _clock(deployment: Deployment, role: Role, files: Mapping[str, str]) -> Iterator[Finding]:
    """Compare the time servers."""
    path = places.chrony_path(role)
    lines = (line.split() for line in files.get(path, "").splitlines())
    found = {words[1] for words in lines if words[:1] in (["server"], ["pool"])}
    if found != {*deployment.site.network.ntp}:
        text = f"follows {', '.join(sorted(found)) or 'nothing'}, not {', '.join(deployment.site.network.ntp)}"
        yield fault(49, places.of_role(role, path), text)


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
