"""The state that all simulated nodes share: one JSON file, changed under a lock and replaced as a whole."""

from __future__ import annotations

import fcntl
import json
import os
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kvplan.twin.scale.world import power_off

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import TextIOWrapper

    from kvplan.twin.scale.doc import Doc

DIRECTORY = "KV_TWIN_SCALE"
"""Variable that names the directory; without it, the place that is shared on simulated racks."""
DEFAULT_DIRECTORY = "/var/lib/kvplan-twin/scale"


class Refusal(Exception):  # noqa: N818  not an error of this code
    """What a command says when it will not, and its return code."""

    def __init__(self, message: str, rc: int = 1) -> None:
        super().__init__(message)
        self.rc = rc


def directory() -> Path:
    """Return the directory of the state.

    Returns
    -------
    Path
        As the environment says, or the default.
    """
    return Path(os.environ.get(DIRECTORY, DEFAULT_DIRECTORY))


class Store:
    """State, faults and clock in a directory."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def changed(self) -> Iterator[Doc]:
        """Give the state to be changed; what differs is written when the block ends without an error.

        Yields
        ------
        Doc
            The state; nobody else reads or writes it meanwhile.
        """
        with self._locked():
            state = self.seen()
            before = json.dumps(state)
            self._observe(state)
            yield state
            if json.dumps(state) != before:
                self._write("state.json", state)

    def seen(self) -> Doc:
        """Return the state as it was written last; others may change it meanwhile.

        Returns
        -------
        Doc
            The state.
        """
        held: Doc = self._read("state.json", {})
        return held

    def alive(self, name: str) -> TextIOWrapper:
        """Open the file that the watcher of a machine keeps locked as long as the machine has power.

        Parameters
        ----------
        name
            The machine.

        Returns
        -------
        TextIOWrapper
            The file.
        """
        path = self.path / "alive" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("a", encoding="utf-8")

    def lives(self, name: str) -> bool:
        """Tell whether the watcher of a machine runs.

        Parameters
        ----------
        name
            The machine.

        Returns
        -------
        bool
            The kernel takes the lock away from one that was killed, however that happened.
        """
        with self.alive(name) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def _observe(self, state: Doc) -> None:
        """Take note of machines that lost their power and could tell nobody."""
        for name, held in state.get("machines", {}).items():
            if held.get("watched") and held["up"] and not self.lives(name):
                power_off(state, name)

    def fault(self, line: str, node: str) -> Doc:
        """Take the next fault that is meant for a command.

        Parameters
        ----------
        line
            The command with its arguments.
        node
            The machine that runs it.

        Returns
        -------
        Doc
            `delay`, `rc`, `stderr`, `crash_at`: what was asked for; empty without a fault. A fault with `times` is
            used up after so many.
        """
        with self._locked():
            faults: list[Doc] = self._read("faults.json", [])
            for fault in faults:
                meant = line.startswith(fault["command"]) and fault.get("node", node) == node
                if not meant or fault.get("times", 1) == 0:
                    continue
                if "times" in fault:
                    fault["times"] -= 1
                    self._write("faults.json", faults)
                return fault
        return {}

    def plant(self, *faults: Doc) -> None:
        """Replace the faults.

        Parameters
        ----------
        *faults
            Each with `command` (how the line begins) and what is to happen.
        """
        with self._locked():
            self._write("faults.json", list(faults))

    def wait(self, seconds: float) -> None:
        """Let simulated time pass: `speed` simulated seconds a second, and none at speed 0.

        Parameters
        ----------
        seconds
            Simulated time [s].
        """
        with self.changed() as state:
            state["elapsed_s"] = state.get("elapsed_s", 0) + seconds
            speed = state.get("speed", 0)
        if speed:
            time.sleep(seconds / speed)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock."""
        self.path.mkdir(parents=True, exist_ok=True)
        with (self.path / "lock").open("a", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _read(self, name: str, default: Any) -> Any:
        """Read a file of the directory."""
        path = self.path / name
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else default

    def _write(self, name: str, value: Any) -> None:
        """Write a file aside and put it in place."""
        aside = self.path / f".{name}.new"
        aside.write_text(json.dumps(value), encoding="utf-8")
        aside.replace(self.path / name)
