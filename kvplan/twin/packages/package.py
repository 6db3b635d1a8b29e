"""One package that stands in for another: its name, its version, what it holds, and which names it answers to."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from kvplan.errors import KvplanError
from kvplan.twin.packages.contents import Contents

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

EPOCH_S: Final = 1_700_000_000
"""When everything was built, so that equal contents give equal files."""
_CLASH: Final = "two packages hold different things at {}"


class PackageError(KvplanError):
    """Packages that cannot be built as they are described."""


class Package(NamedTuple):
    """A package; `version` is the whole of it, such as `6.0.0-1`, and `provides` are names besides its own."""

    name: str
    version: str
    contents: Contents = Contents()
    provides: tuple[str, ...] = ()


def staged(contents: Contents, root: Path) -> list[str]:
    """Lay the files and links of a package below a directory.

    Parameters
    ----------
    contents
        What it holds.
    root
        The directory; what already lies there stays.

    Returns
    -------
    list of str
        The absolute paths, in order.

    Raises
    ------
    PackageError
        When another package has laid something else at a path.
    """
    for path, held in contents.files.items():
        data = held.encode() if isinstance(held, str) else held
        place = _place(root, path)
        if os.path.lexists(place) and (place.is_symlink() or place.read_bytes() != data):
            raise PackageError(_CLASH.format(path))
        place.write_bytes(data)
        place.chmod(0o755 if data.startswith(b"#!") else 0o644)
        os.utime(place, (EPOCH_S, EPOCH_S))
    for path, target in contents.links.items():
        place = _place(root, path)
        if not os.path.lexists(place):
            place.symlink_to(target)
        elif not place.is_symlink() or str(place.readlink()) != target:
            raise PackageError(_CLASH.format(path))
    return sorted([*contents.files, *contents.links])


def completed(named: Iterable[Package], contents: Mapping[str, Contents], version: str) -> list[Package]:
    """Add the packages that others require and nobody named.

    Parameters
    ----------
    named
        Packages by hand.
    contents
        What stand-ins hold, by name.
    version
        Version of those added.

    Returns
    -------
    list of Package
        All of them, those named first; a name comes once.
    """
    found: dict[str, Package] = {}
    pending = list(named)
    while pending:
        package = pending.pop(0)
        if package.name in found:
            continue
        found[package.name] = package
        provided = {name for other in found.values() for name in other.provides}
        pending += [
            Package(name, version, contents.get(name, Contents()))
            for name in package.contents.requires
            if name not in provided
        ]
    return list(found.values())


def _place(root: Path, path: str) -> Path:
    """Make the directory of a path below a root."""
    if not path.startswith("/"):
        message = f"{path}: a package holds absolute paths"
        raise PackageError(message)
    place = root / path.lstrip("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    return place
