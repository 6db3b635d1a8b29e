"""One node: a system container on a layer over the machine's root, with a switch to turn it off and on."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import time
from typing import TYPE_CHECKING, Final

from kvplan.twin.rack import cgroups
from kvplan.twin.rack.network import forgotten, powered
from kvplan.twin.rack.shell import RackError, children, run

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from kvplan.twin.rack.plan import NodePlan
    from kvplan.twin.rack.shell import Run

SHARED: Final = "/var/lib/kvplan-twin"
"""Where a node sees what is shared with this machine: the state of what is simulated."""
_REBOOT: Final = 133
"""Exit code by which `systemd-nspawn` says that the node restarts itself."""
_JOIN: Final = 'until [ "$1" = -- ]; do echo 0 >"$1/cgroup.procs"; shift; done; shift; exec "$@"'
_DISK: Final = "12g"
"""Room on a node's disk; what is not used takes no memory."""
_WRITABLE: Final = "SYSTEMD_NSPAWN_API_VFS_WRITABLE=1"
"""Lets a node's systemd have units of devices, which it has where /sys can be written."""
_PLAIN: Final = "SYSTEMD_DEVICE_VERIFY_SYSFS=0"
"""Lets it take for a device what a layer of a node's own covers."""
_PAGE_BYTES: Final = 4096
_PATIENCE_S: Final = 20.0


class Machine:
    """A node and its power.

    Parameters
    ----------
    node
        What it is.
    place
        Directory for its layer, its root and its console.
    fabric
        Whether its fabric ports are addressed by the rack.
    shared
        A directory of this machine that every node sees at `SHARED`; none where it is empty.
    command
        Runs the machine's commands.
    """

    def __init__(self, node: NodePlan, place: Path, *, fabric: bool, shared: str = "", command: Run = run) -> None:
        self.node = node
        self.place = place
        self._fabric = fabric
        self._shared = shared
        self._run = command
        self.blank = False
        """Whether its disk is empty: with power it starts nothing."""
        self._wanted = threading.Event()
        self._powered = ""
        self._thread: threading.Thread | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def upper(self) -> Path:
        """The layer over the machine's root: what a disk would keep."""
        return self.place / "upper"

    @property
    def is_on(self) -> bool:
        """Whether it has power."""
        return self._wanted.is_set() if self.blank else self._lives

    @property
    def _lives(self) -> bool:
        """Whether a system runs on it."""
        return self._thread is not None and self._thread.is_alive()

    def insert(self) -> None:
        """Give it a disk of its own to be installed: one that is full fills no other's."""
        self.blank = False
        self.place.mkdir(parents=True)
        self._run("mount", "-t", "tmpfs", "-o", f"mode=755,size={_DISK}", f"disk-{self.node.name}", str(self.place))
        for directory in ("upper", "work", "root"):
            (self.place / directory).mkdir()

    def mount(self) -> None:
        """Lay what is on its disk over the machine's root."""
        root, work = self.place / "root", self.place / "work"
        options = f"lowerdir=/,upperdir={self.upper},workdir={work}"
        self._run("mount", "-t", "overlay", self.node.name, "-o", options, str(root))

    def erase(self) -> None:
        """Take its power and what is on its disk."""
        self.off()
        if self.blank:
            return
        self._run("umount", str(self.place / "root"))
        self._run("umount", str(self.place))
        shutil.rmtree(self.place)
        self.blank = True

    def on(self) -> None:
        """Give it power, if it has none; without a system nothing comes of it."""
        if self.is_on:
            return
        self._wanted.set()
        if self.blank:
            return
        self._powered = str(time.monotonic_ns())
        self._ports(on=True)
        self._thread = threading.Thread(target=self._live, name=self.node.name, daemon=True)
        self._thread.start()

    def off(self) -> None:
        """Take its power away; nothing on it is told."""
        self._wanted.clear()
        deadline = time.monotonic() + _PATIENCE_S
        while self._lives and time.monotonic() < deadline:
            if leader := self.leader():
                os.kill(leader, signal.SIGKILL)
            time.sleep(0.02)
        if self._lives:
            message = f"{self.node.name} does not go off"
            raise RackError(message)
        self._ports(on=False)

    def fill(self) -> None:
        """Leave no room on its disk, without filling this machine's memory: the disk shrinks to what is on it."""
        used = shutil.disk_usage(self.place).used
        self._run("mount", "-o", f"remount,size={max(used, _PAGE_BYTES)}", str(self.place))

    def free(self) -> None:
        """Give its disk the room that it had."""
        self._run("mount", "-o", f"remount,size={_DISK}", str(self.place))

    def leader(self) -> int:
        """Return the process that is the node's first; 0 while there is none."""
        process = self._process
        if process is None or process.poll() is not None:
            return 0
        return next(iter(children(process.pid)), 0)

    def _ports(self, *, on: bool) -> None:
        """Let its ports follow its power."""
        lines = powered(self.node, on=on, fabric=self._fabric)
        self._run("ip", "-n", self.node.name, "-batch", "-", stdin="\n".join(lines))

    def _forget(self) -> None:
        """Let its namespace be what a kernel has when it starts."""
        lines = forgotten(self.node, fabric=self._fabric)
        self._run("ip", "-n", self.node.name, "-batch", "-", stdin="\n".join(lines))

    def _udev(self) -> Path:
        """Return a directory of udev's in which its socket seems to be there.

        In a container systemd looks for it once, when it starts, and without it hears of no device ever after.
        """
        place = self.place / "udev"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        (place / "control").touch()
        return place

    def _live(self) -> None:
        """Run the container until it ends for good, and its ports with it; a restart of its own runs it again."""
        groups = cgroups.made(self.node.name)
        with (self.place / "console").open("ab") as console:
            while self._wanted.is_set():
                self._forget()
                self._process = subprocess.Popen(  # noqa: S603 - kvplan's own command
                    booting(self.node, self.place / "root", self._udev(), groups, self._shared, self._powered),
                    stdin=subprocess.DEVNULL,
                    stdout=console,
                    stderr=console,
                )
                if self._process.wait() != _REBOOT:
                    break
        self._ports(on=False)


def booting(
    node: NodePlan, root: Path, udev: Path, groups: Iterable[Path], shared: str = "", powered_at: str = ""
) -> list[str]:
    """Return the command that boots a node.

    Each node has control groups of its own: its systemd takes those it finds itself in for its machine's.

    Parameters
    ----------
    node
        The node.
    root
        Where its root directory is mounted.
    udev
        What it sees as `/run/udev`.
    groups
        Its control groups.
    shared
        A directory that it sees at `SHARED`; none where it is empty.
    powered_at
        What differs each time that it gets power, and stays when it restarts.

    Returns
    -------
    list of str
        Program and arguments.
    """
    return [
        *("sh", "-c", _JOIN, "sh", *map(str, groups), "--"),
        # what it mounts as /sys shows the network namespace that it is started in
        *("nsenter", f"--net=/run/netns/{node.name}", "--", "env", _WRITABLE),
        "systemd-nspawn",
        "--quiet",
        f"--machine={node.name}",
        f"--hostname={node.hostname}",
        "--register=no",
        "--keep-unit",
        "--link-journal=no",
        "--resolv-conf=off",
        "--timezone=off",
        f"--network-namespace-path=/run/netns/{node.name}",
        "--capability=all",
        "--console=pipe",
        f"--setenv={_PLAIN}",
        f"--setenv=KVPLAN_POWERED={powered_at}",
        f"--bind={udev}:/run/udev",
        *([f"--bind={shared}:{SHARED}"] if shared else []),
        f"--directory={root}",
        "--boot",
    ]
