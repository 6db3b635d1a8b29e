"""Debian packages by the real `dpkg-deb`, and their repository: one directory with a list."""

from __future__ import annotations

import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kvplan.twin.packages.package import EPOCH_S, staged
from kvplan.twin.rack.shell import run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.twin.packages.package import Package

ARCHITECTURE: Final = "amd64"
_ENVIRONMENT: Final = ("env", "LC_ALL=C", f"SOURCE_DATE_EPOCH={EPOCH_S}")


def built_debs(packages: Sequence[Package], directory: Path) -> list[Path]:
    """Build Debian packages.

    Parameters
    ----------
    packages
        What to build.
    directory
        Where the files go; it is made where it is missing.

    Returns
    -------
    list of Path
        The file of each package, in the order given.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda package: _built(package, directory), packages))


def deb_repository(directory: Path) -> None:
    """Make a directory of Debian packages a repository.

    It is one that its list of sources must trust: nothing in it is signed.

    Parameters
    ----------
    directory
        Where the packages are.
    """
    # Paths in the list are below the directory that the command is run in.
    scan = 'cd "$1" && dpkg-scanpackages --multiversion . 2>/dev/null'
    listed = run(*_ENVIRONMENT, "sh", "-c", scan, "sh", str(directory), seconds=300)
    (directory / "Packages").write_text(listed, encoding="utf-8")


def _built(package: Package, directory: Path) -> Path:
    """Build one."""
    file = directory / f"{package.name}_{package.version}_{ARCHITECTURE}.deb"
    with tempfile.TemporaryDirectory(prefix="kv-deb-") as held:
        root = Path(held) / "root"
        control = root / "DEBIAN"
        control.mkdir(parents=True)
        root.chmod(0o755)
        paths = staged(package.contents, root)
        (control / "control").write_text(_control(package), encoding="utf-8")
        # configuration that was changed on a node stays as it is there
        kept = [path for path in paths if path.startswith("/etc/") and path in package.contents.files]
        if kept:
            (control / "conffiles").write_text("".join(f"{path}\n" for path in kept), encoding="utf-8")
        if package.contents.after:
            script = control / "postinst"
            script.write_text(f'#!/bin/sh\n[ "$1" = configure ] || exit 0\n{package.contents.after}', encoding="utf-8")
            script.chmod(0o755)
        options = ("-Zgzip", "-z1", "--root-owner-group", "--build")
        run(*_ENVIRONMENT, "dpkg-deb", *options, str(root), str(file))
    return file


def _control(package: Package) -> str:
    """Write what the package says of itself."""
    fields = {
        "Package": package.name,
        "Version": package.version,
        "Architecture": ARCHITECTURE,
        "Maintainer": "kvplan <kvplan@localhost>",
        "Depends": ", ".join(package.contents.requires),
        "Provides": ", ".join(package.provides),
        "Description": f"Stands in for {package.name} in a rehearsal",
    }
    return "".join(f"{key}: {value}\n" for key, value in fields.items() if value)
