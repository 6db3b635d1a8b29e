"""RPM packages by the real `rpmbuild`, all of one call from one specification, and their repository."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kvplan.twin.packages.package import EPOCH_S, staged
from kvplan.twin.rack.shell import run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.twin.packages.package import Package

ARCHITECTURE: Final = "x86_64"
_ENVIRONMENT: Final = ("env", "LC_ALL=C", f"SOURCE_DATE_EPOCH={EPOCH_S}")
_DEFINED: Final = {
    "_build_id_links": "none",
    "__brp_mangle_shebangs": "%{nil}",
    "__os_install_post": "%{nil}",
    "_binary_payload": "w1.gzdio",
    "_buildhost": "kvplan",
    "use_source_date_epoch_as_buildtime": "1",
    "clamp_mtime_to_source_date_epoch": "1",
    "_build_name_fmt": "%%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm",
}
_HEAD: Final = """\
Name: kvplan-stand-ins
Version: 1
Release: 1
Summary: Packages that stand in for others in a rehearsal
License: Apache-2.0
%description
%install
cp -a '{stage}/.' '%{{buildroot}}'
"""


def built_rpms(packages: Sequence[Package], directory: Path) -> list[Path]:
    """Build RPM packages.

    Parameters
    ----------
    packages
        What to build; a name comes once.
    directory
        Where the files go; it is made where it is missing.

    Returns
    -------
    list of Path
        The file of each package, in the order given.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="kv-rpm-") as held:
        place = Path(held)
        stage = place / "stage"
        stage.mkdir()
        parts = [_HEAD.format(stage=stage), *(_part(package, stage) for package in packages)]
        (place / "stand-ins.spec").write_text("\n".join(parts), encoding="utf-8")
        places = {"_topdir": str(place / "top"), "_rpmdir": str(directory.resolve()), "_dbpath": str(place)}
        defined = {**_DEFINED, **places}
        words = [word for key, value in defined.items() for word in ("--define", f"{key} {value}")]
        target = ("--target", ARCHITECTURE, "--nodeps", "-bb", str(place / "stand-ins.spec"))
        run(*_ENVIRONMENT, "rpmbuild", "--quiet", *words, *target, seconds=300)
    files = [directory / f"{package.name}-{package.version}.{ARCHITECTURE}.rpm" for package in packages]
    for file in files:
        # a repository's list names it
        os.utime(file, (EPOCH_S, EPOCH_S))
    return files


def rpm_repository(directory: Path) -> None:
    """Make a directory of RPM packages a repository.

    Parameters
    ----------
    directory
        Where the packages are.
    """
    shutil.rmtree(directory / "repodata", ignore_errors=True)
    stamp = ("--revision", "1", "--set-timestamp-to-revision", "--simple-md-filenames")
    run("createrepo_c", "--quiet", "--no-database", *stamp, str(directory), seconds=300)


def _part(package: Package, stage: Path) -> str:
    """Write what the specification says of one package, whose files are laid."""
    version, _, release = package.version.partition("-")
    named = f"-n {package.name}"
    lines = [
        f"%package {named}",
        f"Summary: Stands in for {package.name}",
        f"Version: {version}",
        f"Release: {release}",
        "AutoReqProv: no",
        *(f"Requires: {name}" for name in package.contents.requires),
        *(f"Provides: {name}" for name in package.provides),
        f"%description {named}",
        f"Stands in for {package.name} in a rehearsal.",
    ]
    if package.contents.after:
        lines += [f"%post {named}", package.contents.after.replace("%", "%%").rstrip()]
    lines.append(f"%files {named}")
    lines += [_entry(path, stage) for path in staged(package.contents, stage)]
    return "\n".join(lines) + "\n"


def _entry(path: str, stage: Path) -> str:
    """Write the line of one file: configuration that was changed on a node stays as it is there."""
    quoted = f'"{path.replace("%", "%%")}"'
    place = stage / path.lstrip("/")
    if place.is_symlink():
        return quoted
    kept = "%config(noreplace) " if path.startswith("/etc/") else ""
    return f"{kept}%attr({place.stat().st_mode & 0o777:04o},root,root) {quoted}"
