"""Whether a switch does what its configuration and the cable schedule say: links, neighbours, sessions, pauses."""
# ruff: noqa: INP001

from __future__ import annotations

from ipaddress import ip_address, ip_interface
from typing import TYPE_CHECKING, Any

from ansible.module_utils.nvue_tree import Tree, at

if TYPE_CHECKING:
    from ansible.module_utils.nvue import Nvue

_SESSIONS = ("vrf", "default", "router", "bgp", "neighbor")
_PAUSES = ("rx-pause-frames", "tx-pause-frames")
_ESTABLISHED = "established"


class Planned:
    """What a switch must show.

    `neighbours` is its cable schedule, `expected` the names of those that must answer (all of them for None),
    `pauses_per_s` how many pause frames a port may count, over `pause_s` seconds.
    """

    def __init__(
        self,
        config: Tree,
        neighbours: list[Tree],
        expected: list[str] | None,
        pauses_per_s: float = 1000,
        pause_s: float = 2,
    ) -> None:
        self.config, self.neighbours = config, neighbours
        self.names = {str(one["neighbour"]) for one in neighbours}
        self.expected = self.names if expected is None else set(expected)
        self.pauses_per_s, self.pause_s = pauses_per_s, pause_s

    @property
    def awaited(self) -> list[Tree]:
        """The ports whose neighbour must answer."""
        return [one for one in self.neighbours if one["neighbour"] in self.expected]

    def neighbour_of(self, peer: str) -> str:
        """Return the device at the far end of a session."""
        port = peer if peer in (at(self.config, "interface") or {}) else self._port_of(peer)
        return next((str(one["neighbour"]) for one in self.neighbours if one["port"] == port), "")

    def _port_of(self, peer: str) -> str:
        """Return the port in whose network an address is."""
        for name, one in (at(self.config, "interface") or {}).items():
            for address in {**(at(one, "ip", "address") or {}), **(at(one, "ipv4", "address") or {})}:
                if ip_address(peer) in ip_interface(address).network and "/31" in address:
                    return str(name)
        return ""


def established(switch: Nvue) -> set[str]:
    """Return the sessions that are up."""
    found = switch.operational("/".join(_SESSIONS), rev="operational")
    return {peer for peer, one in found.items() if str(at(one, "state")).lower() == _ESTABLISHED}


def unhealthy(switch: Nvue, planned: Planned, before: set[str]) -> list[Tree]:
    """List what is not as it must be; `before` are the sessions that were up and must be again."""
    interfaces = switch.operational("interface", rev="operational")
    told = [
        *_links(planned, interfaces),
        *_lldp(planned, switch.operational("interface", rev="operational", include="/*/lldp/neighbor")),
        *_bgp(planned, established(switch), before),
        *_roce(planned, switch.operational("qos/roce", rev="operational")),
    ]
    return told or _pauses(switch, planned, interfaces)


def _links(planned: Planned, interfaces: Tree) -> list[Tree]:
    """See that awaited links are up, and that every frame size is the one that is set."""
    told = []
    for name, one in (at(planned.config, "interface") or {}).items():
        wanted, seen = at(one, "link", "mtu"), at(interfaces, name, "link", "mtu")
        if wanted is not None and str(wanted) != str(seen):
            told.append(_told("mtu", name, seen, wanted, "see what else sets the frame size of this port"))
    for one in planned.awaited:
        link = at(interfaces, one["port"], "link") or {}
        if not _is_up(link):
            remedy = f"see the cable to {one['neighbour']} {one['neighbour_port']} and the division of the cage"
            told.append(_told("link", one["port"], "down", "up", remedy))
    return told


def _is_up(link: Tree) -> bool:
    """Tell whether a link is up, as newer and as older releases show it."""
    state: Any = link.get("oper-status") or link.get("state") or {}
    return state == "up" or (isinstance(state, dict) and "up" in state)


def _lldp(planned: Planned, interfaces: Tree) -> list[Tree]:
    """See that each port has the neighbour of the cable schedule; one that may be silent must not be another."""
    told = []
    for one in planned.neighbours:
        wanted = f"{one['neighbour']} {one['neighbour_port']}"
        seen = [_far_end(far) for far in (at(interfaces, one["port"], "lldp", "neighbor") or {}).values()]
        is_other = any(name in planned.names and f"{name} {port}" != wanted for name, port in seen)
        is_missing = one["neighbour"] in planned.expected and wanted not in [" ".join(end) for end in seen]
        if is_other or is_missing:
            shown = ", ".join(" ".join(end) for end in seen) or "nobody"
            told.append(_told("lldp", one["port"], shown, wanted, "plug the cable where the cable schedule has it"))
    return told


def _far_end(far: Tree) -> tuple[str, str]:
    """Return name and port of a neighbour, without the domain."""
    port = at(far, "port", "name") or at(far, "port", "description") or ""
    return str(at(far, "chassis", "system-name") or "").partition(".")[0], str(port)


def _bgp(planned: Planned, after: set[str], before: set[str]) -> list[Tree]:
    """See that sessions to awaited neighbours are up, and that none was lost."""
    told = []
    for peer in at(planned.config, *_SESSIONS) or {}:
        name = planned.neighbour_of(peer)
        if peer not in after and (name in planned.expected or peer in before):
            remedy = f"compare address, AS number and state of BGP with those of {name or 'the far end'}"
            told.append(_told("bgp", peer, "down", _ESTABLISHED, remedy))
    return told


def _roce(planned: Planned, seen: Tree) -> list[Tree]:
    """See that the lossless service is on, where it is set."""
    wanted = at(planned.config, "qos", "roce")
    if not wanted:
        return []
    mode = str(wanted.get("mode", "lossless"))
    remedy = "set the lossless service anew: nv set qos roce"
    if seen.get("mode") != mode:
        return [_told("roce", "qos", seen.get("mode") or "off", mode, remedy)]
    pfc = seen.get("pfc") or {}
    is_paused = all(str(pfc.get(key)) in {"enabled", "yes", "on", "True"} for key in ("rx-enabled", "tx-enabled"))
    return [] if is_paused or not mode.startswith("lossless") else [_told("pfc", "qos", pfc, "rx and tx", remedy)]


def _pauses(switch: Nvue, planned: Planned, interfaces: Tree) -> list[Tree]:
    """See that ports count pause frames, and not as in a storm."""
    if not at(planned.config, "qos", "roce"):
        return []
    ports = [str(one["port"]) for one in planned.neighbours if one["port"] != "eth0" and one["port"] in interfaces]
    first = {port: _frames(switch, port) for port in ports}
    started = switch.timing.clock()
    switch.timing.sleep(planned.pause_s)
    told = []
    for port, frames in first.items():
        now = _frames(switch, port)
        if frames is None or now is None:
            told.append(_told("pfc", port, "no counters", "counters", "see that the port exists at the switch"))
            continue
        rate = (now - frames) / max(switch.timing.clock() - started, planned.pause_s)
        if rate > planned.pauses_per_s:
            remedy = "see which host pauses, and that its adapter and driver work; the watchdog stops a storm"
            told.append(_told("pfc", port, f"{rate:.0f} pauses/s", f"{planned.pauses_per_s:g} at most", remedy))
    return told


def _frames(switch: Nvue, port: str) -> int | None:
    """Return the pause frames of a port over all priorities; None where it counts none."""
    found = switch.operational(f"interface/{port}/counters/qos/pfc-stats", rev="operational")
    return sum(int(one.get(key, 0)) for one in found.values() for key in _PAUSES) if found else None


def _told(check: str, subject: str, seen: Any, wanted: Any, remedy: str) -> Tree:
    """Return one thing that is not as it must be."""
    return {"check": check, "subject": str(subject), "seen": str(seen), "wanted": str(wanted), "remedy": remedy}
