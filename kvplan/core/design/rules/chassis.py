"""Rules about what is inside a chassis: slots, lanes, auxiliary power, bays, and chassis that nobody named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.core.design.machines import adapters_of
from kvplan.schema.design import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kvplan.core.design.inputs import DesignInputs
    from kvplan.core.design.machines import Adapters
    from kvplan.schema.design import Design
    from kvplan.schema.hardware import Server
    from kvplan.schema.roles import Role

_ROLES: Final[tuple[Role, Role]] = ("storage", "client")


def _slots(inputs: DesignInputs, _design: Design) -> Iterator[Finding]:
    """Report more cards than slots; an OCP bay takes OCP 3.0 cards only."""
    for server, entries in _servers(inputs):
        cards = sum(entry.cards for entry in entries if not entry.nic.is_ocp)
        if server.full_height_slots and cards > server.full_height_slots:
            yield Finding(
                id="pcie-slots",
                severity="error",
                where=server.id,
                text=f"{cards} cards for {server.full_height_slots} full-height slots; its {server.ocp_slots} OCP bays "
                "take OCP 3.0 cards only",
                remedy="fewer or dual-port adapters, an OCP 3.0 adapter, or a chassis with more slots",
            )
        elif not server.full_height_slots:
            yield Finding(
                id="pcie-slots-open",
                severity="info",
                where=server.id,
                text=f"its slots are not confirmed; {cards} full-height or low-profile x16 cards are planned",
                remedy="check the chassis for as many x16 slots",
            )


def _lanes(inputs: DesignInputs, _design: Design) -> Iterator[Finding]:
    """Report cards that need more lanes than the chassis has for the network."""
    for server, entries in _servers(inputs):
        wanted = sum(entry.cards * entry.nic.pcie_lanes for entry in entries)
        if server.network_pcie_lanes and wanted > server.network_pcie_lanes:
            yield Finding(
                id="pcie-lanes",
                severity="error",
                where=server.id,
                text=f"the adapters take {wanted} lanes, the chassis has {server.network_pcie_lanes} for the network",
                remedy="fewer adapters, or a chassis with more lanes",
            )


def _ocp_bays(inputs: DesignInputs, _design: Design) -> Iterator[Finding]:
    """Report more OCP cards, the management adapter among them, than bays."""
    wanted = 1 if inputs.options.management.host_ports else 0
    for server, entries in _servers(inputs):
        cards = wanted + sum(entry.cards for entry in entries if entry.nic.is_ocp)
        if server.ocp_slots and cards > server.ocp_slots:
            yield Finding(
                id="ocp-bays",
                severity="error",
                where=server.id,
                text=f"{cards} OCP 3.0 cards for {server.ocp_slots} bays",
                remedy="an adapter in a PCIe slot instead, or no management adapter (`management.host_ports: 0`)",
            )


def _atx_leads(inputs: DesignInputs, _design: Design) -> Iterator[Finding]:
    """Report adapters that do not power up without an auxiliary lead, and chassis without the header for it."""
    for server, entries in _servers(inputs):
        needing = [entry for entry in entries if entry.nic.needs_atx_lead]
        cards = sum(entry.cards for entry in needing)
        if not cards:
            continue
        headers = inputs.enclosures[server.id].atx_headers
        names = ", ".join(entry.nic.id for entry in needing)
        yield Finding(
            id="atx-lead",
            severity="warning" if headers >= cards else "error",
            where=f"{server.id}, {names}",
            text=f"{_lead_needed(cards)}; the chassis has "
            f"{headers} headers" + (" (assumed)" if inputs.enclosures[server.id].confidence == "assumed" else ""),
            remedy="order the leads with the chassis, and confirm the headers with its maker",
        )


def _lead_needed(cards: int) -> str:
    """Say how many adapters need the lead."""
    if cards == 1:
        return "one adapter needs an 8-pin ATX lead, or it does not power up"
    return f"{cards} adapters need an 8-pin ATX lead each, or they do not power up"


def _drive_bays(inputs: DesignInputs, _design: Design) -> Iterator[Finding]:
    """Report more drives than bays, and drives of another form."""
    plan, server, drive = inputs.plan, inputs.plan.parts.server, inputs.plan.parts.drive
    if plan.profile.drives_per_node > server.drive_bays:
        yield Finding(
            id="drive-bays",
            severity="error",
            where=server.id,
            text=f"{plan.profile.drives_per_node} drives for {server.drive_bays} bays",
            remedy="fewer drives a node, or a chassis with more bays",
        )
    if drive.form_factors and server.drive_form_factor and server.drive_form_factor not in drive.form_factors:
        yield Finding(
            id="drive-form",
            severity="error",
            where=f"{server.id}, {drive.id}",
            text=f"the bays take {server.drive_form_factor}, the drive comes as {', '.join(drive.form_factors)}",
            remedy="a drive of that form, or another chassis",
        )


def _client_unknown(inputs: DesignInputs, design: Design) -> Iterator[Finding]:
    """Report GPU servers whose make is not known, so that size, power and slots are assumed."""
    server = inputs.plan.parts.client_server
    count = sum(device.role == "client" for device in design.devices)
    if server.stands_for_unknown:
        yield Finding(
            id="client-unknown",
            severity="warning",
            where=f"{count} GPU servers",
            text=f"their make is not known: size, weight, power and slots are those of {server.id}, assumed",
            remedy="name the server in tables of your own: `servers.yaml`, `enclosures.yaml`, and `server` of the GPU",
        )


RULES: Final[tuple[Callable[[DesignInputs, Design], Iterator[Finding]], ...]] = (
    _slots,
    _lanes,
    _ocp_bays,
    _atx_leads,
    _drive_bays,
    _client_unknown,
)


def _servers(inputs: DesignInputs) -> Iterator[tuple[Server, tuple[Adapters, ...]]]:
    """Yield each kind of server with the adapters in it."""
    parts = inputs.plan.parts
    for role, server in zip(_ROLES, (parts.server, parts.client_server), strict=True):
        yield server, adapters_of(parts, role)
