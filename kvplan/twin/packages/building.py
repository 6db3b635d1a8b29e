"""Everything that a deployment installs from, built and laid out to be served."""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from kvplan.site.render import rendered_tree
from kvplan.twin.packages.archives import archived, bundled, gpu_driver
from kvplan.twin.packages.installation import installation
from kvplan.twin.packages.kinds import KINDS
from kvplan.twin.packages.wanted import wanted
from kvplan.twin.rack.installed import INSTALLED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from kvplan.schema.site.software import Download, PackagesSite
    from kvplan.site.deployment import Deployment
    from kvplan.twin.packages.contents import Contents
    from kvplan.twin.packages.wanted import Wanted
    from kvplan.twin.rack.plan import Face


@dataclass(frozen=True, slots=True)
class Built:
    """What was built.

    `packages` is the section of that name of a Site: its own downloads, and repositories, where what stands in for
    them lies. `sources` are files by which a node has its distribution's packages without a repository of the Site.
    `installed` is a directory with what an installation puts on a disk, to be linked to by `INSTALLED` in the
    directory that a rack shares.
    """

    packages: dict[str, Any]
    sources: dict[Face, dict[str, str]]
    installed: Path


def built(deployment: Deployment, directory: Path, url: str, contents: Mapping[Face, Mapping[str, Contents]]) -> Built:
    """Build every package that a deployment asks for.

    Parameters
    ----------
    deployment
        The Plan's design and the Site.
    directory
        Where everything goes; it is to be served.
    url
        Where it is served.
    contents
        What stand-ins hold, by operating system and name; those that are not among them are empty.

    Returns
    -------
    Built
        Where everything is.

    Raises
    ------
    PackageError
        When two packages hold different things at one path.
    RackError
        When a program fails that builds them.
    """
    maker = _Maker(deployment.site.packages, directory, url)
    tree = rendered_tree(deployment)
    for face in KINDS:
        maker.make(face, wanted(deployment, tree, face, contents.get(face, {})))
    maker.finish()
    return Built(maker.packages, maker.sources, directory / INSTALLED)


class _Maker:
    """Builds into a directory, and keeps where everything is.

    Below the directory, `rhel` and `ubuntu` are the distributions, `rpm_repo` and `deb_repo` the Site's repositories,
    and `files` what the Site names one by one; `built` and `installed` are not for anybody to fetch.
    """

    def __init__(self, site: PackagesSite, directory: Path, url: str) -> None:
        self._site = site
        self._directory = directory
        self._url = url
        self._scale: dict[str, list[Path]] = {}
        self.packages: dict[str, Any] = {}
        self.sources: dict[Face, dict[str, str]] = {}

    def make(self, face: Face, wants: Wanted) -> None:
        """Build what one operating system installs from."""
        kind, place = KINDS[face], self._directory / "built" / face
        standing = kind.build(wants.installed, place)
        offered = [*standing, *kind.build(wants.offered, place)]
        names = [package.name for package in wants.all_scale]
        scale = dict(zip(names, kind.build(wants.all_scale, place), strict=True))
        for key, held in wants.scale.items():
            self._scale.setdefault(key, []).extend(scale[package.name] for package in held)
        driver = kind.build(wants.driver, place)
        self.sources[face] = kind.sources("distribution", self._repository(face, face, offered))
        named = [*offered, *scale.values()]
        if download := getattr(self._site, kind.driver):
            self._file(kind.driver, bundled(face, download.version, driver))
        else:
            named += driver
        self.packages[kind.repository] = self._repository(face, kind.repository, named)
        installation(face, wants.installed, standing, self._directory / INSTALLED / face)

    def finish(self) -> None:
        """Write what is of no one operating system: archives of Storage Scale, and the driver of the GPUs."""
        for key, files in self._scale.items():
            if getattr(self._site, key):
                self._file(key, archived(files))
        if self._site.gpu_driver:
            self._file("gpu_driver", gpu_driver(self._site.gpu_driver.version))

    def _repository(self, face: Face, name: str, files: Iterable[Path]) -> str:
        """Make a repository of files that are built."""
        place = self._directory / name
        place.mkdir(parents=True)
        for file in files:
            os.link(file, place / file.name)
        KINDS[face].listed(place)
        return f"{self._url}/{name}"

    def _file(self, key: str, data: bytes) -> None:
        """Lay what the Site names, under the name that it has there."""
        download: Download = getattr(self._site, key)
        path = f"files/{key}/{PurePosixPath(urlsplit(download.url).path).name}"
        (self._directory / path).parent.mkdir(parents=True)
        (self._directory / path).write_bytes(data)
        version = download.version
        self.packages[key] = {"url": f"{self._url}/{path}", "sha256": sha256(data).hexdigest(), "version": version}
