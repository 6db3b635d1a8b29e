"""What an installation puts on a node's disk: packages, the list of them, and what their scripts do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.twin.rack.shell import run

if TYPE_CHECKING:
    from pathlib import Path

    from kvplan.twin.rack.shell import Run

INSTALLED: Final = "installed"
"""Directory of what nodes share that holds installations, by operating system."""
FILES: Final = "files.tar"
SCRIPT: Final = "after.sh"
"""Files of an installation: what to unpack on a disk, and what is run there then."""
_ENVIRONMENT: Final = ("env", "-i", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
_OFFLINE: Final = "SYSTEMD_OFFLINE=1"
"""Tells `systemctl` that the disk is not running: units are enabled on it, and none is started."""


def unpack(installation: Path, upper: Path, command: Run = run) -> None:
    """Unpack the files of an installation.

    Parameters
    ----------
    installation
        Directory with the installation.
    upper
        The layer over the machine's root.
    command
        Runs the machine's commands.
    """
    command("tar", "-x", "-f", str(installation / FILES), "-C", str(upper), seconds=300)


def run_scripts(installation: Path, root: Path, command: Run = run) -> None:
    """Run the scripts of an installation.

    Parameters
    ----------
    installation
        Directory with the installation.
    root
        The root of the disk, with the machine's root below it.
    command
        Runs the machine's commands.
    """
    script = (installation / SCRIPT).read_text(encoding="utf-8")
    if script:
        command(*_ENVIRONMENT, _OFFLINE, "chroot", str(root), "/bin/sh", "-e", stdin=script, seconds=300)
