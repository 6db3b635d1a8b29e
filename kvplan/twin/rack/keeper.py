"""What is done to a rack while it stands: power, cables, daemons and configurations, asked for by a verb."""

from __future__ import annotations

import socket
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from kvplan.errors import KvplanError, UsageError, did_you_mean
from kvplan.twin.rack.frr import applied
from kvplan.twin.rack.image import Accounts, image_of, lay, lay_files
from kvplan.twin.rack.installed import INSTALLED, run_scripts, unpack
from kvplan.twin.rack.machine import Machine
from kvplan.twin.rack.network import building
from kvplan.twin.rack.shell import RackError, run
from kvplan.twin.rack.switch import Switch

if TYPE_CHECKING:
    from collections.abc import Callable

    from kvplan.twin.rack.order import RackOrder
    from kvplan.twin.rack.shell import Run

_Kind = TypeVar("_Kind")
_SSH_PORT: Final = 22
_GLANCE_S: Final = 0.3


class Keeper:
    """Builds a rack and keeps it.

    Parameters
    ----------
    order
        What to build.
    place
        Directory for the nodes' disks, on a file system that ends with the rack.
    etc
        Directory that FRR reads configurations from.
    state
        Directory that FRR keeps sockets in.
    command
        Runs the machine's commands.
    """

    def __init__(self, order: RackOrder, place: Path, etc: Path, state: Path, *, command: Run = run) -> None:
        self.order = order
        self._place = place
        self._run = command
        self.machines = {
            node.name: Machine(node, place / node.name, fabric=order.fabric, shared=order.shared, command=command)
            for node in order.plan.nodes
        }
        self.switches = {switch.name: Switch(switch, etc, state, command=command) for switch in order.plan.switches}
        self.cut: set[str] = set()
        self._keys = dict(order.host_keys)
        self._files = dict(order.files)
        self._verbs: dict[str, Callable[[str], Any]] = {
            "status": lambda _: self.status(),
            "on": lambda name: self._machine(name).on(),
            "off": lambda name: self._machine(name).off(),
            "power": lambda _: self.power(),
            "blank": lambda name: self._machine(name).erase(),
            "cut": lambda link: self._part(link, cut=True),
            "restore": lambda link: self._part(link, cut=False),
            "fill": lambda name: self._machine(name).fill(),
            "free": lambda name: self._machine(name).free(),
            "leader": self._leader,
            "kill-sshd": self._kill_sshd,
        }

    def build(self) -> None:
        """Build networks and disks, and switch on what is ordered to be on."""
        self._run("ip", "-batch", "-", stdin="\n".join(building(self.order.plan)))
        for switch in self.switches.values():
            switch.wake()
        for name, machine in self.machines.items():
            if name in self.order.blank:
                machine.blank = True
            else:
                self._install(machine)
        for name, machine in self.machines.items():
            if name not in self.order.off:
                machine.on()

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Do what is asked.

        Parameters
        ----------
        request
            `verb`, `what` it is done to, the `settings` of a configuration, and the `host_key` and `files` of a node
            that is installed anew.

        Returns
        -------
        dict
            `result`, or `error` in a sentence.
        """
        verb, what = str(request.get("verb", "")), str(request.get("what", ""))
        try:
            if verb == "configure":
                return {"result": self._switch(what).configure(applied(request["settings"]))}
            if verb == "reinstall":
                self._reinstall(what, request.get("host_key"), request.get("files"))
                return {"result": None}
            if verb not in self._verbs:
                message = f"no verb {verb} {did_you_mean(verb, self._verbs)}".rstrip()
                raise UsageError(message)
            return {"result": self._verbs[verb](what)}
        except (KvplanError, LookupError, TypeError, ValueError) as error:
            return {"error": error.message if isinstance(error, KvplanError) else f"{verb} {what}: {error!r}"}

    def status(self) -> dict[str, Any]:
        """Tell the power of each node, whether it answers over SSH, and which links are cut.

        Returns
        -------
        dict
            `nodes`, `switches` and `cut`.
        """
        return {
            "nodes": {
                name: {"on": held["on"], "ssh": held["on"] and not held["blank"] and greets(self._address(name))}
                for name, held in self.power().items()
            },
            "switches": {name: {"shut": sorted(switch.shut)} for name, switch in self.switches.items()},
            "cut": sorted(self.cut),
        }

    def power(self) -> dict[str, dict[str, bool]]:
        """Tell of each node whether it has power, and whether its disk is empty; none is asked over the network.

        Returns
        -------
        dict of dict
            `on` and `blank` by node.
        """
        return {name: {"on": machine.is_on, "blank": machine.blank} for name, machine in self.machines.items()}

    def _address(self, name: str) -> str:
        """Return where a node is reached."""
        return self.machines[name].node.address

    def _install(self, machine: Machine) -> None:
        """Put on a node's disk what an installed one has, and what was ordered besides."""
        order, node = self.order, machine.node
        accounts = Accounts(*(Path("/etc", name).read_text(encoding="utf-8") for name in ("passwd", "group")))
        machine.insert()
        lay(
            image_of(node, order.plan.user, self._keys[node.name], order.authorised, accounts),
            machine.upper,
            Path("/"),
        )
        installed = Path(order.shared, INSTALLED, node.face)
        if order.shared and installed.is_dir():
            unpack(installed, machine.upper, self._run)
        lay_files(self._files.get(node.name, {}), machine.upper)
        machine.mount()
        if order.shared and installed.is_dir():
            run_scripts(installed, machine.place / "root", self._run)

    def _reinstall(self, name: str, host_key: str | None, files: dict[str, str] | None) -> None:
        """Give a node a disk as new, with another host key and other files where they are given; leave it off."""
        machine = self._machine(name)
        machine.erase()
        if host_key:
            self._keys[name] = host_key
        if files is not None:
            self._files[name] = files
        self._install(machine)

    def _part(self, link: str, *, cut: bool) -> None:
        """Cut a link or mend it."""
        device, port = self.order.plan.end_of(link)
        if device:
            self.switches[device].shut_port(port, shut=cut)
        else:
            self._run("ip", "link", "set", port, "down" if cut else "up")
        (self.cut.add if cut else self.cut.discard)(link.removeprefix("link:"))

    def _kill_sshd(self, name: str) -> None:
        """End a node's SSH server and every session on it."""
        unit = "sshd" if self._machine(name).node.face == "rhel" else "ssh"
        self._run(*inside(self._leader(name)), "systemctl", "stop", unit)

    def _leader(self, name: str) -> int:
        """Return the first process of a node that is on."""
        leader = self._machine(name).leader()
        if not leader:
            message = f"{name} is off"
            raise RackError(message)
        return leader

    def _machine(self, name: str) -> Machine:
        """Find a node."""
        return _named(self.machines, name, "node")

    def _switch(self, name: str) -> Switch:
        """Find a switch."""
        return _named(self.switches, name, "switch")


def inside(leader: int) -> list[str]:
    """Return what runs a command on a node.

    Parameters
    ----------
    leader
        The node's first process.

    Returns
    -------
    list of str
        The beginning of a command.
    """
    enter = ["nsenter", f"--target={leader}", "--mount", "--uts", "--ipc", "--net", "--pid", "--wdns=/", "--"]
    path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    return [*enter, "env", "-i", path, "HOME=/root", "LANG=C.UTF-8", "TERM=xterm"]


def greets(address: str, port: int = _SSH_PORT) -> bool:
    """Tell whether an SSH server answers.

    Parameters
    ----------
    address
        Where.
    port
        Its port.

    Returns
    -------
    bool
        Whether it says what it is.
    """
    with suppress(OSError), socket.create_connection((address, port), timeout=_GLANCE_S) as connection:
        return connection.recv(4) == b"SSH-"
    return False


def _named(known: dict[str, _Kind], name: str, noun: str) -> _Kind:
    """Find by name, or say what there is."""
    if name not in known:
        message = f"no {noun} {name} in the rack {did_you_mean(name, known)}".rstrip()
        raise UsageError(message)
    return known[name]
