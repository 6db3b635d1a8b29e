"""Runs a playbook so that nothing of it outlives the run: ends with its parent, and ends all that it began.

Started by its path, alone, with the interpreter's isolation; so it knows nothing of kvplan. A worker of Ansible has a
session of its own and a shared SSH connection is a daemon, so neither ends with the playbook's process group; both
become children of this process when theirs ends. The lock that it holds tells the next run whether it is gone. Its
tests run it as it is run here, where coverage does not see it.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

SET_CHILD_SUBREAPER = 36
"""Of prctl(2)."""
GRACE_SECONDS = 5.0


def main(arguments: list[str]) -> int:  # pragma: no cover
    """Run a command under a lock and return its exit code; the second argument is the process that waits for it."""
    lock, parent, *command = arguments
    stop = {"at": 0.0}

    def stopped(_number: int, _frame: object) -> None:
        stop["at"] = stop["at"] or time.monotonic()

    # The terminal hangs up when the parent dies; it may have done so before this was listened to.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, stopped)
    if os.getppid() != int(parent):
        return 1
    ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1)
    _lock(lock)
    child = os.fork()
    if child == 0:
        os.setsid()  # no terminal to ask at, and what kills this process's group leaves it time to end its workers
        os.execv(command[0], command)  # noqa: S606 - the command is kvplan's own
    code = _wait(child, stop)
    _end_all()
    return code


def _lock(path: str) -> None:  # pragma: no cover
    """Hold the lock until every process of the playbook is gone, and write down who holds it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    os.truncate(descriptor, 0)
    os.pwrite(descriptor, str(os.getpid()).encode(), 0)


def _wait(child: int, stop: dict[str, float]) -> int:  # pragma: no cover
    """Wait for the playbook, reaping whatever else ends; one that does not stop when told to is killed."""
    told = False
    while True:
        ended, code = os.waitpid(-1, os.WNOHANG)
        if ended == child:
            return os.waitstatus_to_exitcode(code)
        if stop["at"] and not told:
            told = True
            _signal(child, signal.SIGTERM)
        if not ended:
            if stop["at"] and time.monotonic() - stop["at"] > GRACE_SECONDS:
                _signal(child, signal.SIGKILL)
            time.sleep(0.05)


def _end_all() -> None:  # pragma: no cover
    """End what is left: workers, and shared connections."""
    deadline = time.monotonic() + GRACE_SECONDS
    while left := _descendants():
        for pid in left:
            _signal(pid, signal.SIGTERM if time.monotonic() < deadline else signal.SIGKILL)
        time.sleep(0.05)
        _reap()


def _reap() -> None:  # pragma: no cover
    """Take note of every child that has ended."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _descendants() -> list[int]:  # pragma: no cover
    """List the children, and theirs, that have not ended."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            parents[int(entry.parent.name)] = int(fields[1])
    found = [os.getpid()]
    for above in found:
        found += [pid for pid, parent in parents.items() if parent == above]
    return found[1:]


def _signal(pid: int, number: int) -> None:  # pragma: no cover
    """Send a signal to a process that may be gone."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)


if __name__ == "__main__":  # pragma: no cover
    sys.exit(main(sys.argv[1:]))
