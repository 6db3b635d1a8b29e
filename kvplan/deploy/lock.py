"""One run at a time for each deployment, and the leavings of one that was killed."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import socket
import tempfile
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kvplan.deploy.journal import now
from kvplan.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

LOCK: Final = "lock"
TETHER_LOCK: Final = "playbook.lock"
"""Held by the playbook of a run itself, which outlives a killed run by the seconds that it takes to end."""
ORPHAN_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class Holder:
    """Who runs a deployment: process, machine, since when [UTC], and its directory in memory."""

    pid: int
    host: str
    since: str
    scratch: str = ""

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host} since {self.since}"


def holder(state: Path) -> Holder | None:
    """Tell who runs a deployment.

    Parameters
    ----------
    state
        Directory of its state.

    Returns
    -------
    Holder or None
        None where nobody does; a lock that a killed run left is nobody's.
    """
    try:
        descriptor = os.open(state / LOCK, os.O_RDWR)
    except OSError:
        return None
    try:
        return None if _taken(descriptor) else _read(descriptor) or Holder(0, "?", "?")
    finally:
        os.close(descriptor)


@contextmanager
def alone(state: Path) -> Iterator[Path]:
    """Keep other runs of a deployment out.

    Waits for the playbook of a killed run to end, and removes what that run had in memory.

    Parameters
    ----------
    state
        Directory of its state.

    Yields
    ------
    Path
        A directory in memory for secrets, which is removed in the end: by the next run, if this one is killed.

    Raises
    ------
    InputError
        When another run is at it, or there is no file system in memory.
    """
    descriptor = os.open(state / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not (_taken(descriptor) or _taken_later(descriptor)):
            what = f"is being deployed by {_read(descriptor) or 'another run'}"
            raise InputError.single(str(state), what, hint="wait for it, or stop it with Ctrl-C where it runs")
        _wait_for_orphans(state)
        _clear(_read(descriptor))
        scratch = _directory_in_memory()
        _write(descriptor, Holder(os.getpid(), socket.gethostname(), now(), str(scratch)))
        try:
            yield scratch
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
            os.truncate(descriptor, 0)
    finally:
        os.close(descriptor)


def _directory_in_memory() -> Path:
    """Make a private directory that is on no disk; its path is short, for it holds sockets."""
    places = [place for place in (os.environ.get("XDG_RUNTIME_DIR", ""), "/dev/shm") if place and _in_memory(place)]  # noqa: S108 - the directory is made private
    if not places:
        what = "no file system in memory (tmpfs) to keep secrets in: neither XDG_RUNTIME_DIR nor /dev/shm is one"
        raise InputError.single(where="deploy", what=what)
    return Path(tempfile.mkdtemp(prefix="kvplan-", dir=places[0]))


def _in_memory(place: str) -> bool:
    """Tell whether a directory is a mounted tmpfs that may be written to."""
    mounts = [line.split()[1:3] for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines()]
    return [place, "tmpfs"] in mounts and os.access(place, os.W_OK)


def _taken(descriptor: int) -> bool:
    """Take a lock unless another process has it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _taken_later(descriptor: int) -> bool:
    """Try again: who asks whether a run is at it holds the lock for a moment, too."""
    time.sleep(0.2)
    return _taken(descriptor)


def _wait_for_orphans(state: Path) -> None:
    """Wait until the playbook of a killed run has ended."""
    deadline = time.monotonic() + ORPHAN_SECONDS
    descriptor = os.open(state / TETHER_LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        while not _taken(descriptor):
            if time.monotonic() > deadline:
                pid = os.pread(descriptor, 20, 0).decode(errors="replace").strip()
                what = f"the playbook of a run that was killed still runs as process {pid}"
                raise InputError.single(str(state), what, hint=f"end process {pid}, then run again")
            time.sleep(0.1)
    finally:
        os.close(descriptor)


def _read(descriptor: int) -> Holder | None:
    """Read who wrote the lock last; None where that run ended by itself."""
    try:
        return Holder(**json.loads(os.pread(descriptor, 4096, 0)))
    except (ValueError, TypeError):
        return None


def _write(descriptor: int, entry: Holder) -> None:
    """Write who has the lock."""
    os.truncate(descriptor, 0)
    os.pwrite(descriptor, json.dumps(asdict(entry)).encode(), 0)
    os.fsync(descriptor)


def _clear(dead: Holder | None) -> None:
    """Remove what a killed run of this machine had in memory."""
    if dead and dead.scratch and dead.host == socket.gethostname():
        shutil.rmtree(Path(dead.scratch), ignore_errors=True)
