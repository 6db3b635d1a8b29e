"""What a switch shows of itself while it runs: interfaces, neighbours, sessions, lossless service, counters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kvplan.twin.nvue.sessions import sessions
from kvplan.twin.nvue.trees import at, filled, merged

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kvplan.twin.nvue.sessions import Fabric
    from kvplan.twin.nvue.switch import Switch
    from kvplan.twin.nvue.trees import Tree
    from kvplan.twin.nvue.wiring import End

OPER_STATUS_FROM: Final = (5, 11)
"""The first release that shows the operational state of a link beside the wanted one."""
_PRIORITIES: Final = range(8)
_STORM_FRAMES: Final = 100_000
"""Pause frames that a storm adds at every look."""


class Operation:
    """What one switch of a rack shows.

    Parameters
    ----------
    fabric
        The rack.
    name
        Name of the switch.
    observed
        States of sessions by neighbour, where a routing daemon runs behind the switch; computed without.
    heard
        Name and port of the neighbour at each port, where frames are heard behind the switch; computed without.
    """

    def __init__(
        self,
        fabric: Fabric,
        name: str,
        observed: Callable[[str], Mapping[str, str]] | None = None,
        heard: Callable[[str], Mapping[str, End]] | None = None,
    ) -> None:
        self._fabric, self._name, self._observed, self._heard = fabric, name, observed, heard
        self._looks = 0

    @property
    def _switch(self) -> Switch:
        """The switch itself."""
        return self._fabric.switches[self._name]

    def shown(self) -> Tree:
        """Return all that is shown: what is configured, and how it is.

        Returns
        -------
        dict
            The tree.
        """
        switch = self._switch
        running = filled(switch.running)
        running["interface"] = {name: self._interface(name, one) for name, one in running.get("interface", {}).items()}
        running = merged(running, {"system": {"hostname": self._hostname_of(self._name), **self._release()}})
        running["qos"] = self._qos(running.get("qos", {}))
        found = sessions(self._fabric, self._name)
        if self._observed:
            states = self._observed(self._name)
            found = {peer: {**one, "state": states.get(peer, "idle")} for peer, one in found.items()}
        if found:
            running = merged(running, {"vrf": {"default": {"router": {"bgp": {"neighbor": found}}}}})
        return running

    def counters(self, port: str) -> Tree:
        """Return the pause frames of a port; a port in a storm has more of them at every look.

        Parameters
        ----------
        port
            The port.

        Returns
        -------
        dict
            Counters by switch priority.
        """
        self._looks += 1
        frames = self._looks * _STORM_FRAMES if port in self._switch.faults.storm else 0
        kinds = ("rx-pause-frames", "rx-pause-duration", "tx-pause-frames", "tx-pause-duration")
        quiet = dict.fromkeys(kinds, 0)
        lossless = str(self._priority())
        return {
            str(each): {**quiet, "rx-pause-frames": frames} if str(each) == lossless else quiet for each in _PRIORITIES
        }

    def _interface(self, name: str, one: Tree) -> Tree:
        """Return an interface with its link and the neighbour on it."""
        is_up = name == "lo" or self._fabric.is_up(self._name, name) or one.get("type") in {"svi", "loopback"}
        word = "up" if is_up else "down"
        link = {**one["link"], "oper-status": word}
        if self._switch.release < OPER_STATUS_FROM:
            link = {**one["link"], "state": {word: {}}}
        found = {**one, "link": link}
        far = self._neighbour(name)
        if far and is_up:
            chassis, port = {"system-name": far[0]}, {"name": far[1], "type": "ifname"}
            found["lldp"] = {"neighbor": {far[0]: {"age": "1", "chassis": chassis, "port": port}}}
        return found

    def _neighbour(self, port: str) -> End | None:
        """Return the neighbour at a port by the names that it gives itself and its own port."""
        if self._heard:
            return self._heard(self._name).get(port)
        far = self._fabric.wiring.far.get((self._name, port))
        return (self._hostname_of(far[0]), far[1]) if far else None

    def _qos(self, qos: Tree) -> Tree:
        """Return what the lossless service does."""
        roce = qos.get("roce")
        is_on = isinstance(roce, dict) and (roce.get("enable") == "on" or roce.get("state") == "enabled")
        if not is_on:
            return {**qos, "roce": {}}
        mode = str(at(roce, ("mode",)) or "lossless")
        on = "enabled" if self._switch.release >= OPER_STATUS_FROM else "yes"
        pfc = {"pfc-priority": str(self._priority()), "rx-enabled": on, "tx-enabled": on}
        return {**qos, "roce": {**at(qos, ("roce",)), "mode": mode, **({"pfc": pfc} if mode != "lossy" else {})}}

    def _priority(self) -> int:
        """Return the priority that never loses a frame."""
        chosen: Any = at(self._switch.running, ("qos", "pfc", "default-global", "switch-priority")) or {"3": {}}
        return int(next(iter(chosen)))

    def _hostname_of(self, name: str) -> str:
        """Return the name that a device gives itself: a switch the one that is set, or that of every new one."""
        switch = self._fabric.switches.get(name)
        return str(at(switch.running, ("system", "hostname")) or "cumulus") if switch else name

    def _release(self) -> Tree:
        """Return the version, where the release shows it."""
        version = self._switch.version
        return {"product-release": version, "version": {"image": f"Cumulus Linux {version}"}}
