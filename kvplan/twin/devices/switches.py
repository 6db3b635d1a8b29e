"""The switches behind their interfaces: configurations handed to the rack, sessions and links seen in it."""

from __future__ import annotations

import json
import time
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kvplan.twin.devices.lldp import Link, Speakers
from kvplan.twin.devices.namespaces import within
from kvplan.twin.nvue.refusal import ApplyError
from kvplan.twin.nvue.switch import Switch
from kvplan.twin.nvue.trees import at, without
from kvplan.twin.nvue.wiring import Leg, Wiring, joined
from kvplan.twin.rack.network import BRIDGE
from kvplan.twin.rack.plan import bridge_port
from kvplan.twin.rack.shell import RackError, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from kvplan.twin.devices.order import DevicesOrder, SwitchOrder
    from kvplan.twin.nvue.trees import Tree
    from kvplan.twin.nvue.wiring import End
    from kvplan.twin.rack.plan import RackPlan
    from kvplan.twin.rack.shell import Run

_BGP: Final = ("vrf", "default", "router", "bgp")
_SUMMARY: Final = "show bgp ipv4 unicast summary json"
_FRESH_S: Final = 0.5
"""How long what was seen is taken for what is [s]: one look at a switch asks several times."""
_UP: Final = "UP"
_UNNAMED: Final = "cumulus"
_INTERVAL_S: Final = 30.0
"""Name, and time between two announcements, of a switch that nobody configured."""


class _Seen(NamedTuple):
    """What was seen, and when [s]."""

    at_s: float
    what: Mapping[str, Any]


class Switches:
    """The switches of a rack.

    Parameters
    ----------
    order
        What there is.
    plan
        The rack.
    rack
        Asks the rack for something: verb, switch, and more.
    command
        Runs the machine's commands, in the namespace of the machine that deploys.
    """

    def __init__(self, order: DevicesOrder, plan: RackPlan, rack: Callable[..., Any], command: Run = run) -> None:
        self._rack, self._run = rack, command
        self._fabric = frozenset(switch.name for switch in plan.switches)
        self._bridged = {end: bridge_port(index) for index, end in enumerate(plan.bridged())}
        self._cabled = frozenset((cable.peer, cable.peer_port) for cable in plan.cables) | frozenset(plan.loose)
        self._nodes = frozenset(node.name for node in plan.nodes)
        self._hostnames: dict[str, str] = {}
        self._seen: dict[tuple[str, str], _Seen] = {}
        present = self._fabric | {switch.name for switch in plan.managers}
        orders = [switch for switch in order.switches if switch.name in present]
        self.switches = {one.name: self._switch(one) for one in orders}
        self.addresses = {one.name: one.address for one in orders}
        legs = {(leg.device, leg.port): Leg(leg.address, leg.asn) for leg in order.legs}
        ends = (((cable.device, cable.port), (cable.peer, cable.peer_port)) for cable in order.cables)
        self.wiring = Wiring(joined(ends), legs)
        self.speakers = Speakers(self._ports(plan), self.within, self._hostname, self._interval)

    def within(self, name: str) -> AbstractContextManager[None]:
        """Enter the place where a switch listens.

        Parameters
        ----------
        name
            The switch.

        Returns
        -------
        AbstractContextManager
            Its namespace; management switches have none.
        """
        return within(name) if name in self._fabric else nullcontext()

    def sessions(self, name: str) -> Mapping[str, str]:
        """Read the BGP sessions of a switch from its routing daemon.

        Parameters
        ----------
        name
            The switch.

        Returns
        -------
        dict
            State by neighbour; empty where it does not route.
        """
        return self._look("sessions", name, self._sessions)

    def links(self, name: str) -> Mapping[str, bool]:
        """Read which ports of a switch have a link.

        Parameters
        ----------
        name
            The switch.

        Returns
        -------
        dict
            Whether each has, by port.
        """
        return self._look("links", name, self._links if name in self._fabric else self._managed)

    def heard(self, name: str) -> Mapping[str, End]:
        """Read the neighbours of a switch from the frames that it hears; what a controller would say is computed.

        Parameters
        ----------
        name
            The switch.

        Returns
        -------
        dict
            Name and port of the neighbour, by the switch's port.
        """
        far = {port: peer for (device, port), peer in self.wiring.far.items() if device == name}
        controllers = {port: peer for port, peer in far.items() if self._is_controller(peer)}
        return {**controllers, **self.speakers.neighbours(name)}

    def status(self) -> dict[str, Any]:
        """Tell of each switch its revision, and its faults.

        Returns
        -------
        dict
            By switch.
        """
        return {
            name: {
                "revision": switch.applied_id,
                "state": switch.revision("applied").state,
                "faults": str(switch.faults),
            }
            for name, switch in self.switches.items()
        }

    def _switch(self, order: SwitchOrder) -> Switch:
        """Make a switch that has its password and nothing else."""
        switch = Switch(order.name, order.version, user=order.user, password=order.password)
        switch.on_applied = lambda config: self._apply(switch, config)
        return switch

    def _apply(self, switch: Switch, config: Tree) -> None:
        """Hand a configuration to the rack; a switch that loses BGP routes nothing."""
        self._hostnames[switch.name] = str(at(config, ("system", "hostname")) or _UNNAMED)
        if switch.name in self._fabric:
            self._seen.clear()
            try:
                self._rack("configure", switch.name, settings=without(config, _BGP) if switch.bgp_lost else config)
            except (OSError, RackError) as error:
                raise ApplyError(str(error)) from error
        # Once its ports are up.
        self.speakers.announce(switch.name)

    def _look(self, kind: str, name: str, reads: Callable[[str], Mapping[str, Any]]) -> Mapping[str, Any]:
        """Look at a switch, or remember what was seen a moment ago."""
        seen = self._seen.get((kind, name))
        if seen is None or time.monotonic() - seen.at_s > _FRESH_S:
            seen = self._seen[kind, name] = _Seen(time.monotonic(), reads(name))
        return seen.what

    def _sessions(self, name: str) -> Mapping[str, str]:
        """Ask the routing daemon."""
        if name not in self._fabric:
            return {}
        try:
            shown = json.loads(self._run("vtysh", "-N", name, "-c", _SUMMARY))
        except (RackError, ValueError):
            return {}
        return {peer: str(one["state"]).lower() for peer, one in shown.get("peers", {}).items()}

    def _links(self, name: str) -> Mapping[str, bool]:
        """Ask the kernel of a switch's namespace."""
        return self._states("-n", name, "-json", "link", "show")

    def _managed(self, name: str) -> Mapping[str, bool]:
        """Ask the bridge that all management switches are; controllers have power whenever their rack has."""
        seen = self._states("-json", "link", "show", "master", BRIDGE)
        ends = {port: far for (device, port), far in self.wiring.far.items() if device == name}
        ours = {end: seen.get(port, False) for end, port in self._bridged.items()}
        return {port: ours.get(far, self._is_controller(far)) for port, far in ends.items()}

    def _is_controller(self, end: End) -> bool:
        """Tell whether an end of a cable is a controller's in this rack."""
        return end[0] in self._nodes and (end not in self._bridged) and end not in self._cabled

    def _ports(self, plan: RackPlan) -> Iterator[Link]:
        """List the ports of switches that have a link: in the fabric, to the bridge, and those that the bridge is."""
        for cable in plan.cables:
            yield Link(cable.device, cable.port, cable.port)
            if cable.peer in self._fabric:
                yield Link(cable.peer, cable.peer_port, cable.peer_port)
        for name in self._fabric:
            yield Link(name, "eth0", "eth0")
        for (device, port), far in self.wiring.far.items():
            if device in self.switches and far in self._bridged:
                yield Link(device, port, self._bridged[far])

    def _hostname(self, name: str) -> str:
        """Return the name that a switch gives itself."""
        return self._hostnames.get(name, _UNNAMED)

    def _interval(self, name: str) -> float:
        """Return how often a switch tells its neighbours who it is [s]."""
        running = self.switches[name].running
        found = (at(running, (place, "lldp", "tx-interval")) for place in ("system", "service"))
        return float(next(filter(None, found), _INTERVAL_S))

    def _states(self, *words: str) -> dict[str, bool]:
        """Read the states of interfaces."""
        shown = json.loads(self._run("ip", *words) or "[]")
        return {link["ifname"]: link["operstate"] == _UP for link in shown}
