"""Who runs a command, what it sees, and how it ends."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from kvplan.twin.scale.settling import settle
from kvplan.twin.scale.store import Refusal, Store, directory
from kvplan.twin.scale.world import automounts, effective

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kvplan.twin.scale.arguments import Arguments
    from kvplan.twin.scale.doc import Doc

NODE = "KV_TWIN_NODE"
ROOT = "KV_TWIN_ROOT"
CRASHED = 137
COMMANDS: dict[str, Callable[..., Any]] = {}
_FAILED = "{}: 6027-1639 Command failed. Examine previous error messages to determine cause."


def command(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as the command of these names; a generator yields the seconds that it takes.

    Parameters
    ----------
    *names
        What it is called by.

    Returns
    -------
    Callable
        The decorator.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        COMMANDS.update(dict.fromkeys(names, function))
        return function

    return register


class Shell:
    """A command on a machine: `state` is the shared one while the command holds it."""

    def __init__(self, store: Store, machine: str, name: str) -> None:
        self.store, self.machine_name, self.name = store, machine, name
        self.state: Doc = {}
        self.out: list[str] = []
        self.err: list[str] = []
        self.root = Path(os.environ.get(ROOT, "/"))

    def refuse(self, text: str, rc: int = 1) -> NoReturn:
        """End the command with a refusal in its name."""
        message = f"{self.name}: {text}"
        raise Refusal(message, rc)

    def say(self, *lines: str) -> None:
        """Print lines to standard output."""
        self.out += lines

    @property
    def machine(self) -> Doc:
        """The machine on which it runs."""
        try:
            held: Doc = self.state["machines"][self.machine_name]
        except KeyError:
            message = f"{self.name}: 6027-1382 This node does not belong to a GPFS cluster."
            raise Refusal(message) from None
        return held

    @property
    def cluster(self) -> Doc:
        """The cluster of the machine, refused without one."""
        name = self.machine["cluster"]
        if not name:
            self.refuse("6027-1382 This node does not belong to a GPFS cluster.")
        held: Doc = self.state["clusters"][name]
        return held

    def machine_of(self, node: Doc) -> Doc:
        """Return the machine of a node of a cluster."""
        held: Doc = self.state["machines"][node["machine"]]
        return held

    @property
    def here(self) -> Doc:
        """The node of the cluster that this machine is."""
        node: Doc = next(each for each in self.cluster["nodes"] if each["machine"] == self.machine_name)
        return node

    def nodes(self, wanted: str) -> list[Doc]:
        """Return the nodes meant by `-N`: names, numbers, addresses, node classes, all."""
        found: list[Doc] = []
        for word in (each.strip() for each in wanted.split(",")):
            meant = self._meant(word)
            if not meant:
                self.refuse(f"6027-1628 Incorrect node name {word} specified for command.")
            found += [node for node in meant if node not in found]
        return found

    def _meant(self, word: str) -> list[Doc]:
        """Return the nodes that one word means."""
        cluster = self.cluster
        if word == "all":
            return list(cluster["nodes"])
        vdisk = cluster["vdisk_classes"].get(word, {}).get("nodes")
        members = cluster["classes"].get(word, vdisk)
        if members is not None:
            return [node for node in cluster["nodes"] if node["daemon"] in members]
        return [
            node
            for node in cluster["nodes"]
            if word in (node["daemon"], node["admin"], node["daemon"].split(".")[0], node["ip"], str(node["number"]))
        ]

    def quorate(self, cluster: Doc | None = None) -> bool:
        """Whether more than half of the quorum nodes run their daemon."""
        nodes = [node for node in (cluster or self.cluster)["nodes"] if node["quorum"]]
        return 2 * sum(bool(self.machine_of(node)["daemon"]) for node in nodes) > len(nodes)

    def active(self, node: Doc) -> bool:
        """Whether the daemon of a node runs and takes part in the quorum."""
        held = self.machine_of(node)
        return bool(held["daemon"]) and self.quorate(self.state["clusters"][held["cluster"]])

    def need_active(self) -> None:
        """Refuse unless the daemon of this node is active."""
        if not self.machine["daemon"]:
            self.err.append(f"{self.name}: 6027-1209 GPFS is down on this node.")
            raise Refusal(_FAILED.format(self.name))
        if not self.quorate():
            self.refuse("6027-665 Failed to connect to file system daemon: no quorum.")

    def need_reach(self, nodes: Sequence[Doc]) -> None:
        """Refuse unless every node answers to ssh from here."""
        for node in nodes:
            held = self.machine_of(node)
            if not (held["up"] and held["ssh"]) and node["machine"] != self.machine_name:
                self.err.append(f"{node['admin']}:  ssh: connect to host {node['admin']} port 22: Connection refused")
                self.err.append(f"{self.name}: 6027-1615 Could not reach node {node['admin']}.")
                raise Refusal(_FAILED.format(self.name))

    def chosen(self, args: Arguments) -> list[Doc]:
        """Return the nodes of `-a` or `-N`, or this one."""
        if "-a" in args.flags:
            return self.nodes("all")
        return self.nodes(args.values["-N"]) if "-N" in args.values else [self.here]

    def start(self, node: Doc) -> None:
        """Start the daemon of a node with the values stored now."""
        held = self.machine_of(node)
        config = effective(self.cluster, node["daemon"])
        held.update(daemon=True, running=config, mounts=automounts(self.state, self.cluster))

    def file(self, path: str) -> Path:
        """Return a path as this machine sees it; tests keep the files of each machine below a directory."""
        return self.root / path.lstrip("/")


def run(argv: Sequence[str]) -> tuple[int, str, str]:
    """Run a command as the machine that the environment names.

    Parameters
    ----------
    argv
        Its name, which may be a path, and its arguments.

    Returns
    -------
    tuple
        Return code, standard output, standard error.
    """
    shell = _shell(argv)
    code = drive(shell, argv[1:], lambda: None)
    return code, _text(shell.out), _text(shell.err)


def main(argv: Sequence[str]) -> int:
    """Run a command and print as it goes.

    Parameters
    ----------
    argv
        Its name and its arguments.

    Returns
    -------
    int
        Its return code.
    """
    shell = _shell(argv)

    def flush() -> None:
        sys.stdout.write(_text(shell.out))
        sys.stdout.flush()
        sys.stderr.write(_text(shell.err))
        shell.out, shell.err = [], []

    code = drive(shell, argv[1:], flush)
    settle(shell.store)
    flush()
    return code


def _shell(argv: Sequence[str]) -> Shell:
    """Return who runs a command on the machine that the environment or the host's name says."""
    store = Store(directory())
    return Shell(store, called(store), Path(argv[0]).name)


def called(store: Store) -> str:
    """Return what the machine is called on which this runs.

    Parameters
    ----------
    store
        Where machines are known by all their names.

    Returns
    -------
    str
        As the environment says, or whose name the host has.
    """
    if NODE in os.environ:
        return os.environ[NODE]
    host = socket.gethostname()
    known = store.seen().get("machines", {})
    return next((name for name, held in known.items() if host in held["names"]), host.partition(".")[0])


def drive(shell: Shell, words: Sequence[str], flush: Callable[[], None]) -> int:
    """Run a command to its end: the state is held between its waits, not during them.

    Parameters
    ----------
    shell
        Who runs it.
    words
        Its arguments.
    flush
        Called before each wait.

    Returns
    -------
    int
        Its return code.
    """
    fault = shell.store.fault(" ".join([shell.name, *words]), shell.machine_name)
    if fault.get("delay"):
        shell.store.wait(fault["delay"])
    if "rc" in fault:
        shell.err.append(fault.get("stderr", f"{shell.name}: 6027-1639 Command failed."))
        return int(fault["rc"])
    if shell.name not in COMMANDS:
        shell.err.append(f"{shell.name}: command not found")
        return 127
    steps = _steps(shell, words)
    crash_after = fault.get("crash_after", -1)
    while True:
        try:
            with shell.store.changed() as state:
                shell.state = state
                pause, code = next(steps)
        # what a command had changed before it refused is not written
        except Refusal as refusal:
            return _refused(shell, refusal)
        if pause is None:
            return code
        flush()
        if crash_after == 0:
            return CRASHED
        crash_after -= 1
        shell.store.wait(pause)


def _steps(shell: Shell, words: Sequence[str]) -> Iterator[tuple[float | None, int]]:
    """Run a command step by step: the seconds it waits after each, and at its end none and the return code."""
    made = COMMANDS[shell.name](shell, list(words))
    if isinstance(made, Iterator):
        yield from ((pause, 0) for pause in made)
        made = 0
    yield None, int(made or 0)


def _refused(shell: Shell, refusal: Refusal) -> int:
    """Say what was refused, as the commands do: the cause first, then that it failed."""
    shell.err.append(str(refusal))
    if shell.name == "mmvdisk":
        shell.err.append("mmvdisk: Command failed. Examine previous error messages to determine cause.")
    elif "6027-1639" not in str(refusal):
        shell.err.append(_FAILED.format(shell.name))
    return refusal.rc


def _text(lines: Sequence[str]) -> str:
    """Join lines."""
    return "".join(f"{line}\n" for line in lines)
