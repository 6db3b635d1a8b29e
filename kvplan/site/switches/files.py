"""The files of the switches: a configuration each, the script that fetches it, and the topology they check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.render.fabric.ptm import cabling_ptm
from kvplan.site.switches.dialect import dialect_of
from kvplan.site.switches.management import management_network
from kvplan.site.switches.ports import fabric_interfaces
from kvplan.site.switches.qos import lossless
from kvplan.site.switches.routing import bgp, router
from kvplan.site.switches.system import identity, services
from kvplan.site.switches.ztp import ztp_script
from kvplan.site.tree import EXECUTABLE, PRIVATE, File
from kvplan.site.yaml_out import yaml_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.site.deployment import Deployment, SwitchUnit
    from kvplan.site.switches.dialect import Dialect, Tree

FOLDER = "switches"


def switch_files(deployment: Deployment) -> Iterator[File]:
    """Write the files of the switches.

    A switch whose release is too old for both dialects gets none; `switch_faults` names it.

    Parameters
    ----------
    deployment
        Plan, design and Site.

    Yields
    ------
    File
        `switches/<name>.yaml` of each switch, `switches/ztp.sh` and `switches/topology.dot`.
    """
    written: list[tuple[SwitchUnit, File]] = []
    for switch in deployment.switches:
        dialect = dialect_of(deployment, switch.site.cumulus)
        if dialect:
            text = yaml_text(configuration(deployment, switch, dialect))
            written.append((switch, File(f"{FOLDER}/{switch.name}.yaml", text, PRIVATE)))
    yield from (file for _, file in written)
    yield File(f"{FOLDER}/ztp.sh", ztp_script(deployment, written), EXECUTABLE)
    yield File(f"{FOLDER}/topology.dot", cabling_ptm(deployment.design))


def configuration(deployment: Deployment, switch: SwitchUnit, dialect: Dialect) -> list[Tree]:
    """Put a switch's whole configuration together.

    Parameters
    ----------
    deployment
        Plan, design and Site.
    switch
        The switch.
    dialect
        How its release writes it.

    Returns
    -------
    list of dict
        The header and what is set, as NVUE keeps both in one file.
    """
    parts = _management if switch.role == "management-switch" else _fabric
    content = _merged(
        identity(deployment, switch, dialect),
        services(deployment, switch, dialect),
        parts(deployment, switch, dialect),
    )
    header = {
        "model": switch.device.model.upper(),
        "nvue-api-version": "nvue_v1",
        "rev-id": 1.0,
        "version": f"Cumulus Linux {switch.site.cumulus}",
    }
    return [{"header": header}, {"set": {key: content[key] for key in sorted(content)}}]


def _management(deployment: Deployment, switch: SwitchUnit, dialect: Dialect) -> Tree:
    """Write the parts of a management switch."""
    return management_network(deployment, switch, dialect)


def _fabric(deployment: Deployment, switch: SwitchUnit, dialect: Dialect) -> Tree:
    """Write the parts of a switch of the fabric."""
    return {
        "interface": fabric_interfaces(deployment, switch, dialect),
        "qos": lossless(deployment, switch, dialect),
        "router": router(deployment, switch, dialect),
        "vrf": {"default": {"router": {"bgp": bgp(deployment, switch, dialect)}}},
    }


def _merged(*parts: Tree) -> Tree:
    """Join parts; those of the same name are joined one level down."""
    whole: Tree = {}
    for part in parts:
        for key, value in part.items():
            whole[key] = {**whole.get(key, {}), **value}
    return whole
