"""What an installation puts on a disk: packages and the list of them, as real `rpm` and `dpkg` keep it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Final

from kvplan.twin.rack.installed import FILES, SCRIPT
from kvplan.twin.rack.shell import run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kvplan.twin.packages.package import Package
    from kvplan.twin.rack.plan import Face

_MERGED: Final = ("bin", "lib", "lib64", "sbin")
"""Links from the root of a disk to `usr`, which packages may name."""


def installation(face: Face, packages: Sequence[Package], files: Sequence[Path], directory: Path) -> None:
    """Install packages into a directory.

    Their scripts are not run: they are for the disk that they are laid on.

    Parameters
    ----------
    face
        The operating system.
    packages
        The packages.
    files
        The file of each.
    directory
        Where the installation goes; it is made.
    """
    root = directory / "root"
    for name in _MERGED:
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")
    (_install_rpms if face == "rhel" else _install_debs)(files, root)
    for name in _MERGED:
        (root / name).unlink()
    run("tar", "-c", "-f", str(directory / FILES), "-C", str(root), "--sort=name", ".", seconds=300)
    shutil.rmtree(root)
    scripts = [package.contents.after for package in packages if package.contents.after]
    (directory / SCRIPT).write_text("".join(f"(\n{script.rstrip()}\n)\n" for script in scripts), encoding="utf-8")


def _install_rpms(files: Sequence[Path], root: Path) -> None:
    """Install RPM packages, whose list is where RHEL has it: elsewhere than Debian's `rpm` has its own."""
    (root / "var/lib/rpm").mkdir(parents=True)
    options = ("--dbpath", "/var/lib/rpm", "--noscripts", "--nodeps", "--nosignature", "--ignoresize", "--force-debian")
    run("rpm", "--root", str(root.resolve()), *options, "-i", *(str(file.resolve()) for file in files), seconds=300)


def _install_debs(files: Sequence[Path], root: Path) -> None:
    """Install Debian packages, with the scripts that would run here laid aside meanwhile."""
    state, aside = root / "var/lib/dpkg", root / "scripts"
    for name in ("info", "updates", "triggers"):
        (state / name).mkdir(parents=True)
    (state / "status").touch()
    aside.mkdir()
    options = ("--force-unsafe-io", "--force-depends", "--no-triggers", "--log=/dev/null")
    dpkg = ("env", "LC_ALL=C", "dpkg", "--root", str(root.resolve()), *options)
    run(*dpkg, "--unpack", *(str(file.resolve()) for file in files), seconds=300)
    scripts = list((state / "info").glob("*.postinst"))
    for script in scripts:
        script.rename(aside / script.name)
    run(*dpkg, "--configure", "--pending", seconds=300)
    for script in scripts:
        (aside / script.name).rename(script)
    aside.rmdir()
