"""Control groups of a rack: below those of the process that raised it, and removed with it."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MOUNTED: Final = Path("/sys/fs/cgroup")
_OWN: Final = Path("/proc/self/cgroup")
_CPUSET: Final = ("cpuset.cpus", "cpuset.mems")
"""What a group of the first version must be given before a process can join it."""
_PATIENCE_S: Final = 5.0


def groups_of(name: str, own: Path = _OWN, mounted: Path = MOUNTED) -> Iterator[Path]:
    """List the groups that a rack has: one in each hierarchy of the machine.

    Parameters
    ----------
    name
        The rack's name.
    own
        The groups of the process that raises it, as the kernel lists them.
    mounted
        Where the hierarchies are mounted.

    Yields
    ------
    Path
        A group below that of the process.
    """
    for line in own.read_text(encoding="ascii").splitlines():
        _, controllers, path = line.split(":", 2)
        hybrid = mounted / "unified"
        first = mounted / controllers.removeprefix("name=")
        place = first if controllers else hybrid if hybrid.is_dir() else mounted
        if place.is_dir():
            yield place / path.lstrip("/") / name


def made(name: str, own: Path = _OWN, mounted: Path = MOUNTED) -> list[Path]:
    """Make the groups of a rack, or of one of its nodes.

    Parameters
    ----------
    name
        The rack's name; a node's group is below that of the process that calls.
    own
        The groups of that process, as the kernel lists them.
    mounted
        Where the hierarchies are mounted.

    Returns
    -------
    list of Path
        The groups, which a process joins by writing 0 into their `cgroup.procs`.
    """
    groups = list(groups_of(name, own, mounted))
    for group in groups:
        group.mkdir(exist_ok=True)
        for setting in _CPUSET:
            with suppress(FileNotFoundError):
                (group / setting).write_text((group.parent / setting).read_text(encoding="ascii"), encoding="ascii")
    return groups


def join(name: str, own: Path = _OWN, mounted: Path = MOUNTED) -> None:
    """Make the groups of a rack and move this process into them.

    Parameters
    ----------
    name
        The rack's name.
    own
        The groups of the process that raises it, as the kernel lists them.
    mounted
        Where the hierarchies are mounted.
    """
    for group in made(name, own, mounted):
        (group / "cgroup.procs").write_text("0", encoding="ascii")


def remove(groups: Iterable[Path]) -> None:
    """Remove the groups of a rack that has ended, with those below them.

    Parameters
    ----------
    groups
        The groups.

    Raises
    ------
    OSError
        When one is still in use after a while.
    """
    deadline = time.monotonic() + _PATIENCE_S
    for group in groups:
        _remove(group, deadline)


def _remove(group: Path, deadline: float) -> None:
    """Remove a group and those below it, the innermost first."""
    while group.is_dir():
        try:
            for inner in sorted((path for path in group.rglob("*") if path.is_dir()), reverse=True):
                inner.rmdir()
            group.rmdir()
        except OSError:  # its last processes are still ending
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
