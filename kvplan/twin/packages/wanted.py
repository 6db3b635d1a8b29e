"""Which packages a deployment asks for: what the installers' answers name, the kernels, and the steps' software."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kvplan.site.reading import yaml_in
from kvplan.twin.packages.bases import bases, kernels
from kvplan.twin.packages.contents import Contents
from kvplan.twin.packages.package import Package, completed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from kvplan.site.deployment import Deployment
    from kvplan.twin.rack.plan import Face

DRIVER: Final = "doca-ofed"
"""The package of a DOCA repository that brings the adapters' driver."""
_SCALE: Final = "gpfs."
_STEPS: Final = "scale/steps.yaml"
_INSTALLERS: Final[Mapping[Face, str]] = {"rhel": "dnf", "ubuntu": "apt-get"}
_VERSIONED: Final[Mapping[Face, re.Pattern[str]]] = {
    "rhel": re.compile(r"(.+?)-([0-9][^-]*-[0-9][^-]*)"),
    "ubuntu": re.compile(r"([^=]+)=(.+)"),
}


class Wanted(NamedTuple):
    """The packages of one operating system.

    `installed` are there after the installation, and `offered` may be had besides; both are the distribution's.
    `scale` are those of Storage Scale by the name of the Site's package that holds them, `driver` those of DOCA.
    """

    installed: list[Package]
    offered: list[Package]
    scale: dict[str, list[Package]]
    driver: list[Package]

    @property
    def all_scale(self) -> list[Package]:
        """Those of Storage Scale, each once."""
        return list({package.name: package for held in self.scale.values() for package in held}.values())


def wanted(deployment: Deployment, tree: Mapping[str, str], face: Face, contents: Mapping[str, Contents]) -> Wanted:
    """Work out the packages of one operating system.

    Parameters
    ----------
    deployment
        The Plan's design and the Site.
    tree
        The rendered files, by path.
    face
        The operating system.
    contents
        What its stand-ins hold, by name; one that nobody asks for is offered too.

    Returns
    -------
    Wanted
        Each package in the version that is asked for, or else in one of the operating system.
    """
    site = deployment.site
    system = site.versions.rhel if face == "rhel" else site.versions.ubuntu
    kernel = site.versions.rhel_kernel if face == "rhel" else site.versions.ubuntu_kernel
    usual = f"{system}-1.standin"

    def known(names: Iterable[str]) -> list[Package]:
        return [Package(name, usual, contents.get(name, Contents())) for name in dict.fromkeys(names)]

    words = dict(_software(tree, face))
    scale = {key: _scale(named, contents) for key, named in words.items()}
    driver = Package(DRIVER, f"{site.packages.doca.version}-1", contents.get(DRIVER, Contents()))
    drivers = completed([driver], contents, usual)
    kernels_ = kernels(face, kernel, contents)
    answers = [name for name in listed(tree, face) if name not in _UNPINNED]
    installed = completed([*bases(face, system, contents), *known(answers)], contents, usual)
    there = {package.name for package in installed}
    asked = [name for named in words.values() for name, _ in named]
    needed = [name for held in scale.values() for package in held for name in package.contents.requires]
    named = known(name for name in (*asked, *needed, *contents) if not name.startswith(_SCALE) and name != DRIVER)
    offered = _without(completed([*kernels_, *named], contents, usual), there)
    return Wanted(installed, offered, scale, _without(drivers, there | {package.name for package in offered}))


def listed(tree: Mapping[str, str], face: Face) -> list[str]:
    """List the packages that the installers' answers name.

    Parameters
    ----------
    tree
        The rendered files, by path.
    face
        The operating system.

    Returns
    -------
    list of str
        Names, each once; groups of packages are not among them.
    """
    found: dict[str, None] = {}
    for path, text in tree.items():
        if face == "rhel" and path.startswith("install/") and path.endswith(".ks"):
            found.update(dict.fromkeys(_section(text)))
        if face == "ubuntu" and path.startswith("install/") and path.endswith("/user-data"):
            read: Any = yaml_in(text)
            found.update(dict.fromkeys(read["autoinstall"]["packages"]))
    return list(found)


_UNPINNED: Final = ("kernel-devel", "kernel-headers")
"""Packages of the answers whose version is that of the kernel: they come with it."""


def _without(packages: Iterable[Package], names: Collection[str]) -> list[Package]:
    """Leave out what has one of some names."""
    return [package for package in packages if package.name not in names]


def _section(text: str) -> Iterator[str]:
    """Yield the names of a Kickstart file's section of packages."""
    inside = False
    for line in map(str.strip, text.splitlines()):
        if line.startswith("%"):
            inside = line.split()[0] == "%packages"
        elif inside and line and line[0] not in "@#":
            yield line


def _software(tree: Mapping[str, str], face: Face) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the Site's packages that steps install from, each with names and versions; no version is an empty one."""
    steps: Any = yaml_in(tree[_STEPS])
    for step in steps:
        for program, *rest in step["commands"]:
            if program == _INSTALLERS[face] and rest[:1] == ["install"]:
                found = [(word, _VERSIONED[face].fullmatch(word)) for word in rest[1:] if not word.startswith("-")]
                yield step["package"], [(match[1], match[2]) if match else (word, "") for word, match in found]


def _scale(named: list[tuple[str, str]], contents: Mapping[str, Contents]) -> list[Package]:
    """List the packages of Storage Scale; one without a version has that of the others."""
    usual = next((version for _, version in named if version), "1-1")
    found = [
        Package(name, version or usual, contents.get(name, Contents()))
        for name, version in named
        if name.startswith(_SCALE)
    ]
    return [package for package in completed(found, contents, usual) if package.name.startswith(_SCALE)]
