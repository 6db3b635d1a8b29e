"""The first process of a rack: started in namespaces of its own, it builds the rack, and with it the rack ends."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kvplan.errors import KvplanError
from kvplan.twin.rack import cgroups
from kvplan.twin.rack.keeper import Keeper
from kvplan.twin.rack.lines import served
from kvplan.twin.rack.order import RackOrder
from kvplan.twin.rack.shell import run

if TYPE_CHECKING:
    from kvplan.twin.rack.shell import Run

RUN: Final = Path("/run")
FRR_ETC: Final = Path("/etc/frr")
DIRECTORIES: Final = ("netns", "systemd/nspawn", "frr", "lock", "sshd", "kv/disks", "kv/cm")
"""What the rack has below its own `/run`; `kv/cm` is for shared SSH connections."""
ORDER: Final = "order.json"
CONTROL: Final = "control"
GROUPS: Final = "groups"
"""Files in a rack's directory: what to build, where it listens, and the control groups that it has."""


_WATCHERS: Final = "/proc/sys/fs/inotify/max_user_instances"
_WATCHERS_LEAST: Final = 8192
"""How many programs may wait for changes of files: every systemd has half a dozen of them, and the kernel allows 128
unless told otherwise; beyond that a node comes up without its devices. The limit is raised where it is lower."""


def main(directory: Path) -> int:
    """Build the rack of a directory and keep it until told to end.

    Parameters
    ----------
    directory
        Where its order is, and where it listens.

    Returns
    -------
    int
        0, or 1 when it could not be built.
    """
    try:
        groups = cgroups.groups_of(directory.name)
        (directory / GROUPS).write_text("".join(f"{group}\n" for group in groups), encoding="utf-8")
        cgroups.join(directory.name)
        privately()
        order = RackOrder.model_validate_json((directory / ORDER).read_text(encoding="utf-8"))
        keeper = Keeper(order, RUN / "kv" / "disks", FRR_ETC, RUN / "frr")
        keeper.build()
    except (KvplanError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    with served(keeper, directory / ".control") as server:
        # It is there only once it listens.
        (directory / ".control").rename(directory / CONTROL)
        with suppress(SystemExit):
            server.serve_forever()
    return 0


def privately(command: Run = run) -> None:
    """Cover what the machine keeps in `/run` and of FRR, so that nothing of it is seen or touched.

    Parameters
    ----------
    command
        Runs the machine's commands.
    """
    command("mount", "-t", "tmpfs", "-o", "mode=755", "kv-run", str(RUN))
    command("mount", "-t", "tmpfs", "-o", "mode=755", "kv-frr", str(FRR_ETC))
    command("sh", "-c", f'[ "$(cat {_WATCHERS})" -ge {_WATCHERS_LEAST} ] || echo {_WATCHERS_LEAST} >{_WATCHERS}')
    command("mkdir", "-p", *(str(RUN / name) for name in DIRECTORIES))


def keep(directory: Path) -> int:
    """Be the first process of a rack, with another that builds and keeps it.

    Parameters
    ----------
    directory
        The rack's directory.

    Returns
    -------
    int
        How the other ended.
    """
    child = os.fork()
    if child == 0:  # pragma: no cover - ends without a word to the measuring process
        os._exit(main(directory))
    return reaped(child)


def reaped(child: int) -> int:
    """Wait as a first process must: for every process that is left to it, until the one that counts has ended.

    Parameters
    ----------
    child
        The process that counts.

    Returns
    -------
    int
        Its exit code.
    """
    while True:
        ended, status = os.wait()
        if ended == child:
            return os.waitstatus_to_exitcode(status)
