"""Files that are equal on all servers of a role."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.site.hostnet import places
from kvplan.site.hostnet.adapters import adapter_files
from kvplan.site.hostnet.names import name_lines
from kvplan.site.templating import rendered
from kvplan.site.tree import EXECUTABLE, File

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.schema.roles import Role
    from kvplan.site.deployment import Deployment

_FABRIC: Final = (
    (places.DAEMONS, "daemons.j2"),
    (places.FRR_UNIT, "frr-after-network.conf.j2"),
    (places.ROCE_UNIT, "kv-roce@.service.j2"),
)
_SCRIPTS: Final = ((places.ROCE_SCRIPT, "kv-roce.j2"), (places.NIC_SCRIPT, "kv-nic-check.j2"))


def common_files(deployment: Deployment, role: Role) -> Iterator[File]:
    """Write what all servers of a role share; those with legs have RoCE, FRR and adapters too.

    Parameters
    ----------
    deployment
        The deployment.
    role
        What the servers are.

    Yields
    ------
    File
        One file.
    """
    sysctl = rendered("hostnet/90-kv-sysctl.conf.j2", role=role, settings=sysctls(deployment, role))
    yield File(places.of_role(role, places.SYSCTL), sysctl)
    yield File(places.of_role(role, places.HOSTS), rendered("hostnet/hosts.j2", lines=tuple(name_lines(deployment))))
    yield File(places.of_role(role, places.chrony_path(role)), _chrony(deployment, role))
    if any(server.fabric for server in deployment.in_role(role)):
        yield from _fabric_files(deployment, role)


def sysctls(deployment: Deployment, role: Role) -> tuple[tuple[str, str], ...]:
    """List the kernel parameters of a role with their values."""
    rows = (row for key, row in deployment.settings.items() if key.startswith("host.sysctl_"))
    return tuple(sorted((row.title, str(row.value)) for row in rows if not row.applies_to or role in row.applies_to))


def _chrony(deployment: Deployment, role: Role) -> str:
    """Write the clock's configuration."""
    return rendered(
        "hostnet/chrony.conf.j2",
        servers=deployment.site.network.ntp,
        drift=f"/var/lib/chrony/{'drift' if role == 'storage' else 'chrony.drift'}",
        makestep=deployment.setting("host.chrony_makestep"),
    )


def _fabric_files(deployment: Deployment, role: Role) -> Iterator[File]:
    """Write what only servers with legs have."""
    for path, template in _FABRIC:
        yield File(places.of_role(role, path), rendered(f"hostnet/{template}", manager=places.manager(role)))
    for path, template in _SCRIPTS:
        yield File(places.of_role(role, path), rendered(f"hostnet/{template}"), EXECUTABLE)
    memlock = str(deployment.setting("host.memlock")).replace("infinity", "unlimited")
    yield File(places.of_role(role, places.LIMITS), rendered("hostnet/90-kv-limits.conf.j2", memlock=memlock))
    if role != "storage":
        yield File(places.of_role(role, places.NETWORKD), rendered("hostnet/networkd.conf.j2"))
    yield from adapter_files(deployment, role)
