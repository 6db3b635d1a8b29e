"""Raising a rack: its keys and its order, the process that it ends with, and what is removed when it has ended."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kvplan.twin.rack import cgroups
from kvplan.twin.rack.inside import CONTROL, GROUPS, ORDER
from kvplan.twin.rack.needs import missing
from kvplan.twin.rack.order import RackOrder
from kvplan.twin.rack.plan import rack_plan
from kvplan.twin.rack.rack import PID, Rack
from kvplan.twin.rack.shell import RackError
from kvplan.twin.rack.ssh import KEY, known_hosts, made_key, ssh_config

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from kvplan.site.deployment import Deployment
    from kvplan.twin.rack.plan import RackPlan

_PREFIX: Final = "kv-rack-"
_TICK_S: Final = 0.05
_BUILD_S: Final = 120.0


@contextmanager
def raised(
    deployment: Deployment,
    nodes: Collection[str] | None = None,
    *,
    switches: Collection[str] | None = None,
    files: Mapping[str, Mapping[str, str]] | None = None,
    fabric: bool = True,
    off: Collection[str] = (),
    blank: Collection[str] = (),
    shared: Path | None = None,
) -> Iterator[Rack]:
    """Raise a rack for the length of a block.

    Parameters
    ----------
    deployment
        The Plan's design and the Site.
    nodes
        Names of its servers; all without.
    switches
        Names of its fabric's switches; all without.
    files
        Further files on the nodes' disks, by node and path.
    fabric
        Whether the rack addresses fabric ports and loopbacks, or leaves that to what is installed on the nodes.
    off
        Nodes that have no power yet.
    blank
        Nodes whose disk is empty: with power they start nothing, until they are reinstalled.
    shared
        A directory of this machine that every node sees at `SHARED`. What an installation puts on a disk is in its
        `installed`, in a directory for each operating system, where there is one.

    Yields
    ------
    Rack
        The rack, each node of which answers over SSH if it is on.

    Raises
    ------
    RackError
        When this machine cannot carry it, or it does not come up.
    """
    if lacks := missing():
        message = f"this machine cannot carry a rack: {'; '.join(lacks)}"
        raise RackError(message)
    plan = rack_plan(deployment, nodes, switches)
    swept(Path(tempfile.gettempdir()))
    with _directory() as directory:
        keys = _keys(plan, directory)
        order = RackOrder(
            plan=plan,
            host_keys=keys,
            authorised=(directory / f"{KEY}.pub").read_text(encoding="ascii"),
            files={name: dict(held) for name, held in (files or {}).items()},
            fabric=fabric,
            off=tuple(off),
            blank=tuple(blank),
            shared=str(shared or ""),
        )
        (directory / ORDER).write_text(order.model_dump_json(), encoding="utf-8")
        with _standing(directory) as process:
            rack = Rack(plan, directory, process.pid)
            rack.wait()
            yield rack


def swept(temporary: Path) -> None:
    """Remove what racks left whose owner was killed: they ended with it, their directories did not.

    Parameters
    ----------
    temporary
        Where the directories of racks are.
    """
    for directory in temporary.glob(f"{_PREFIX}*"):
        with suppress(OSError, ValueError):
            if directory.stat().st_uid == os.geteuid() and not _stands(directory):
                cgroups.remove(_groups(directory))
                shutil.rmtree(directory)


def _stands(directory: Path) -> bool:
    """Tell whether a rack has not ended: the process that it ends with is there, and still its own."""
    pid = int((directory / PID).read_text(encoding="ascii"))
    with suppress(FileNotFoundError):
        # A process that has only just begun has an empty line, and is not to be taken for one that has ended.
        line = Path(f"/proc/{pid}/cmdline").read_bytes()
        return not line or directory.name.encode() in line
    return False


def _groups(directory: Path) -> list[Path]:
    """List the control groups that a rack has written down."""
    file = directory / GROUPS
    return [Path(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.is_file() else []


@contextmanager
def _directory() -> Iterator[Path]:
    """Make the rack's directory, and remove it in the end."""
    directory = Path(tempfile.mkdtemp(prefix=_PREFIX))
    try:
        yield directory
    finally:
        shutil.rmtree(directory)


@contextmanager
def _standing(directory: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start the rack in its namespaces, wait until it is built, and end it with one signal."""
    with (directory / "log").open("wb") as log:
        command = starting(directory)
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)  # noqa: S603 - kvplan's own command
    (directory / PID).write_text(str(process.pid), encoding="ascii")
    try:
        _built(process, directory)
        yield process
    finally:
        process.kill()
        process.wait()
        cgroups.remove(_groups(directory))


def starting(directory: Path) -> list[str]:
    """Return the command that starts a rack: it ends when the thread that started it does.

    Parameters
    ----------
    directory
        The rack's directory.

    Returns
    -------
    list of str
        Program and arguments.
    """
    unshared = ["unshare", "--mount", "--net", "--pid", "--ipc", "--fork", "--kill-child", "--mount-proc"]
    return [
        "setpriv",
        "--pdeathsig=KILL",
        *unshared,
        sys.executable,
        "-P",
        "-m",
        "kvplan.twin.rack",
        "keep",
        str(directory),
    ]


def _keys(plan: RackPlan, directory: Path) -> dict[str, str]:
    """Make the key that logs in and one for each host, and write who is known by which."""
    made_key(directory / KEY, "kvplan rack")
    hosts = {node.name: made_key(directory / f"host-{node.name}", node.name) for node in plan.nodes}
    public = {name: key[1] for name, key in hosts.items()}
    (directory / "ssh_config").write_text(ssh_config(plan, directory), encoding="utf-8")
    (directory / "known_hosts").write_text(known_hosts(plan, public), encoding="utf-8")
    return {name: key[0] for name, key in hosts.items()}


def _built(process: subprocess.Popen[bytes], directory: Path) -> None:
    """Wait until the rack listens."""
    deadline = time.monotonic() + _BUILD_S
    while not (directory / CONTROL).exists():
        if process.poll() is not None or time.monotonic() > deadline:
            said = (directory / "log").read_text(encoding="utf-8", errors="replace").strip()
            message = f"the rack does not come up: {said or 'it says nothing'}"
            raise RackError(message)
        time.sleep(_TICK_S)
