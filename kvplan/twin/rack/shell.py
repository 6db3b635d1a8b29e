"""Commands of the machine, each of which must succeed."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from kvplan.errors import KvplanError

Run = Callable[..., str]
"""Runs a command, optionally with `stdin`, and returns what it wrote."""


class RackError(KvplanError):
    """The rack could not do what it was told to."""


def run(*command: str, stdin: str = "", seconds: float = 60) -> str:
    """Run a command.

    Parameters
    ----------
    *command
        Program and arguments.
    stdin
        What it reads.
    seconds
        How long it may take.

    Returns
    -------
    str
        What it wrote.

    Raises
    ------
    RackError
        When it fails, with what it said.
    """
    try:
        done = subprocess.run(  # noqa: S603 - kvplan's own command
            command, input=stdin, capture_output=True, text=True, check=False, timeout=seconds
        )
    except subprocess.TimeoutExpired as error:
        message = f"{' '.join(command)}: not done after {seconds:g} s"
        raise RackError(message) from error
    if done.returncode:
        said = (done.stderr or done.stdout).strip()
        message = f"{' '.join(command)}: exit code {done.returncode}: {said}"
        raise RackError(message)
    return done.stdout


def children(pid: int) -> list[int]:
    """List the processes that a process started.

    Parameters
    ----------
    pid
        The process.

    Returns
    -------
    list of int
        Theirs, the oldest first; none where it has gone.
    """
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]
    except OSError:
        return []
