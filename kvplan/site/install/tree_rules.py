"""Rules over the installers' files together: which there are, whether they can be read, and whether they fit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from pydantic import ValidationError

from kvplan.site.hostnet.places import FRR, LLDP, of_server
from kvplan.site.install.autoinstall import AutoinstallFile, MetaData
from kvplan.site.install.files import installable, kickstart_path, seed_paths, system_mib
from kvplan.site.install.kickstart import read_kickstart
from kvplan.site.install.seen import Seen
from kvplan.site.reading import yaml_in
from kvplan.site.rules import Break, rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvplan.site.deployment import Deployment, Server
    from kvplan.site.install.autoinstall import Autoinstall
    from kvplan.site.install.kickstart import Kickstart

_PROGRAMS: Final = {FRR: "frr", LLDP: "lldpd"}
"""The package that each file of a host is for."""
_PORT_REMEDY: Final = "set build.management.host_ports to 1 or 2, and cable the ports"
_GB: Final = 10**9
_MIB: Final = 1 << 20


class UserData(NamedTuple):
    """An autoinstall file: whose it is, what was read from it, and what kept it from being read."""

    server: Server
    path: str
    text: str
    parsed: Autoinstall | None
    problems: tuple[str, ...]


@dataclass(frozen=True)
class Rendered:
    """The rendered tree beside the deployment that it is for; files are read where a server has all of its own."""

    deployment: Deployment
    tree: Mapping[str, str]

    @cached_property
    def paths(self) -> dict[str, tuple[str, ...]]:
        """The files of every server that can be installed, by its name."""
        return {
            server.name: (kickstart_path(server),) if server.role == "storage" else seed_paths(server)
            for server in installable(self.deployment)
        }

    @property
    def complete(self) -> Iterator[tuple[Server, tuple[str, ...]]]:
        """Each server that has all of its files, with them."""
        for server in installable(self.deployment):
            paths = self.paths[server.name]
            if all(path in self.tree for path in paths):
                yield server, paths

    @cached_property
    def kickstarts(self) -> tuple[Seen[Kickstart], ...]:
        """The Kickstart files."""
        storage = ((server, paths[0]) for server, paths in self.complete if server.role == "storage")
        return tuple(self._kickstart(server, path) for server, path in storage)

    @property
    def autoinstalls(self) -> Iterator[Seen[Autoinstall]]:
        """The autoinstall files that can be read."""
        for server, path, text, read, _ in self.user_data:
            if read:
                scripts = _script(read.early_commands), _script(read.late_commands)
                yield Seen(self.deployment, server, path, text, read, *scripts)

    @cached_property
    def user_data(self) -> tuple[UserData, ...]:
        """The autoinstall files, whether they can be read or not."""
        others = ((server, paths[0]) for server, paths in self.complete if server.role != "storage")
        return tuple(UserData(server, path, self.tree[path], *_read(self.tree[path])) for server, path in others)

    def _kickstart(self, server: Server, path: str) -> Seen[Kickstart]:
        """Read a Kickstart file."""
        read = read_kickstart(self.tree[path])
        scripts = read.script("%pre"), read.script("%post")
        return Seen(self.deployment, server, path, self.tree[path], read, *scripts)


def _read(text: str) -> tuple[Autoinstall | None, tuple[str, ...]]:
    """Read an autoinstall file, or say why it cannot be read."""
    try:
        return AutoinstallFile.model_validate(yaml_in(text)).autoinstall, ()
    except ValidationError as error:
        problems = error.errors(include_input=False, include_url=False)
        return None, tuple(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in problems)
    except ValueError as error:
        return None, (f"it is {error}",)


def _script(commands: list[list[str]]) -> str:
    """Join the scripts of commands."""
    return "\n".join(command[-1] for command in commands if command)


@rule("KV-OSI-001", "Every server has the files that its installer asks for.")
def _missing(seen: Rendered) -> Iterator[Break]:
    for name, paths in seen.paths.items():
        for path in paths:
            if path not in seen.tree:
                yield Break(path, f"{name} has no {path}")


@rule("KV-OSI-002", "Every installer file belongs to a server.")
def _strays(seen: Rendered) -> Iterator[Break]:
    expected = {path for paths in seen.paths.values() for path in paths}
    for path in sorted(set(seen.tree) - expected):
        if path.startswith("install/"):
            yield Break(path, f"{path} belongs to no server")


@rule("KV-OSI-003", "The smallest boot drive that the Site allows holds the layout.")
def _too_small(seen: Rendered) -> Iterator[Break]:
    mirrored_mib = sum(int(seen.deployment.setting(f"install.{name}_mib")) for name in ("esp", "boot"))
    needed_gb = (mirrored_mib + system_mib(seen.deployment)) * _MIB / _GB
    for server in installable(seen.deployment):
        least_gb = server.site.boot_drives.least_gb
        if least_gb < needed_gb:
            yield Break(
                f"servers[{server.name}].boot_drives.least_gb",
                f"a boot drive of {least_gb} GB is allowed, but the layout takes {needed_gb:.0f} GB",
                f"set least_gb to {needed_gb:.0f} or more, and use boot drives of that size",
            )


@rule("KV-OSI-004", "Every server has a management port, which it is installed and reached over.")
def _unreached(seen: Rendered) -> Iterator[Break]:
    for server in seen.deployment.servers:
        if not server.management:
            yield Break(server.name, f"{server.name} has no management port", _PORT_REMEDY)


@rule(
    "KV-OSI-050", "The autoinstall file is a cloud-config of version 1 with known keys and values of the right types."
)
def _model(seen: Rendered) -> Iterator[Break]:
    for file in seen.user_data:
        if not file.text.startswith("#cloud-config\n"):
            yield Break(file.path, "the first line is not #cloud-config")
        yield from (Break(file.path, problem) for problem in file.problems)


@rule("KV-OSI-068", "The programs that a server has configurations of are installed there.")
def _configured(seen: Rendered) -> Iterator[Break]:
    for where, server, packages in _installed(seen):
        for place, package in _PROGRAMS.items():
            path = of_server(server.name, place)
            if path in seen.tree and package not in packages:
                yield Break(where, f"package {package} is not installed, and {path} is for it")


def _installed(seen: Rendered) -> Iterator[tuple[str, Server, list[str]]]:
    """Yield each installer's file, the server that it is for, and the packages that it installs."""
    for kickstart in seen.kickstarts:
        yield kickstart.path, kickstart.server, kickstart.parsed.script("%packages").split()
    for autoinstall in seen.autoinstalls:
        yield autoinstall.path, autoinstall.server, autoinstall.parsed.packages


@rule("KV-OSI-067", "The seed's meta-data name the machine.")
def _meta_data(seen: Rendered) -> Iterator[Break]:
    for server, (_, *others) in seen.complete:
        for path in others:
            try:
                data = MetaData.model_validate(yaml_in(seen.tree[path]))
            except ValueError:
                yield Break(path, "it does not hold instance-id and local-hostname as text")
                continue
            wanted = server.names.admin_fqdn
            if data.local_hostname != wanted or not data.instance_id.startswith(f"{server.name}-"):
                yield Break(path, f"it names {data.local_hostname}, should name {wanted}")
