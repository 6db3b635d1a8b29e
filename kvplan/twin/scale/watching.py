"""The service of a node: it lets the node be what the state says, and the state know what the node is.

It runs as long as the node has power, with a lock that the kernel takes away when it dies. It starts and ends a real
process `mmfsd` that listens on the port of the daemon, and mounts a directory that all nodes share at the place of a
file system.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from kvplan.twin.scale.kernel import module_file
from kvplan.twin.scale.settling import record, wanted
from kvplan.twin.scale.shell import ROOT, called
from kvplan.twin.scale.store import Store, directory
from kvplan.twin.scale.world import power_off, power_on, reinstall

if TYPE_CHECKING:
    from typing import NoReturn

    from kvplan.twin.scale.doc import Doc

PORT = 1191
CONFIGURATION = "/var/mmfs/gen/mmsdrfs"
"""Where a node keeps the cluster that it belongs to."""
RAID = "/usr/lpp/mmfs/bin/mmvdisk"
"""What is there only with the package of recovery groups."""
_TICK_S = 0.1
_GLANCE_S = 0.5


def look(held: Doc, root: Path) -> Doc:
    """Read from a node's disk what is installed there, and whether it holds traces of a cluster that it is not in.

    Parameters
    ----------
    held
        The machine as the state has it.
    root
        Its root.

    Returns
    -------
    Doc
        What differs from the state.
    """
    knows = (root / CONFIGURATION.lstrip("/")).exists()
    seen = {
        "base": True,
        "gnr": os.path.lexists(root / RAID.lstrip("/")),
        "gpl": (root / module_file().lstrip("/")).exists(),
        "leftover": "another cluster" if knows and not held["cluster"] else "",
    }
    return {name: value for name, value in seen.items() if held[name] != value}


def tell(store: Store, name: str, root: Path) -> None:
    """Let the state know what a package has just brought; a disk that knows no cluster is a new one.

    Parameters
    ----------
    store
        Where the state is.
    name
        The machine.
    root
        Its root.
    """
    with store.changed() as state:
        held = state.get("machines", {}).get(name)
        if held is None:
            return
        if held["cluster"] and not (root / CONFIGURATION.lstrip("/")).exists():
            reinstall(state, name)
        held.update(look(held, root))


class Watcher:
    """The service on one node."""

    def __init__(self, store: Store, name: str, root: Path) -> None:
        self.store, self.name, self.root = store, name, root
        self.lock = store.alive(name)
        self.daemon = 0
        self.mounts: dict[str, str] = {}

    def run(self) -> NoReturn:
        """Begin, and go on until the node loses its power."""
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        with self.store.changed() as state:
            power_off(state, self.name)
            held = state["machines"][self.name]
            held.update(look(held, self.root), watched=True)
            power_on(state, self.name)
        while True:
            self.step()
            time.sleep(_TICK_S)

    def step(self) -> None:
        """Look what died, then do what is still to be done."""
        state = self.store.seen()
        held = state["machines"][self.name]
        if self.daemon and os.waitpid(self.daemon, os.WNOHANG)[0]:
            self.daemon = 0
            self._lost()
            return
        goal = wanted(state, self.name)
        self._know(goal["cluster"], held)
        if not goal["daemon"]:
            self._mount({})
            self._end()
        elif not self.daemon and not self._start():
            self._lost()
            return
        else:
            self._mount(goal["mounts"])
        path = record(self.store, self.name)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(goal)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            aside = path.with_name(f".{path.name}.new")
            aside.write_text(text, encoding="utf-8")
            aside.replace(path)

    def _know(self, cluster: str, held: Doc) -> None:
        """Keep on the disk which cluster the node is in; traces of another one are not touched."""
        path = self.root / CONFIGURATION.lstrip("/")
        if held["leftover"]:
            if not path.exists():
                with self.store.changed() as state:
                    state["machines"][self.name]["leftover"] = ""
        elif cluster and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"%%9999%%:00_VERSION_LINE::2400:3:1::lc:::0:::{cluster}:\n", encoding="utf-8")
        elif not cluster and path.exists():
            path.unlink()

    def _lost(self) -> None:
        """Let the state know that the daemon is gone."""
        self._mount({})
        with self.store.changed() as state:
            state["machines"][self.name].update(daemon=False, running={}, mounts=[])

    def _start(self) -> bool:
        """Start the daemon, and wait until it listens."""
        ready, says = os.pipe()
        self.daemon = os.fork()
        if not self.daemon:
            os.close(ready)
            self.lock.close()
            listen(says)
        os.close(says)
        with os.fdopen(ready, "rb") as file:
            if file.read(1):
                return True
        os.waitpid(self.daemon, 0)
        self.daemon = 0
        return False

    def _end(self) -> None:
        """End the daemon."""
        if self.daemon:
            os.kill(self.daemon, signal.SIGKILL)
            os.waitpid(self.daemon, 0)
            self.daemon = 0

    def _mount(self, goal: dict[str, str]) -> None:
        """Mount what is to be mounted, and nothing else."""
        for place in [place for place, name in self.mounts.items() if goal.get(place) != name]:
            _run("umount", "--lazy", str(self.root / place.lstrip("/")))
            del self.mounts[place]
        for place, name in goal.items():
            if place not in self.mounts:
                held, target = self.store.path.parent / "filesystems" / name, self.root / place.lstrip("/")
                held.mkdir(parents=True, exist_ok=True)
                target.mkdir(parents=True, exist_ok=True)
                _run("mount", "--bind", str(held), str(target))
                self.mounts[place] = name


def _run(*command: str) -> None:
    """Run a command of the system; what it says of a failure is in the journal."""
    subprocess.run(command, check=False)  # noqa: S603


def listen(says: int, port: int = PORT) -> NoReturn:
    """Be the daemon: a process of its name that listens on its port until the service is gone.

    Parameters
    ----------
    says
        A pipe that is told when it listens.
    port
        Where it does.
    """
    parent = os.getppid()
    try:
        Path("/proc/self/comm").write_text("mmfsd", encoding="ascii")
        with socket.socket() as server:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            server.bind(("", port))
            server.listen()
            server.settimeout(_GLANCE_S)
            os.write(says, b"1")
            os.close(says)
            while os.getppid() == parent:
                _answer(server)
    finally:
        os._exit(1)


def _answer(server: socket.socket) -> None:
    """Take a caller and hang up, or wait for none too long."""
    with suppress(socket.timeout):  # not the same as TimeoutError before Python 3.10
        server.accept()[0].close()


def serve(verb: str) -> int:
    """Run the program by its own name.

    Parameters
    ----------
    verb
        `tell` what a package brought, or `watch` for as long as the node has power.

    Returns
    -------
    int
        Return code; where no simulated rack is, nothing is done.
    """
    store, root = Store(directory()), Path(os.environ.get(ROOT, "/"))
    if not store.path.is_dir():
        return 0
    name = called(store)
    if verb == "tell":
        tell(store, name, root)
        return 0
    return Watcher(store, name, root).run()
