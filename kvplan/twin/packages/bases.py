"""Packages that every installed machine has, and those of a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.twin.packages.contents import Contents
from kvplan.twin.packages.package import Package

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvplan.twin.rack.plan import Face

_SHELL: Final = ("/bin/sh", "/usr/bin/sh", "/bin/bash", "/usr/bin/bash")


def bases(face: Face, version: str, contents: Mapping[str, Contents]) -> list[Package]:
    """List what other packages, and the package managers themselves, take for granted.

    Parameters
    ----------
    face
        The operating system.
    version
        Its version.
    contents
        What stand-ins hold, by name.

    Returns
    -------
    list of Package
        On RHEL what says which release this is, and a shell for the scripts of packages; on Ubuntu what the
        distribution is named by.
    """
    stamp = f"{version}-1.standin"
    if face == "ubuntu":
        return [Package("base-files", stamp, contents.get("base-files", Contents()))]
    release = (f"system-release = {version}", f"system-release(releasever) = {version.partition('.')[0]}")
    return [
        Package("redhat-release", stamp, contents.get("redhat-release", Contents()), release),
        Package("bash", stamp, contents.get("bash", Contents()), _SHELL),
    ]


def kernels(face: Face, kernel: str, contents: Mapping[str, Contents]) -> list[Package]:
    """List the packages of a kernel.

    Parameters
    ----------
    face
        The operating system.
    kernel
        The kernel, such as `5.14.0-570.12.1.el9_6` or `6.8.0-79-generic`.
    contents
        What stand-ins hold, by name; without it, a kernel has an image and a directory of modules.

    Returns
    -------
    list of Package
        Image, modules and headers, of that version alone.
    """
    if face == "rhel":
        running = f"{kernel}.x86_64"
        standard = {"kernel": Contents(requires=("kernel-core", "kernel-modules")), "kernel-core": _image(running)}
        names = ("kernel", "kernel-core", "kernel-modules", "kernel-devel", "kernel-headers")
        standard["kernel-devel"] = _headers(running, f"/usr/src/kernels/{running}")
        return [Package(name, kernel, contents.get(name, standard.get(name, Contents()))) for name in names]
    image, headers = f"linux-image-{kernel}", f"linux-headers-{kernel}"
    # 6.8.0-79-generic is the name of a kernel of version 6.8.0-79.79
    version, _, build = kernel.rpartition("-")[0].partition("-")
    stamp = f"{version}-{build}.{build}"
    standard = {image: _image(kernel), headers: _headers(kernel, f"/usr/src/{headers}")}
    return [Package(name, stamp, contents.get(name, standard[name])) for name in (image, headers)]


def _image(running: str) -> Contents:
    """Write a kernel's image and its modules, by the name that `uname -r` gives it."""
    modules = f"/usr/lib/modules/{running}"
    return Contents({f"/boot/vmlinuz-{running}": f"stands in for {running}\n", f"{modules}/modules.dep": ""})


def _headers(running: str, place: str) -> Contents:
    """Write a kernel's headers, and the link that modules are built by."""
    return Contents({f"{place}/Makefile": f"# {running}\n"}, {f"/usr/lib/modules/{running}/build": place})
