"""The installers' answers: a Kickstart file per storage node, an autoinstall seed for every other server."""

from __future__ import annotations

from ipaddress import ip_interface
from typing import TYPE_CHECKING, Any, Final

from kvplan.site.templating import rendered
from kvplan.site.tree import PRIVATE, READABLE, File

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.site.deployment import Deployment, Server

CONSOLE_PASSWORD: Final = "{{ kv_secret_console_password_hash }}"  # noqa: S105 - a place for it, not the hash
"""What stands where the hash of the console password is put in at deployment."""
_RHEL_PACKAGES: Final = ("rhel_packages_system", "rhel_packages_scale", "rhel_packages_fabric")
_UBUNTU_PACKAGES: Final = ("ubuntu_packages", "ubuntu_packages_cabling")
_MIB: Final = 1 << 20


def install_files(deployment: Deployment) -> Iterator[File]:
    """Write what the installers ask, for every server.

    Storage nodes get `install/<name>.ks`, GPU servers and control nodes `install/<name>/user-data` and `meta-data`.
    A server without a management port gets nothing, for it could not be reached.
    Both find the boot drives by serial number and refuse to start when there is any doubt. A file that the hash of
    the console password is put into later is private.

    Parameters
    ----------
    deployment
        Plan, Site and design.

    Yields
    ------
    File
        The files, server by server.
    """
    mode = PRIVATE if deployment.site.access.console_password_hash else READABLE
    for server in installable(deployment):
        values = _values(deployment, server)
        if server.role == "storage":
            yield File(kickstart_path(server), _kickstart(deployment, values), mode)
        else:
            user_data, meta_data = seed_paths(server)
            yield File(user_data, _user_data(deployment, values), mode)
            yield File(meta_data, rendered("install/meta-data.j2", **values))


def installable(deployment: Deployment) -> tuple[Server, ...]:
    """List the servers that have a management port, which they are installed and reached over."""
    return tuple(server for server in deployment.servers if server.management)


def kickstart_path(server: Server) -> str:
    """Return where a storage node's Kickstart file is."""
    return f"install/{server.name}.ks"


def seed_paths(server: Server) -> tuple[str, str]:
    """Return where the two files of another server's autoinstall seed are: user-data and meta-data."""
    return f"install/{server.name}/user-data", f"install/{server.name}/meta-data"


def system_mib(deployment: Deployment) -> int:
    """Return the least size of the mirrored part that holds root file system and /var [MiB]."""
    return sum(int(deployment.setting(f"install.{name}_mib")) for name in ("root", "var_least"))


def install_source(deployment: Deployment) -> str:
    """Return the Kickstart line that says where RHEL is installed from."""
    repo = deployment.site.images.rhel_repo
    if repo is None:
        return "cdrom"
    return f"url --url={'file://' if repo.startswith('/') else ''}{repo}"


def console_arguments(deployment: Deployment) -> str:
    """Return the kernel's arguments for screen and serial console, the serial one last: it is /dev/console."""
    console = deployment.site.console
    return f"console=tty0 console={console.port},{console.baud}n8"


def _kickstart(deployment: Deployment, values: dict[str, Any]) -> str:
    """Write a storage node's Kickstart file."""
    return rendered(
        "install/storage.ks.j2",
        **values,
        version=f"RHEL {deployment.site.images.rhel.version}",
        source=install_source(deployment),
        packages=_packages(deployment, *_RHEL_PACKAGES),
        accepted=any(licence.what == "rhel" for licence in deployment.site.licences),
        system_mib=system_mib(deployment),
        root="",
    )


def _user_data(deployment: Deployment, values: dict[str, Any]) -> str:
    """Write the autoinstall configuration of a server that runs Ubuntu."""
    gpu = [str(deployment.setting("install.gpu_kernel_arguments"))] * (values["server"].role == "client")
    fabric = ["ubuntu_packages_fabric"] * bool(values["server"].fabric)
    return rendered(
        "install/user-data.j2",
        **values,
        arguments=" ".join((values["console"], *gpu)),
        version=f"Ubuntu {deployment.site.images.ubuntu.version}",
        packages=_packages(deployment, *_UBUNTU_PACKAGES, *fabric),
        mib=_MIB,
        root="/target",
    )


def _packages(deployment: Deployment, *settings: str) -> list[str]:
    """Join the lists of packages that settings hold."""
    return sorted({name for setting in settings for name in str(deployment.setting(f"install.{setting}")).split()})


def _values(deployment: Deployment, server: Server) -> dict[str, Any]:
    """Gather what all templates name."""
    site = deployment.site
    return {
        "server": server,
        "drives": server.site.boot_drives,
        "mac": server.management[0].mac,
        "interface": ip_interface(server.management[0].port.address),
        "network": site.network,
        "access": site.access,
        "console": console_arguments(deployment),
        "password": CONSOLE_PASSWORD if site.access.console_password_hash else "",
        "plan_sha256": deployment.plan_sha256,
        "setting": lambda name: deployment.setting(f"install.{name}"),
    }
