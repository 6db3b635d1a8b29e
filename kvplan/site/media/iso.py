"""Reading an installer image: its labels, its boot record and the files in it, by xorriso and mtools."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Final, NamedTuple

from kvplan.errors import InputError, Problem

if TYPE_CHECKING:
    from pathlib import Path

DATE: Final = 1_735_689_600
"""The time that every new file gets, 2025-01-01 UTC [s]: equal input gives equal bytes."""
TOOLS: Final = {"xorriso": "xorriso", "mcopy": "mtools"}
"""Programs, and the package that each is in."""
_SECTOR: Final = 2048
_LOAD_UNIT: Final = 512
_VOLUME: Final = 16 * _SECTOR
"""Where the primary volume descriptor of ISO 9660 is."""
_BOOT = re.compile(r"^El Torito boot img : +(\d+) +UEFI +y +\S+ +\S+ +\S+ +(\d+) +(\d+)$", re.MULTILINE)
_APPENDED = re.compile(r"^-append_partition (\d+) (\S+) ", re.MULTILINE)


class Volume(NamedTuple):
    """What the primary volume descriptor says: the volume id, its date as 16 digits, and the size of the image [B]."""

    volume_id: str
    date: str
    bytes: int


class EfiImage(NamedTuple):
    """The EFI partition of an image: a file on it (`path`), or an appended partition with number and type."""

    path: str
    offset: int
    bytes: int
    partition: tuple[str, str] | None


def missing_tools() -> list[Problem]:
    """List the programs that are not installed.

    Returns
    -------
    list of Problem
        One for each, with the package to install.
    """
    return [
        Problem(tool, "is not installed, and boot media cannot be built without it", hint=f"install {package}")
        for tool, package in TOOLS.items()
        if shutil.which(tool) is None
    ]


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a program with nothing of the caller's environment but the path, at a fixed date.

    Parameters
    ----------
    *command
        Program and arguments.

    Returns
    -------
    subprocess.CompletedProcess of str
        Its end, however it came.
    """
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "LC_ALL": "C",
        "TZ": "UTC",
        "SOURCE_DATE_EPOCH": str(DATE),
    }
    return subprocess.run(  # noqa: S603 - a list of arguments, no shell
        [str(word) for word in command], env=environment, capture_output=True, text=True, errors="replace", check=False
    )


def volume_of(iso: Path) -> Volume:
    """Read the labels of an image, and see that it is whole.

    Parameters
    ----------
    iso
        The image.

    Returns
    -------
    Volume
        Its labels.

    Raises
    ------
    InputError
        When it cannot be read, is no ISO 9660 image, or ends early.
    """
    try:
        with iso.open("rb") as file:
            file.seek(_VOLUME)
            head = file.read(_SECTOR)
            held = file.seek(0, os.SEEK_END)
    except OSError as error:
        raise InputError.single(str(iso), f"cannot be read: {(error.strerror or str(error)).lower()}") from error
    if head[:6] != b"\x01CD001":
        raise InputError.single(str(iso), "is no ISO 9660 image")
    size = int.from_bytes(head[80:84], "little") * _SECTOR
    if held < size:
        raise InputError.single(str(iso), f"ends after {held} of {size} bytes", hint="fetch it again")
    return Volume(head[40:72].decode("ascii", "replace").rstrip(), head[830:846].decode("ascii", "replace"), size)


def efi_image_of(iso: Path) -> EfiImage:
    """Find what UEFI starts from an image.

    Parameters
    ----------
    iso
        The image.

    Returns
    -------
    EfiImage
        Where it is.

    Raises
    ------
    InputError
        When the image has no El Torito boot record for UEFI.
    """
    report = _report(iso, "plain")
    boot = _BOOT.search(report)
    if boot is None:
        raise InputError.single(str(iso), "has no El Torito boot record for UEFI, so no machine would start from it")
    number, units, sector = (int(group) for group in boot.groups())
    blocks = re.search(rf"^El Torito img blks : +{number} +(\d+)$", report, re.MULTILINE)
    path = re.search(rf"^El Torito img path : +{number} +(/.*)$", report, re.MULTILINE)
    held = int(blocks[1]) * _SECTOR if blocks else units * _LOAD_UNIT
    appended = None if path else _APPENDED.search(_report(iso, "cmd"))
    partition = (appended[1], appended[2]) if appended else None
    return EfiImage(path[1] if path else "", sector * _SECTOR, held, partition)


def extract(iso: Path, inside: str, target: Path) -> bool:
    """Copy a file out of an image.

    Parameters
    ----------
    iso
        The image.
    inside
        Path of the file in the image.
    target
        Where it goes.

    Returns
    -------
    bool
        Whether it was there.
    """
    done = run("xorriso", "-no_rc", "-osirrox", "on", "-indev", iso, "-extract", inside, target).returncode == 0
    if done:
        target.chmod(0o600)
    return done


def extract_efi(iso: Path, image: EfiImage, target: Path) -> None:
    """Copy the EFI partition out of an image.

    Parameters
    ----------
    iso
        The image.
    image
        Where the partition is.
    target
        Where it goes.

    Raises
    ------
    InputError
        When it cannot be read.
    """
    if image.path:
        if not extract(iso, image.path, target):
            raise InputError.single(str(iso), "cannot be read", key=image.path)
        return
    with iso.open("rb") as file:
        file.seek(image.offset)
        target.write_bytes(file.read(image.bytes))


def extract_fat(image: Path, inside: str, target: Path) -> bool:
    """Copy a file out of a FAT file system.

    Parameters
    ----------
    image
        The file system.
    inside
        Path of the file in it.
    target
        Where it goes.

    Returns
    -------
    bool
        Whether it was there.
    """
    return run("mcopy", "-n", "-i", image, f"::{inside}", target).returncode == 0


def _report(iso: Path, form: str) -> str:
    """Ask for the boot record of an image."""
    return run("xorriso", "-no_rc", "-indev", iso, "-report_el_torito", form).stdout
