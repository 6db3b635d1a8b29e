"""Either kind of package: how it is built, and how a node is told of a repository."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kvplan.twin.packages.debs import built_debs, deb_repository
from kvplan.twin.packages.rpms import built_rpms, rpm_repository

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from kvplan.twin.packages.package import Package
    from kvplan.twin.rack.plan import Face


class Kind(NamedTuple):
    """The packages of an operating system.

    `build` makes files, `listed` a repository of a directory; `source` and `entry` are path and text of the file that
    names one. `suffix` ends the name of a file, `repository` and `driver` are the Site's names of where to find both.
    """

    build: Callable[[Sequence[Package], Path], list[Path]]
    listed: Callable[[Path], None]
    source: str
    entry: str
    suffix: str
    repository: str
    driver: str

    def sources(self, name: str, url: str) -> dict[str, str]:
        """Write the file that names a repository.

        Parameters
        ----------
        name
            What it is called.
        url
            Where it is.

        Returns
        -------
        dict
            Text by path.
        """
        return {self.source.format(name=name): self.entry.format(name=name, url=url)}


KINDS: Final[Mapping[Face, Kind]] = {
    "rhel": Kind(
        built_rpms,
        rpm_repository,
        "/etc/yum.repos.d/{name}.repo",
        "[{name}]\nname={name}\nbaseurl={url}\nenabled=1\ngpgcheck=0\nmetadata_expire=0\n",
        ".rpm",
        "rpm_repo",
        "doca",
    ),
    "ubuntu": Kind(
        built_debs,
        deb_repository,
        "/etc/apt/sources.list.d/{name}.list",
        "deb [trusted=yes] {url} ./\n",
        ".deb",
        "deb_repo",
        "doca_ubuntu",
    ),
}
"""The packages of each operating system."""
