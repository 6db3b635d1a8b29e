"""Firmware settings of adapters, as `kv-nic-check` compares them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.site.hostnet import places
from kvplan.site.hostnet.roce import number
from kvplan.site.templating import rendered
from kvplan.site.tree import File

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.schema.hardware import Nic
    from kvplan.schema.roles import Role
    from kvplan.site.deployment import Deployment, Server


def adapters_of(servers: tuple[Server, ...]) -> dict[str, Nic]:
    """List the adapters of servers by name: `client1` has the ports `client1p0` and `client1p1`."""
    return {leg.name.rpartition("p")[0]: leg.nic for server in servers for leg in server.fabric}


def firmware(deployment: Deployment, nic: Nic, role: Role) -> dict[str, int]:
    """Return the keys of mlxconfig of an adapter with their values.

    Parameters
    ----------
    deployment
        The deployment.
    nic
        The adapter.
    role
        What the server is that holds it.

    Returns
    -------
    dict of int
        Values by key, in order of keys; empty for an adapter that no setting names.
    """
    rows = [row for key, row in deployment.settings.items() if key.startswith("nic.firmware_")]
    if not any(nic.id in row.applies_to for row in rows):
        return {}
    cnp = {"CNP_DSCP_P{port}": "switch.cnp_dscp", "CNP_802P_PRIO_P{port}": "switch.cnp_priority"}
    wanted = {row.title: int(row.value) for row in rows if not row.applies_to or {nic.id, role} & {*row.applies_to}}
    wanted |= {key: number(deployment, setting) for key, setting in cnp.items()}
    ports = range(1, nic.ports + 1)
    return dict(sorted((key.format(port=port), value) for key, value in wanted.items() for port in ports))


def adapter_files(deployment: Deployment, role: Role) -> Iterator[File]:
    """Write the settings of each adapter that servers of a role have.

    Parameters
    ----------
    deployment
        The deployment.
    role
        What the servers are.

    Yields
    ------
    File
        The file of one adapter, equal on all servers of the role.
    """
    for adapter, nic in sorted(adapters_of(deployment.in_role(role)).items()):
        settings = tuple(firmware(deployment, nic, role).items())
        text = rendered("hostnet/kv-nic.conf.j2", adapter=adapter, title=nic.title, settings=settings)
        yield File(places.of_role(role, f"{places.NIC}/{adapter}.conf"), text)
