"""Which BGP sessions of a switch come up, from what both ends have applied."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_interface
from typing import TYPE_CHECKING, Any

from kvplan.twin.nvue.trees import at

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kvplan.twin.nvue.switch import Switch
    from kvplan.twin.nvue.trees import Tree
    from kvplan.twin.nvue.wiring import Leg, Wiring

_BGP = ("vrf", "default", "router", "bgp")
_EXTERNAL = "external"
_FRONT = "swp"


@dataclass(frozen=True, slots=True)
class Fabric:
    """The switches of a rack by name, and their cables.

    `links` tells which ports of a switch have a link, where real ones are behind it.
    """

    switches: Mapping[str, Switch]
    wiring: Wiring
    links: Callable[[str], Mapping[str, bool]] | None = None

    def is_up(self, name: str, port: str) -> bool:
        """Tell whether a link is up: both ends are there, switched on and whole.

        Parameters
        ----------
        name
            Name of the switch.
        port
            Its port.

        Returns
        -------
        bool
            Whether it carries frames.
        """
        far = self.wiring.far.get((name, port))
        is_whole = far is not None and self._lights(name, port) and self._lights(*far)
        return is_whole and (self.links is None or self.links(name).get(port, False))

    def _lights(self, name: str, port: str) -> bool:
        """Tell whether one end of a link is there, switched on and whole."""
        switch = self.switches.get(name)
        if name in self.wiring.silent:
            return False
        if switch is None:
            return True
        config = switch.running.get("interface", {})
        state = at(config, (port, "link", "state"))
        is_on = port == "eth0" or (isinstance(state, dict) and "up" in state) or state == "up"
        return is_on and port not in switch.faults.cut and _is_cut_out(config, port)


def sessions(fabric: Fabric, name: str) -> Tree:
    """Return the sessions of a switch.

    Parameters
    ----------
    fabric
        The rack.
    name
        Name of the switch.

    Returns
    -------
    dict
        Each neighbour that is configured, with the state that the switch shows.
    """
    switch = fabric.switches[name]
    bgp = _bgp_of(switch)
    return {
        peer: {
            "state": "established" if not switch.bgp_lost and _comes_up(fabric, name, peer, one) else "active",
            "peer-group": one.get("peer-group", ""),
            "type": one.get("type", ""),
        }
        for peer, one in at(bgp, ("neighbor",)).items()
    }


def _bgp_of(switch: Switch) -> Tree:
    """Return what BGP does at a switch; no neighbour where it is off."""
    bgp = at(switch.running, _BGP)
    own = at(switch.running, ("router", "bgp"))
    is_on = isinstance(bgp, dict) and (bgp.get("state") == "enabled" or bgp.get("enable") == "on")
    return {"neighbor": {}, **bgp} if is_on and own else {"neighbor": {}}


def _comes_up(fabric: Fabric, name: str, peer: str, one: Tree) -> bool:
    """Tell whether a session comes up."""
    if one.get("type") == "unnumbered":
        far = fabric.wiring.far.get((name, peer), ("", ""))
        other = fabric.switches.get(far[0])
        if other is None or not fabric.is_up(name, peer) or other.bgp_lost:
            return False
        back = at(_bgp_of(other), ("neighbor", far[1]))
        switch = fabric.switches[name]
        return back is not None and _agree(switch, one, other) and _agree(other, back, switch)
    return any(
        leg.address.partition("/")[0] == peer and _answers(fabric, name, port, leg, one)
        for port, leg in _legs(fabric, name)
    )


def _agree(switch: Switch, one: Tree, other: Switch) -> bool:
    """Tell whether the AS number that one end expects is the one of the other."""
    asn, far_asn = (at(each.running, ("router", "bgp", "autonomous-system")) for each in (switch, other))
    wanted = _remote_as(switch, one)
    return bool(asn and far_asn) and (asn != far_asn if wanted == _EXTERNAL else wanted == far_asn)


def _remote_as(switch: Switch, one: Tree) -> Any:
    """Return the AS number that a neighbour must have, by itself or by its group."""
    group = at(switch.running, (*_BGP, "peer-group", str(one.get("peer-group")), "remote-as"))
    return one.get("remote-as", group)


def _legs(fabric: Fabric, name: str) -> list[tuple[str, Leg]]:
    """List the ports of a switch that hosts hang on, with the hosts' ends."""
    far = fabric.wiring.far
    return [(far[end][1], leg) for end, leg in fabric.wiring.legs.items() if end in far and far[end][0] == name]


def _answers(fabric: Fabric, name: str, port: str, leg: Leg, one: Tree) -> bool:
    """Tell whether a host and its port at the switch fit together."""
    switch = fabric.switches[name]
    interface = at(switch.running, ("interface", port)) or {}
    own = at(interface, ("ipv4", "address")) or at(interface, ("ip", "address")) or {}
    network = ip_interface(leg.address).network
    near = any(ip_interface(address).network == network for address in own)
    wanted = _remote_as(switch, one)
    return near and fabric.is_up(name, port) and wanted in (leg.asn, _EXTERNAL)


def _is_cut_out(config: Tree, port: str) -> bool:
    """Tell whether a port is there: a whole cage, or a leg of one that is divided into as many."""
    if not port.startswith(_FRONT):
        return True
    number, _, leg = port.removeprefix(_FRONT).partition("s")
    divided = at(config, (f"{_FRONT}{number}", "link", "breakout")) or {}
    legs = max((int(key.rstrip("x")) for key in divided if key.endswith("x")), default=0)
    return int(leg) < legs if leg else not legs
