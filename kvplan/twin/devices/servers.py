"""The servers behind the controllers: what a start makes of a node of the rack, and what its power tells back."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, RLock, Thread
from typing import TYPE_CHECKING, Any, Final

from kvplan.errors import KvplanError
from kvplan.twin.bmc.fetching import unreadable
from kvplan.twin.bmc.machine import Boot
from kvplan.twin.devices.reading import medium_at
from kvplan.twin.rack.shell import RackError
from kvplan.twin.rack.ssh import made_key, relearn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kvplan.twin.bmc.machine import Machine, State
    from kvplan.twin.devices.order import ServerOrder
    from kvplan.twin.devices.reading import Medium

_LOOK_S: Final = 0.5
"""How often the rack is asked for the power of its nodes."""
IDLE: Final = "follows the node"
_MARKER: Final = "etc/kvplan/installed"


@dataclass
class _Seat:
    """A server at its place: `doing` says what it is at, `stop` ends an installer, `drives` are those in it."""

    order: ServerOrder
    drives: tuple[str, ...]
    doing: str = IDLE
    stop: Event = field(default_factory=Event)


class Servers:
    """The servers of a rack.

    Parameters
    ----------
    orders
        What they are.
    rack
        Asks the rack for something: verb, node, and more.
    directory
        Where `installed/NAME.json` lie: files by path that an installer leaves on a server's disk.
    user
        The deployer's account.
    known_hosts
        The rack's own file of host keys.
    installer_s
        How long an installer works [s].
    """

    def __init__(
        self,
        orders: tuple[ServerOrder, ...],
        rack: Callable[..., Any],
        directory: Path,
        *,
        user: str,
        known_hosts: Path,
        installer_s: float,
    ) -> None:
        self._rack, self._directory, self._user = rack, directory, user
        self._known_hosts, self._installer_s = known_hosts, installer_s
        self._seats = {order.name: _Seat(order, order.drives) for order in orders}
        self._lock = RLock()
        self._over = Event()
        self._states: Mapping[str, State] = {}
        self._threads: list[Thread] = []

    def begin(self, states: Mapping[str, State]) -> None:
        """Follow the power of the nodes from now on.

        Parameters
        ----------
        states
            The states of the controllers that call `boot` and `stop`, by server.
        """
        self._states = states
        self._spawn(self._follow, name="power")

    def end(self) -> None:
        """Leave the nodes as they are."""
        self._over.set()
        for seat in self._seats.values():
            seat.stop.set()
        for thread in self._threads:
            thread.join()

    def boot(self, machine: Machine, image: str | None) -> None:
        """Start a server: the installer on its medium, or what is on its own disk.

        Parameters
        ----------
        machine
            The server.
        image
            Address of the medium; None for its own disk.
        """
        with self._lock:
            seat = self._afresh(machine.name)
            if image is None:
                self._rack("on", machine.name)
                return
            seat.doing = f"installs from {image}"
            self._spawn(self._install, seat, image, seat.stop, name=f"install-{machine.name}")

    def stop(self, machine: Machine) -> None:
        """Take a server's power away at once.

        Parameters
        ----------
        machine
            The server.
        """
        with self._lock:
            self._afresh(machine.name)
            self._rack("off", machine.name)

    def change_drives(self, name: str, drives: tuple[str, ...]) -> None:
        """Change the boot drives that are in a server.

        Parameters
        ----------
        name
            The server.
        drives
            Their serial numbers; those that were ordered where there are none.
        """
        seat = self._seats[name]
        seat.drives = drives or seat.order.drives

    def status(self) -> dict[str, Any]:
        """Tell of each server what its controller shows, what it started from, and what it is at.

        Returns
        -------
        dict
            By server.
        """
        states = self._states
        return {
            name: {
                "power": states[name].power_shown(),
                "doing": seat.doing,
                "boots": [boot.image_url or f"its own drive: {boot.why_not}" for boot in states[name].boots],
            }
            for name, seat in self._seats.items()
            if name in states
        }

    def _afresh(self, name: str) -> _Seat:
        """End what a server is at."""
        seat = self._seats[name]
        seat.stop.set()
        seat.stop, seat.doing = Event(), IDLE
        return seat

    def _install(self, seat: _Seat, image: str, stop: Event) -> None:
        """Install a server, and start it again as its controller has it then; what fails, stays at the installer."""
        try:
            while image:
                medium = medium_at(image, seat.order.address)
                _refuse(seat, medium)
                image = "" if stop.wait(self._installer_s) else self._finish(seat, medium, stop)
        except (KvplanError, OSError) as error:
            with self._lock:
                if not stop.is_set():
                    seat.doing = f"stays in its installer: {error}"

    def _finish(self, seat: _Seat, medium: Medium, stop: Event) -> str:
        """Lay the disk and start the server again; return the medium, if it begins from one anew."""
        with self._lock:
            if stop.is_set():
                return ""
            self._lay(seat.order.name, medium)
            image = self._started_again(seat)
            if not image:
                self._rack("on", seat.order.name)
                seat.doing = IDLE
        return image

    def _lay(self, name: str, medium: Medium) -> None:
        """Put on a server's disk what its installer leaves there, with host keys that nobody has seen."""
        left = self._directory / "installed" / f"{name}.json"
        files = json.loads(left.read_text(encoding="utf-8")) if left.is_file() else {}
        files[_MARKER] = medium.marker
        if medium.keys:
            files[f"home/{self._user}/.ssh/authorized_keys"] = "".join(f"{key}\n" for key in medium.keys)
        with tempfile.TemporaryDirectory(prefix="kvplan-") as held:
            private, public = made_key(Path(held, "key"), name)
        self._rack("reinstall", name, host_key=private, files=files)
        relearn(self._known_hosts, name, public)

    def _started_again(self, seat: _Seat) -> str:
        """Start a server as it does after an installation; return the medium, if its controller has it start there."""
        state = self._states[seat.order.name]
        with state.lock:
            boot = state.starts()
        if boot.image_url and (why_not := unreadable(boot.image_url, seat.order.address)):
            boot = Boot(None, why_not)
        state.boots.append(boot)
        return boot.image_url or ""

    def _follow(self) -> None:
        """Let controllers show the power of nodes that others switched, or that went off by themselves."""
        while not self._over.wait(_LOOK_S):
            asked = {name: self._states[name].acting or seat.doing != IDLE for name, seat in self._seats.items()}
            before = {name: seat.stop for name, seat in self._seats.items()}
            try:
                seen: Mapping[str, Mapping[str, bool]] = self._rack("power")
            except (OSError, RackError):
                continue
            for name, seat in self._seats.items():
                if not asked[name] and seat.stop is before[name] and name in seen:
                    self._show(name, seat, is_on=seen[name]["on"])

    def _show(self, name: str, seat: _Seat, *, is_on: bool) -> None:
        """Show a node's power, unless it is being changed right now."""
        state = self._states[name]
        with state.lock:
            if not (state.acting or state.changing() or seat.doing != IDLE):
                state.powered = is_on

    def _spawn(self, work: Callable[..., None], *arguments: Any, name: str) -> None:
        """Do something beside."""
        thread = Thread(target=work, args=arguments, name=name)
        self._threads = [held for held in self._threads if held.is_alive()] + [thread]
        thread.start()


def _refuse(seat: _Seat, medium: Medium) -> None:
    """Refuse to install another server's system, or on drives that are not there."""
    if medium.serial != seat.order.serial:
        message = f"the medium is that of the server {medium.serial}, and this is {seat.order.serial}"
        raise RackError(message)
    for drive in medium.drives:
        if drive not in seat.drives:
            message = f"serial {drive} matched 0 drives, must match one"
            raise RackError(message)
