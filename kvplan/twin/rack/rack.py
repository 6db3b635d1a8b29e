"""A rack as its user sees it: entered, disturbed, asked."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

from kvplan.twin.rack.inside import CONTROL, ORDER
from kvplan.twin.rack.keeper import inside
from kvplan.twin.rack.lines import asked
from kvplan.twin.rack.order import RackOrder
from kvplan.twin.rack.shell import RackError, children, run
from kvplan.twin.rack.ssh import inventory

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from kvplan.twin.rack.plan import RackPlan

HERE: Final = ""
"""Where the machine that deploys is: the namespace with the management network."""
PID: Final = "pid"
"""File in a rack's directory: the process that the rack ends with."""
_TICK_S: Final = 0.05


class Rack:
    """A rack that stands.

    Parameters
    ----------
    plan
        What it is made of.
    directory
        Its directory, which holds all that is kept of it.
    pid
        The process that it ends with.
    """

    def __init__(self, plan: RackPlan, directory: Path, pid: int) -> None:
        self.plan = plan
        self.directory = directory
        self.pid = pid

    @classmethod
    def at(cls, directory: Path) -> Rack:
        """Find the rack of a directory.

        Parameters
        ----------
        directory
            The directory of a rack that stands.

        Returns
        -------
        Rack
            The rack.
        """
        order = RackOrder.model_validate_json((directory / ORDER).read_text(encoding="utf-8"))
        return cls(order.plan, directory, int((directory / PID).read_text(encoding="ascii")))

    @property
    def ssh_config(self) -> Path:
        """What `ssh -F` takes, from within the rack."""
        return self.directory / "ssh_config"

    @property
    def known_hosts(self) -> Path:
        """The host keys of every node under each of its names and its address."""
        return self.directory / "known_hosts"

    @property
    def inventory(self) -> dict[str, dict[str, str]]:
        """What overrides an inventory's variables, by node."""
        return inventory(self.plan, self.directory)

    def request(self, verb: str, what: str = "", **more: object) -> Any:
        """Ask for something to be done.

        Parameters
        ----------
        verb
            `status`, `power`, `on`, `off`, `blank`, `reinstall`, `fill`, `free`, `cut`, `restore`, `kill-sshd`,
            `leader`, `configure` or `down`.
        what
            A node, a switch, or a link such as `link:storage-003:client1p0`.
        **more
            The `settings` of a configuration; the `host_key` and `files` of a node that is installed anew.

        Returns
        -------
        object
            What came of it.
        """
        return asked(self.directory / CONTROL, {"verb": verb, "what": what, **more}, "the rack is gone")

    def configure(self, switch: str, nvue: object) -> list[str]:
        """Apply a configuration to a switch.

        Parameters
        ----------
        switch
            Its name.
        nvue
            A configuration file as read from YAML, or the settings below `set`.

        Returns
        -------
        list of str
            Interfaces of it that have no cable in this rack.
        """
        lacking: list[str] = self.request("configure", switch, settings=nvue)
        return lacking

    def command(self, where: str, *command: str) -> list[str]:
        """Return the command that runs another somewhere in the rack; `bash -l` there is a shell.

        Parameters
        ----------
        where
            A node, a switch, or `HERE`.
        *command
            Program and arguments.

        Returns
        -------
        list of str
            To be run by root of this machine; it ends with the rack.
        """
        enter = ["nsenter", f"--target={first_process(self.pid)}", "--mount", "--net", "--pid", "--wdns=/", "--"]
        if where == HERE:
            return [*enter, *command]
        if any(where == switch.name for switch in self.plan.switches):
            return [*enter, "ip", "netns", "exec", where, *command]
        return [*enter, *inside(self.request("leader", where)), *command]

    def run(self, where: str, *command: str, stdin: str = "", seconds: float = 60) -> str:
        """Run a command somewhere in the rack and return what it wrote.

        Parameters
        ----------
        where
            A node, a switch, or `HERE`.
        *command
            Program and arguments.
        stdin
            What it reads.
        seconds
            How long it may take.

        Returns
        -------
        str
            Its output.
        """
        return run(*self.command(where, *command), stdin=stdin, seconds=seconds)

    def ssh(self, node: str, *command: str, seconds: float = 60) -> str:
        """Run a command on a node over SSH, as a playbook does.

        Parameters
        ----------
        node
            Any of its names, or its address.
        *command
            Program and arguments.
        seconds
            How long it may take.

        Returns
        -------
        str
            Its output.
        """
        return self.run(HERE, "ssh", "-F", str(self.ssh_config), node, *command, seconds=seconds)

    def wait(self, nodes: Collection[str] | None = None, *, seconds: float = 60) -> None:
        """Wait until nodes answer over SSH.

        Parameters
        ----------
        nodes
            Which; those that are on without.
        seconds
            How long at most.

        Raises
        ------
        RackError
            When one does not.
        """
        deadline = time.monotonic() + seconds
        while True:
            seen = self.request("status")["nodes"]
            asked = nodes if nodes is not None else [name for name, node in seen.items() if node["on"]]
            silent = [name for name in asked if not seen[name]["ssh"]]
            if not silent:
                return
            if time.monotonic() > deadline:
                message = f"no answer over SSH after {seconds:g} s: {', '.join(silent)}"
                raise RackError(message)
            time.sleep(_TICK_S)


def first_process(pid: int) -> int:
    """Find the first process of a rack.

    Parameters
    ----------
    pid
        The process that the rack ends with.

    Returns
    -------
    int
        Its child.

    Raises
    ------
    RackError
        When the rack is gone.
    """
    if started := children(pid):
        return started[0]
    message = "the rack is gone"
    raise RackError(message)
