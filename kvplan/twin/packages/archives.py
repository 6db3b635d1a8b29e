"""What a vendor ships as one file: an archive of packages, a package with a repository in it, and an installer."""

from __future__ import annotations

import gzip
import io
import shutil
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from kvplan.twin.packages.contents import Contents
from kvplan.twin.packages.kinds import KINDS
from kvplan.twin.packages.package import EPOCH_S, Package

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvplan.twin.rack.plan import Face

_BUNDLE: Final = "doca-host"
_FOLDERS: Final = {".rpm": "gpfs_rpms", ".deb": "gpfs_debs"}
_GPU_DRIVER: Final = """\
#!/bin/sh
# Stands in for the installer of the GPU driver.
set -e
printf '#!/bin/sh\\necho %s\\n' '{version}' >/usr/bin/nvidia-smi
chmod 755 /usr/bin/nvidia-smi
"""


def archived(files: Iterable[Path]) -> bytes:
    """Put packages into an archive, those of each kind in a directory of their own.

    Parameters
    ----------
    files
        The packages.

    Returns
    -------
    bytes
        A `tar.gz`; equal packages give equal bytes.
    """
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for file in sorted(files):
            entry = tarfile.TarInfo(f"{_FOLDERS[file.suffix]}/{file.name}")
            entry.size, entry.mtime = file.stat().st_size, EPOCH_S
            with file.open("rb") as stream:
                archive.addfile(entry, stream)
    return gzip.compress(held.getvalue(), compresslevel=1, mtime=EPOCH_S)


def bundled(face: Face, version: str, files: Iterable[Path]) -> bytes:
    """Put packages into a repository inside a package, which tells the node of it: so DOCA is shipped.

    Parameters
    ----------
    face
        The operating system.
    version
        The version of DOCA.
    files
        The packages.

    Returns
    -------
    bytes
        The package.
    """
    kind = KINDS[face]
    inside = f"/usr/share/{_BUNDLE}-{version}/repo"
    with TemporaryDirectory(prefix="kv-doca-") as held:
        repository = Path(held) / "repo"
        repository.mkdir()
        for file in files:
            shutil.copy2(file, repository)
        kind.listed(repository)
        found = (path for path in repository.rglob("*") if path.is_file())
        laid = {f"{inside}/{path.relative_to(repository)}": path.read_bytes() for path in found}
        contents = Contents({**kind.sources("doca", f"file:{inside}"), **laid})
        (file,) = kind.build([Package(_BUNDLE, f"{version}-1", contents)], Path(held) / "bundle")
        return file.read_bytes()


def gpu_driver(version: str) -> bytes:
    """Write what stands in for the installer of the GPU driver.

    Parameters
    ----------
    version
        Its version, which `nvidia-smi` then tells.

    Returns
    -------
    bytes
        A shell script.
    """
    return _GPU_DRIVER.format(version=version).encode()
