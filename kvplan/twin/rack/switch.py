"""One switch: a network namespace in which FRR routes as the applied configuration says."""

from __future__ import annotations

import json
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kvplan.twin.rack.frr import frr_of, ports_of
from kvplan.twin.rack.network import SWITCH_SETTINGS, configured, waking
from kvplan.twin.rack.shell import run

if TYPE_CHECKING:
    from kvplan.twin.rack.frr import Tree
    from kvplan.twin.rack.plan import SwitchPlan
    from kvplan.twin.rack.shell import Run

FRR: Final = Path("/usr/lib/frr")
"""Where FRR's daemons are installed."""
DAEMONS: Final = ("zebra", "bgpd", "bfdd")
"""The daemons that a switch runs, in the order in which they start."""
_NAMED: Final = 'hostname "$0"; exec "$@"'
"""FRR tells its neighbours the name of the machine that it runs on."""


class Switch:
    """A switch; before its first configuration it forwards nothing.

    Parameters
    ----------
    plan
        What it is.
    etc
        Directory that FRR reads configurations from.
    state
        Directory that FRR keeps sockets and process numbers in.
    command
        Runs the machine's commands.
    """

    def __init__(self, plan: SwitchPlan, etc: Path, state: Path, *, command: Run = run) -> None:
        self.plan = plan
        self.shut: set[str] = set()
        self._etc = etc / plan.name
        self._state = state / plan.name
        self._run = command

    def wake(self) -> None:
        """Bring it to the management network."""
        self._inside("sysctl", "-qw", *SWITCH_SETTINGS)
        self._ip(waking(self.plan.address))

    def configure(self, nvue: Tree) -> list[str]:
        """Apply a configuration.

        Parameters
        ----------
        nvue
            The settings, as below `set`.

        Returns
        -------
        list of str
            Interfaces of the configuration that have no cable in this rack.
        """
        wanted, held = ports_of(nvue), self._held()
        self._ip(configured(wanted, held, frozenset(self.shut)))
        text = frr_of(nvue)
        file = self._etc / "frr.conf"
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            self._route(file, text)
        return sorted(wanted.keys() - held.keys())

    def shut_port(self, port: str, *, shut: bool) -> None:
        """Cut or mend the cable of a port.

        Parameters
        ----------
        port
            The port.
        shut
            Whether it is cut.
        """
        (self.shut.add if shut else self.shut.discard)(port)
        self._ip([f"link set {port} {'down' if shut else 'up'}"])

    def stop(self) -> None:
        """End FRR's daemons."""
        for daemon in DAEMONS:
            file = self._state / f"{daemon}.pid"
            with suppress(FileNotFoundError, ProcessLookupError, ValueError):
                os.kill(int(file.read_text(encoding="ascii")), signal.SIGKILL)
            file.unlink(missing_ok=True)

    def _route(self, file: Path, text: str) -> None:
        """Start FRR afresh with a configuration."""
        self.stop()
        for directory in (self._etc, self._state):
            directory.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        (self._etc / "vtysh.conf").touch()
        self._run("chown", "-R", "frr:frr", str(self._etc), str(self._state))
        for daemon in DAEMONS:
            named = ("unshare", "--uts", "sh", "-c", _NAMED, self.plan.name)
            self._inside(*named, str(FRR / daemon), "-d", "-N", self.plan.name, "-A", "127.0.0.1")
        self._inside("vtysh", "-N", self.plan.name, "-b")

    def _held(self) -> dict[str, frozenset[str]]:
        """Read which interfaces there are, with their IPv4 addresses; the kernel's own loopback address is its own."""
        shown = json.loads(self._run("ip", "-n", self.plan.name, "-json", "-details", "address", "show"))
        return {
            link["ifname"]: frozenset(
                f"{address['local']}/{address['prefixlen']}"
                for address in link["addr_info"]
                if address["family"] == "inet" and address["local"] != "127.0.0.1"
            )
            for link in shown
            if link["ifname"] == "lo" or (_is_cable(link) and link["ifname"] != "eth0")
        }

    def _ip(self, lines: list[str]) -> None:
        """Set the kernel's interfaces."""
        self._run("ip", "-n", self.plan.name, "-batch", "-", stdin="\n".join(lines))

    def _inside(self, *command: str) -> None:
        """Run a command in its namespace."""
        self._run("ip", "netns", "exec", self.plan.name, *command)


def _is_cable(link: dict[str, Any]) -> bool:
    """Tell a cable from the tunnels that a kernel may put into every namespace."""
    return bool(link.get("linkinfo", {}).get("info_kind") == "veth")
