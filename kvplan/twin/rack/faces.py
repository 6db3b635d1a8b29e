"""The operating systems that nodes look like: what facts are read from, and which package manager there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kvplan.twin.rack.plan import Face


class FaceOf(NamedTuple):
    """Files for a version, what must be absent, and the name of the SSH server's unit."""

    files: Callable[[str], dict[str, str]]
    absent: tuple[str, ...]
    ssh_unit: str


def _rhel(version: str) -> dict[str, str]:
    """Write what says RHEL."""
    major = version.partition(".")[0]
    release = _pairs(
        NAME="Red Hat Enterprise Linux",
        VERSION=f"{version} (Plow)",
        ID="rhel",
        ID_LIKE="fedora",
        VERSION_ID=version,
        PLATFORM_ID=f"platform:el{major}",
        PRETTY_NAME=f"Red Hat Enterprise Linux {version} (Plow)",
        CPE_NAME=f"cpe:/o:redhat:enterprise_linux:{major}::baseos",
    )
    return {
        "etc/os-release": release,
        "usr/lib/os-release": release,
        "etc/redhat-release": f"Red Hat Enterprise Linux release {version} (Plow)\n",
        # Debian's rpm keeps its list in a user's home.
        "etc/rpm/macros": "%_dbpath /var/lib/rpm\n",
    }


def _ubuntu(version: str) -> dict[str, str]:
    """Write what says Ubuntu."""
    release = _pairs(
        PRETTY_NAME=f"Ubuntu {version} LTS",
        NAME="Ubuntu",
        VERSION_ID=version,
        VERSION=f"{version} LTS (Noble Numbat)",
        VERSION_CODENAME="noble",
        ID="ubuntu",
        ID_LIKE="debian",
        UBUNTU_CODENAME="noble",
    )
    return {
        "etc/os-release": release,
        "usr/lib/os-release": release,
        "etc/lsb-release": f"DISTRIB_ID=Ubuntu\nDISTRIB_RELEASE={version}\nDISTRIB_CODENAME=noble\n",
        "etc/debian_version": "trixie/sid\n",
        "etc/apt/sources.list": "",
        "var/lib/dpkg/status": "",
    }


def _pairs(**values: str) -> str:
    """Write the lines of an os-release file."""
    return "".join(f'{key}="{value}"\n' for key, value in values.items())


_APT: Final = ("apt", "apt-cache", "apt-get", "apt-key", "apt-mark", "dpkg", "dpkg-query")
_DNF: Final = ("dnf", "dnf-3", "dnf4", "rpm", "rpmkeys", "rpmquery", "yum")

FACES: Final[Mapping[Face, FaceOf]] = {
    "rhel": FaceOf(_rhel, ("etc/debian_version", "etc/lsb-release", *(f"usr/bin/{name}" for name in _APT)), "sshd"),
    "ubuntu": FaceOf(_ubuntu, ("etc/redhat-release", *(f"usr/bin/{name}" for name in _DNF)), "ssh"),
}
"""What a node's operating system looks like, by face."""
