"""What a switch's NVUE configuration means to FRR and to the kernel: routing as text, interfaces as settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Tree = dict[str, Any]
"""A part of a configuration as plain data."""

_ON: Final = (True, "on", "enable", "enabled")


class PortSetting(NamedTuple):
    """What a configuration says of one interface; `mtu_bytes` is None where it says nothing."""

    mtu_bytes: int | None
    addresses: tuple[str, ...]


def applied(document: object) -> Tree:
    """Find the settings of a configuration.

    Parameters
    ----------
    document
        A configuration file as read from YAML (a list of a header and `set`), or the settings alone.

    Returns
    -------
    dict
        What is below `set`.

    Raises
    ------
    ValueError
        When it is neither.

    Examples
    --------
    >>> applied([{"header": {}}, {"set": {"system": {"hostname": "leaf-001a"}}}])
    {'system': {'hostname': 'leaf-001a'}}
    """
    if isinstance(document, dict):
        return document
    parts = [part["set"] for part in document if "set" in part] if isinstance(document, list) else []
    if len(parts) != 1:
        message = "not an NVUE configuration: it must have one `set`"
        raise ValueError(message)
    settings: Tree = parts[0]
    return settings


def ports_of(nvue: Tree) -> dict[str, PortSetting]:
    """Read what holds for the kernel's interfaces: MTU and addresses, in either dialect.

    Parameters
    ----------
    nvue
        The settings, as below `set`.

    Returns
    -------
    dict of PortSetting
        By interface, `lo` with them, the management port left out: it is there before any configuration is.

    Examples
    --------
    >>> ports_of({"interface": {"swp1": {"link": {"mtu": 9216}, "ip": {"address": {"10.0.0.0/31": {}}}}}})
    {'swp1': PortSetting(mtu_bytes=9216, addresses=('10.0.0.0/31',))}
    """
    return {
        name: PortSetting(
            _at(port, "link", "mtu") or None, (*_at(port, "ipv4", "address"), *_at(port, "ip", "address"))
        )
        for name, port in _at(nvue, "interface").items()
        if name != "eth0" and "breakout" not in _at(port, "link")
    }


def frr_of(nvue: Tree) -> str:
    """Translate a configuration's routing into FRR's language, as NVUE itself does on a switch.

    Parameters
    ----------
    nvue
        The settings, as below `set`.

    Returns
    -------
    str
        An integrated `frr.conf`: prefix lists, route maps, BFD profiles and the default VRF's BGP.

    References
    ----------
    NVUE reference of Cumulus Linux 5.11 and 5.15; FRR 8.4 user guide, chapters BGP, BFD, filtering.

    Examples
    --------
    >>> print(frr_of({"system": {"hostname": "leaf-001a"}}))
    frr defaults datacenter
    hostname leaf-001a
    service integrated-vtysh-config
    <BLANKLINE>
    """
    policy = _at(nvue, "router", "policy")
    lines = [
        "frr defaults datacenter",
        f"hostname {_at(nvue, 'system', 'hostname') or 'switch'}",
        "service integrated-vtysh-config",
        *_prefix_lists(_at(policy, "prefix-list")),
        *_route_maps(_at(policy, "route-map")),
        *_bfd_profiles(_at(nvue, "router", "bfd", "profile")),
        *_bgp(nvue),
    ]
    return "\n".join(lines) + "\n"


def _at(tree: Mapping[str, Any], *path: str) -> Any:
    """Return what is at a path, or an empty mapping."""
    found: Any = tree
    for key in path:
        found = (found or {}).get(key, {})
    return {} if found is None else found


def _is_on(tree: Mapping[str, Any]) -> bool:
    """Tell whether a feature is switched on, in either dialect."""
    return _at(tree, "state") in _ON or _at(tree, "enable") in _ON


def _prefix_lists(lists: Tree) -> Iterator[str]:
    """Write the prefix lists; FRR refuses a bound that is the prefix's own length."""
    for name, held in lists.items():
        for number, rule in _at(held, "rule").items():
            for prefix, bounds in _at(rule, "match").items():
                length = int(prefix.partition("/")[2])
                limits = (("ge", "min-prefix-len"), ("le", "max-prefix-len"))
                said = [f" {word} {bounds[key]}" for word, key in limits if int(_at(bounds, key) or length) != length]
                yield f"ip prefix-list {name} seq {number} {rule['action']} {prefix}{''.join(said)}"


def _route_maps(maps: Tree) -> Iterator[str]:
    """Write the route maps that match prefix lists."""
    for name, held in maps.items():
        for number, rule in _at(held, "rule").items():
            yield f"route-map {name} {next(iter(rule['action']))} {number}"
            if matched := _at(rule, "match", "ip-prefix-list"):
                yield f" match ip address prefix-list {matched}"
            yield "exit"


def _bfd_profiles(profiles: Tree) -> Iterator[str]:
    """Write the BFD profiles."""
    if not profiles:
        return
    yield "bfd"
    for name, timers in profiles.items():
        yield f" profile {name}"
        yield f"  detect-multiplier {timers['detect-multiplier']}"
        yield f"  receive-interval {timers['min-rx-interval']}"
        yield f"  transmit-interval {timers['min-tx-interval']}"
        yield " exit"
    yield "exit"


def _bgp(nvue: Tree) -> Iterator[str]:
    """Write the BGP instance of the default VRF, if it is switched on."""
    common, instance = _at(nvue, "router", "bgp"), _at(nvue, "vrf", "default", "router", "bgp")
    if not _is_on(instance):
        return
    yield f"router bgp {common['autonomous-system']}"
    yield f" bgp router-id {common['router-id']}"
    if _at(instance, "path-selection", "multipath", "aspath-ignore") in _ON:
        yield " bgp bestpath as-path multipath-relax"
    groups, neighbours = _at(instance, "peer-group"), _at(instance, "neighbor")
    for name, group in groups.items():
        yield f" neighbor {name} peer-group"
        yield from _peer(name, group)
    for name, neighbour in neighbours.items():
        yield from _neighbour(name, neighbour)
    yield " address-family ipv4 unicast"
    yield from _family(_at(instance, "address-family", "ipv4-unicast"))
    for name, peer in (*groups.items(), *neighbours.items()):
        yield from _policies(name, _at(peer, "address-family", "ipv4-unicast", "policy"))
    yield " exit-address-family"
    yield "exit"


def _neighbour(name: str, neighbour: Tree) -> Iterator[str]:
    """Write a neighbour; an unnumbered one is the interface that it is behind."""
    group = f" peer-group {neighbour['peer-group']}" if "peer-group" in neighbour else ""
    if neighbour.get("type") == "unnumbered":
        yield f" neighbor {name} interface{group}"
        yield from _peer(name, neighbour)
        return
    # FRR knows a numbered neighbour only once its number is given.
    yield from _peer(name, neighbour)
    if group:
        yield f" neighbor {name}{group}"


def _peer(name: str, peer: Tree) -> Iterator[str]:
    """Write what groups and neighbours have in common."""
    if "remote-as" in peer:
        yield f" neighbor {name} remote-as {peer['remote-as']}"
    if "description" in peer:
        yield f" neighbor {name} description {peer['description']}"
    bfd = _at(peer, "bfd")
    if "profile" in bfd:
        yield f" neighbor {name} bfd profile {bfd['profile']}"
    elif _is_on(bfd):
        timers = (bfd[key] for key in ("detect-multiplier", "min-rx-interval", "min-tx-interval"))
        yield f" neighbor {name} bfd {' '.join(map(str, timers))}"


def _family(family: Tree) -> Iterator[str]:
    """Write what is redistributed and over how many paths traffic goes."""
    connected = _at(family, "redistribute", "connected")
    if _is_on(connected):
        by = f" route-map {connected['route-map']}" if "route-map" in connected else ""
        yield f"  redistribute connected{by}"
    if paths := _at(family, "multipaths", "ebgp"):
        yield f"  maximum-paths {paths}"


def _policies(name: str, policy: Tree) -> Iterator[str]:
    """Write what a neighbour or a group of them may announce and is told."""
    for key, word in (("inbound", "in"), ("outbound", "out")):
        for kind in ("prefix-list", "route-map"):
            if held := _at(policy, key, kind):
                yield f"  neighbor {name} {kind} {held} {word}"
