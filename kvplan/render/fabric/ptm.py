"""The cabling as switches check it: the topology file of PTM and of NVIDIA's cable validation tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.render.fabric.dot import quoted
from kvplan.render.fabric.links import legs
from kvplan.schema.roles import FABRIC_ROLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.schema.design import Design


def cabling_ptm(design: Design) -> str:
    """Write every leg of the fabric as an edge between two interfaces.

    Both tools compare it with what LLDP reports, so a host must run lldpd and report interface names. The management
    network is left out: its ports are not those of the switches that run the check.

    Parameters
    ----------
    design
        The design.

    Returns
    -------
    str
        An undirected graph in the DOT language; switches come with their role, as the validation tool wants it.

    References
    ----------
    NVIDIA Cumulus Linux documentation, Prescriptive Topology Manager; NVIDIA UFM Cable Validation Tool, Dot File.
    """
    return "\n".join(("graph network {", *_switches(design), *_edges(design), "}", ""))


def _switches(design: Design) -> Iterator[str]:
    """Write the switches of the fabric with what they are."""
    for device in design.devices:
        if device.role in FABRIC_ROLES:
            name, role = quoted(device.name), device.role.replace("-", "_")
            yield f'  {name} [label={name} role="{role}" os="cumulus"]'


def _edges(design: Design) -> Iterator[str]:
    """Write the legs."""
    for leg in legs(design):
        if leg.a.network != "management":
            ends = (f"{quoted(port.device)}:{quoted(port.name)}" for port in (leg.a, leg.b))
            yield f"  {' -- '.join(ends)}"
