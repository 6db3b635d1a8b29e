"""What is wrong with the installers' files: each is read back and held against the Site."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import yaml
from pydantic import ValidationError

from kvplan.schema.design import Finding
from kvplan.site.install import autoinstall_rules, common_rules, kickstart_rules
from kvplan.site.install.autoinstall import AutoinstallFile, MetaData, read_yaml
from kvplan.site.install.files import installable, kickstart_path, seed_paths, system_mib
from kvplan.site.install.kickstart import read_kickstart
from kvplan.site.install.rule import REMEDY, Seen, findings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvplan.site.deployment import Deployment, Server

_MISSING: Final = "KV-OSI-001"
_STRAY: Final = "KV-OSI-002"
_SMALL: Final = "KV-OSI-003"
_UNREACHED: Final = "KV-OSI-004"
_MODEL: Final = "KV-OSI-050"
_META: Final = "KV-OSI-067"
_PORT_REMEDY: Final = "set build.management.host_ports to 1 or 2, and cable the ports"
_GB: Final = 10**9
_MIB: Final = 1 << 20
RULES: Final[dict[str, str]] = {
    _MISSING: "Every server has the files that its installer asks for.",
    _STRAY: "Every installer file belongs to a server.",
    _SMALL: "The smallest boot drive that the Site allows holds the layout.",
    _UNREACHED: "Every server has a management port, which it is installed and reached over.",
    **{rule.id: rule.what for rule in common_rules.RULES},
    **{rule.id: rule.what for rule in kickstart_rules.RULES},
    _MODEL: "The autoinstall file is a cloud-config of version 1 with known keys and values of the right types.",
    **{rule.id: rule.what for rule in autoinstall_rules.RULES},
    _META: "The seed's meta-data name the machine.",
}
"""What each rule checks, by its id."""


def install_faults(deployment: Deployment, tree: Mapping[str, str]) -> Iterator[Finding]:
    """Find what is wrong with the installers' files.

    Parameters
    ----------
    deployment
        Plan, Site and design.
    tree
        The rendered files, path to text; others than the installers' are passed over.

    Yields
    ------
    Finding
        What was found, server by server, with an id of `RULES`.
    """
    expected: set[str] = set()
    for server in deployment.servers:
        if not server.management:
            yield _fault(_UNREACHED, server.name, f"{server.name} has no management port", _PORT_REMEDY)
    for server in installable(deployment):
        paths = (kickstart_path(server),) if server.role == "storage" else seed_paths(server)
        expected.update(paths)
        yield from _too_small(deployment, server)
        missing = [path for path in paths if path not in tree]
        for path in missing:
            yield _fault(_MISSING, path, f"{server.name} has no {path}")
        if not missing:
            yield from _in_files(deployment, server, paths, tree)
    for path in sorted(tree):
        if path.startswith("install/") and path not in expected:
            yield _fault(_STRAY, path, f"{path} belongs to no server")


def _fault(rule: str, where: str, text: str, remedy: str = REMEDY) -> Finding:
    """Write a finding."""
    return Finding(id=rule, severity="error", where=where, text=text, remedy=remedy)


def _too_small(deployment: Deployment, server: Server) -> Iterator[Finding]:
    """See that the layout fits the smallest boot drive allowed."""
    mirrored_mib = sum(int(deployment.setting(f"install.{name}_mib")) for name in ("esp", "boot"))
    needed_gb = (mirrored_mib + system_mib(deployment)) * _MIB / _GB
    least_gb = server.site.boot_drives.least_gb
    if least_gb < needed_gb:
        yield _fault(
            _SMALL,
            f"servers[{server.name}].boot_drives.least_gb",
            f"a boot drive of {least_gb} GB is allowed, but the layout takes {needed_gb:.0f} GB",
            f"set least_gb to {needed_gb:.0f} or more, and use boot drives of that size",
        )


def _in_files(
    deployment: Deployment, server: Server, paths: tuple[str, ...], tree: Mapping[str, str]
) -> Iterator[Finding]:
    """Find what is wrong with the files of one server."""
    if server.role == "storage":
        yield from _in_kickstart(deployment, server, paths[0], tree[paths[0]])
        return
    user_data, meta_data = paths
    yield from _in_user_data(deployment, server, user_data, tree[user_data])
    yield from _in_meta_data(server, meta_data, tree[meta_data])


def _in_kickstart(deployment: Deployment, server: Server, path: str, text: str) -> Iterator[Finding]:
    """Find what is wrong with a Kickstart file."""
    parsed = read_kickstart(text)
    seen = Seen(deployment, server, path, text, parsed, parsed.script("%pre"), parsed.script("%post"))
    yield from findings(common_rules.RULES, seen)
    yield from findings(kickstart_rules.RULES, seen)


def _in_user_data(deployment: Deployment, server: Server, path: str, text: str) -> Iterator[Finding]:
    """Find what is wrong with an autoinstall file; one that cannot be read is not looked at further."""
    if not text.startswith("#cloud-config\n"):
        yield _fault(_MODEL, path, "the first line is not #cloud-config")
    try:
        parsed = AutoinstallFile.model_validate(read_yaml(text)).autoinstall
    except yaml.YAMLError as error:
        yield _fault(_MODEL, path, f"it is no YAML: {error}")
        return
    except ValidationError as error:
        for problem in error.errors(include_input=False, include_url=False):
            yield _fault(_MODEL, path, f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}")
        return
    seen = Seen(deployment, server, path, text, parsed, _script(parsed.early_commands), _script(parsed.late_commands))
    yield from findings(common_rules.RULES, seen)
    yield from findings(autoinstall_rules.RULES, seen)


def _script(commands: list[list[str]]) -> str:
    """Join the scripts of commands."""
    return "\n".join(command[-1] for command in commands if command)


def _in_meta_data(server: Server, path: str, text: str) -> Iterator[Finding]:
    """Find what is wrong with the seed's other file."""
    try:
        data = MetaData.model_validate(read_yaml(text))
    except (yaml.YAMLError, ValidationError):
        yield _fault(_META, path, "it does not hold instance-id and local-hostname as text")
        return
    if data.local_hostname != server.names.admin_fqdn or not data.instance_id.startswith(f"{server.name}-"):
        yield _fault(_META, path, f"it names {data.local_hostname}, should name {server.names.admin_fqdn}")
