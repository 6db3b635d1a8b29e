"""BGP: unnumbered between switches, numbered to hosts, who may announce their loopback and nothing else."""

from __future__ import annotations

from ipaddress import ip_interface
from typing import TYPE_CHECKING, Final

from kvplan.site.switches.ports import adaptive_ports, fabric_ports, leads_to_switch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.schema.design import Port
    from kvplan.site.deployment import Deployment, SwitchUnit
    from kvplan.site.switches.dialect import Dialect, Tree

UNDERLAY: Final = "underlay"
HOSTS: Final = "hosts"
"""Names of the groups of neighbours."""
OWN_ROUTES: Final = "own-routes"
"""Name of the list, and of the map, of what a switch announces of its own."""
BFD_PROFILE: Final = "fabric"
LEG_RANGES: Final = (
    "storage_client_a", "storage_client_b", "storage_a", "storage_b", "client_a", "client_b",
)  # fmt: skip
"""Build options that hold the prefixes of host legs."""
LEG_LENGTH: Final = 31
LOOPBACK_LENGTH: Final = 32
_FIRST: Final = 10
"""Number of the first rule of a list, and the step to the next."""


def host_of(port: Port) -> str:
    """Return the address of the host on a leg.

    Parameters
    ----------
    port
        A port of a switch that has an address.

    Returns
    -------
    str
        The other address of the /31.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> host_of(SimpleNamespace(address="10.64.0.8/31"))
    '10.64.0.9'
    """
    own = ip_interface(port.address)
    return str(next(address for address in own.network if address != own.ip))


def filter_of(device: str) -> str:
    """Name the list of what a host may announce.

    Parameters
    ----------
    device
        The host.

    Returns
    -------
    str
        Name of the prefix list.
    """
    return f"from-{device}"


def own_lengths(deployment: Deployment) -> dict[str, int]:
    """List what switches announce of their own: the ranges of their loopbacks and of the legs of hosts.

    Parameters
    ----------
    deployment
        The build options.

    Returns
    -------
    dict of int
        The length of the prefixes in each range, by range.
    """
    ranges = deployment.site.build.addresses
    return {ranges.switch_loopbacks: LOOPBACK_LENGTH, **{getattr(ranges, name): LEG_LENGTH for name in LEG_RANGES}}


def host_legs(deployment: Deployment, switch: SwitchUnit) -> tuple[Port, ...]:
    """List the ports of a switch that lead to hosts.

    Parameters
    ----------
    deployment
        Whose devices they are.
    switch
        The switch.

    Returns
    -------
    tuple of Port
        Ports in the order of the design.
    """
    return tuple(port for port in fabric_ports(switch) if not leads_to_switch(deployment, port))


def router(deployment: Deployment, switch: SwitchUnit, dialect: Dialect) -> Tree:
    """Write what holds for all VRFs: number and identifier, BFD, adaptive routing, and the lists of prefixes.

    Parameters
    ----------
    deployment
        The design and the settings.
    switch
        The switch.
    dialect
        How its release writes it.

    Returns
    -------
    dict
        The part below `router`.
    """
    device = switch.device
    adaptive = adaptive_ports(deployment, switch)
    profile = {BFD_PROFILE: _timers(deployment)}
    return {
        "bgp": {
            **dialect.enabled,
            "autonomous-system": device.asn,
            "router-id": device.loopback.partition("/")[0],
        },
        **({"bfd": {"state": "enabled", "profile": profile}} if dialect.is_new else {}),
        **({"adaptive-routing": dialect.enabled} if adaptive else {}),
        "policy": {
            "prefix-list": dict(_lists(deployment, switch)),
            "route-map": {
                OWN_ROUTES: {
                    "rule": {
                        str(_FIRST): {
                            "action": {"permit": {}},
                            "match": {"type": "ipv4", "ip-prefix-list": OWN_ROUTES},
                        }
                    }
                }
            },
        },
    }


def bgp(deployment: Deployment, switch: SwitchUnit, dialect: Dialect) -> Tree:
    """Write the neighbours of the default VRF.

    Equal paths through different leaves differ in their numbers, so numbers do not count in choosing them.

    Parameters
    ----------
    deployment
        The design and the settings.
    switch
        The switch.
    dialect
        How its release writes it.

    Returns
    -------
    dict
        The part below `vrf.default.router.bgp`.
    """
    hosts = host_legs(deployment, switch)
    links = [port for port in fabric_ports(switch) if leads_to_switch(deployment, port)]
    paths = int(deployment.setting("switch.multipath_paths"))
    bfd = _bfd(deployment, dialect)
    return {
        **dialect.enabled,
        "address-family": {
            "ipv4-unicast": {
                **dialect.enabled,
                "redistribute": {"connected": {**dialect.enabled, "route-map": OWN_ROUTES}},
                "multipaths": {"ebgp": paths},
            }
        },
        "path-selection": {"multipath": {"aspath-ignore": dialect.on}},
        "peer-group": {
            **({UNDERLAY: {"remote-as": "external", "bfd": bfd}} if links else {}),
            **({HOSTS: {"bfd": bfd}} if hosts else {}),
        },
        "neighbor": {
            **{port.name: {"type": "unnumbered", "peer-group": UNDERLAY} for port in links},
            **{host_of(port): _host(deployment, port, dialect) for port in hosts},
        },
    }


def _host(deployment: Deployment, port: Port, dialect: Dialect) -> Tree:
    """Write a host as neighbour."""
    return {
        "type": "numbered",
        "peer-group": HOSTS,
        "description": f"{port.peer_device} {port.peer_port}",
        "remote-as": deployment.devices[port.peer_device].asn,
        "address-family": {
            "ipv4-unicast": {
                **dialect.enabled,
                "policy": {"inbound": {"prefix-list": filter_of(port.peer_device)}},
            }
        },
    }


def _timers(deployment: Deployment) -> Tree:
    """Write how fast a dead neighbour is noticed."""
    interval = int(deployment.setting("switch.bfd_interval_ms"))
    return {
        "detect-multiplier": int(deployment.setting("switch.bfd_multiplier")),
        "min-rx-interval": interval,
        "min-tx-interval": interval,
    }


def _bfd(deployment: Deployment, dialect: Dialect) -> Tree:
    """Watch a group of neighbours: by a profile, or by the timers themselves."""
    return {"profile": BFD_PROFILE} if dialect.is_new else {"enable": "on", **_timers(deployment)}


def _lists(deployment: Deployment, switch: SwitchUnit) -> Iterator[tuple[str, Tree]]:
    """Write the lists: what the switch announces of its own, and what each host may announce."""
    lengths = own_lengths(deployment)
    own = {prefix: {"min-prefix-len": length, "max-prefix-len": length} for prefix, length in lengths.items()}
    yield OWN_ROUTES, _permitting(own)
    for host in dict.fromkeys(port.peer_device for port in host_legs(deployment, switch)):
        yield filter_of(host), _permitting({deployment.devices[host].loopback: {}})


def _permitting(prefixes: Tree) -> Tree:
    """Permit prefixes, and by the rule of such lists nothing else; FRR keeps one prefix a number."""
    rules = enumerate(prefixes.items(), start=1)
    numbered = {str(_FIRST * place): {"action": "permit", "match": {prefix: only}} for place, (prefix, only) in rules}
    return {"type": "ipv4", "rule": numbered}
