"""A virtual machine behind an emulated controller: it starts for real, from the medium that was inserted or its drives.

The medium is read by QEMU over HTTP as a controller reads it, and is a drive at the machine's USB. Nothing is emulated
by the processor's own means, so that it runs inside other virtual machines too.
"""

from __future__ import annotations

import shutil
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final, NamedTuple

from kvplan.twin.bmc.emulation import emulated
from kvplan.twin.bmc.profiles import CLEAN
from kvplan.twin.bmc.qmp import QemuError, Running

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kvplan.twin.bmc.emulation import Emulation
    from kvplan.twin.bmc.machine import Machine, State
    from kvplan.twin.bmc.profiles import Profile

PROGRAM: Final = "qemu-system-x86_64"
FIRMWARE: Final = Path("/usr/share/OVMF/OVMF_CODE_4M.fd")
VARIABLES: Final = Path("/usr/share/OVMF/OVMF_VARS_4M.fd")
HTTP_DRIVER: Final = Path("/usr/lib/x86_64-linux-gnu/qemu/block-curl.so")
_PACKAGES: Final = {FIRMWARE: "ovmf", VARIABLES: "ovmf", HTTP_DRIVER: "qemu-block-extra"}
_CD: Final = "cd"
_MEMORY_MB: Final = 512


class Drive(NamedTuple):
    """A drive of NVMe, empty at first and as large as one says; it takes only the room of what is written to it."""

    serial: str
    size_gb: int


class Virtual:
    """A machine in QEMU, with its power.

    Parameters
    ----------
    machine
        What its labels say.
    directory
        Where its drives, its firmware's variables and what its consoles say are kept.
    drives
        Its drives, in the order in which its firmware tries to start from them.
    """

    def __init__(self, machine: Machine, directory: Path, drives: Iterable[Drive] = ()) -> None:
        self.machine = machine
        self.consoles: list[Path] = []
        """What was written on the serial port, by start."""
        self._directory = directory
        self._drives = tuple(drives)
        self._state: State | None = None
        self._running: Running | None = None
        self._medium = False
        self._lock = Lock()
        shutil.copy(VARIABLES, directory / "variables.fd")
        for drive in self._drives:
            with (directory / drive.serial).open("wb") as file:
                file.truncate(drive.size_gb * 10**9)

    @property
    def is_on(self) -> bool:
        """Whether it runs."""
        return self._running is not None

    @property
    def pid(self) -> int:
        """Return its process; 0 while it is off."""
        return self._running.pid if self._running else 0

    def obey(self, state: State) -> None:
        """Let its power be what a controller shows, and the other way round: where it goes off, that shows it.

        Parameters
        ----------
        state
            The controller's state.
        """
        self._state = state

    def boot(self, _: Machine, image_url: str | None) -> None:
        """Start it anew: from a medium, or from its own drives where none is named, whatever is connected."""
        medium = image_url or (self._state.image() if self._state else None)
        console = self._directory / f"console-{len(self.consoles) + 1}"
        command = [*self._hardware(console), *_medium(medium, first=image_url is not None)]
        running = Running(command, self._directory / "qemu.log", self._ended)
        self._replace(running)
        self.consoles.append(console)
        self._medium = medium is not None
        running.start()

    def off(self, _: Machine | None = None) -> None:
        """Take its power."""
        self._replace(None)

    def follow(self, state: State) -> None:
        """Take the medium out where none is connected any more; one that is connected now is seen at the next start.

        Parameters
        ----------
        state
            The controller's state.
        """
        running = self._running
        if running and self._medium and state.image() is None:
            self._medium = False
            with suppress(QemuError):
                running.ask("eject", device=_CD, force=True)

    def _replace(self, running: Running | None) -> None:
        """Let one process take the place of another, which ends."""
        with self._lock:
            before, self._running = self._running, running
        if before:
            before.end()

    def _ended(self, running: Running) -> None:
        """Let the controller see that it went off by itself, or start again where it restarts itself."""
        with self._lock:
            if running is not self._running:
                return
            self._running = None
        if self._state is None:
            return
        with self._state.lock:
            self._state.powered = running.restarting
            boot = self._state.starts() if running.restarting else None
        if boot:
            self._state.boots.append(boot)
            # Where that fails, it shows in the power.
            with suppress(QemuError):
                self.boot(self.machine, boot.image_url)

    def _hardware(self, console: Path) -> list[str]:
        """Write the command that starts it, but for its medium; only what bears a number is started from."""
        labels = f"type=1,manufacturer=Supermicro,product={_plain(self.machine.model)},serial={self.machine.serial}"
        command = [
            *(PROGRAM, "-machine", "q35,accel=tcg", "-cpu", "max", "-smp", "1", "-m", str(_MEMORY_MB)),
            *("-nodefaults", "-nic", "none", "-display", "none", "-qmp", "stdio", "-serial", f"file:{_plain(console)}"),
            *("-no-reboot", "-boot", "strict=on", "-smbios", labels),
            *("-drive", f"if=pflash,format=raw,readonly=on,file={FIRMWARE}"),
            *("-drive", f"if=pflash,format=raw,file={_plain(self._directory / 'variables.fd')}"),
            *("-device", "qemu-xhci"),
        ]
        for number, drive in enumerate(self._drives, start=1):
            file = _plain(self._directory / drive.serial)
            command += ["-drive", f"if=none,id=drive{number},file={file},format=raw,discard=unmap"]
            command += ["-device", f"nvme,drive=drive{number},serial={drive.serial},bootindex={number}"]
        return command


@contextmanager
def virtual(
    machine: Machine,
    directory: Path,
    drives: Iterable[Drive] = (),
    profile: Profile = CLEAN,
    credentials: tuple[str, str] = ("ADMIN", "ADMIN"),
) -> Iterator[tuple[Emulation, Virtual]]:
    """Run a controller with a virtual machine behind it.

    Parameters
    ----------
    machine
        The machine; it is off at first.
    directory
        Where what it keeps is kept.
    drives
        Its drives.
    profile
        How the controller behaves.
    credentials
        User and password of the controller.

    Yields
    ------
    tuple
        The controller, and the machine.
    """
    behind = Virtual(machine, directory, drives)
    with ExitStack() as stack:
        stack.callback(behind.off)
        emulation = stack.enter_context(
            emulated(
                [machine],
                profile,
                on_boot=behind.boot,
                on_stop=behind.off,
                credentials=credentials,
            )
        )
        emulation.controllers[machine.name].on_change = behind.follow
        behind.obey(emulation.states[machine.name])
        yield emulation, behind


def missing() -> list[str]:
    """Say what this machine lacks to run a virtual one.

    Returns
    -------
    list of str
        A sentence each, with what puts it right.
    """
    lacks = [] if shutil.which(PROGRAM) else [f"{PROGRAM} is not installed: apt install qemu-system-x86"]
    absent = ((path, name) for path, name in _PACKAGES.items() if not path.is_file())
    return lacks + [f"{path} is not there: apt install {name}" for path, name in absent]


def _medium(url: str | None, *, first: bool) -> list[str]:
    """Put a medium into the machine; it is started from only where it comes first."""
    if url is None:
        return []
    drive = f"if=none,id={_CD},file={_plain(url)},format=raw,media=cdrom,readonly=on"
    index = ",bootindex=0" if first else ""
    return ["-drive", drive, "-device", f"usb-storage,drive={_CD},removable=on{index}"]


def _plain(value: object) -> str:
    """Write a value so that no comma in it ends it."""
    return str(value).replace(",", ",,")
