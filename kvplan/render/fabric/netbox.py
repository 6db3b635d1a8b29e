"""Files for the CSV import of NetBox 4, in the order in which they are imported.

A cable in NetBox may have several terminations an end, but its CSV import takes one an end up to release 4.6
(netbox-community/netbox#18645). So each leg is a cable of its own. Its label is that of the cable it is part of, which
is called after its near end, and a number: `leaf-001a:swp1/1`, `leaf-001a:swp1/2`. That imports into every release, and
each switch port shows its true far end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from kvplan.render.data import rows_csv
from kvplan.render.fabric.links import devices_by_name, legs
from kvplan.render.fabric.netbox_addresses import LOOPBACK, address_files
from kvplan.render.fabric.palette import LIGHT
from kvplan.render.fabric.words import title

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kvplan.schema.cabling import Connector, Medium
    from kvplan.schema.design import Design, Device
    from kvplan.schema.roles import Rail

PLANNED = "planned"
FABRIC_MTU, MANAGEMENT_MTU = 9216, 1500
_RACK_WIDTH_INCHES = 19
_INTERFACE_TYPES: dict[Connector, str] = {
    "OSFP-twin": "800gbase-x-osfp",
    "QSFP-DD": "400gbase-x-qsfpdd",
    "OSFP": "400gbase-x-osfp-rhs",
    "QSFP112": "400gbase-x-qsfp112",
    "QSFP56": "200gbase-x-qsfp56",
    "QSFP28": "100gbase-x-qsfp28",
    "SFP28": "25gbase-x-sfp28",
    "RJ45": "1000base-t",
}
"""NetBox's slug of what an interface is plugged into, where it has one; the speed says at which rate the leg runs."""
_CABLE_TYPES: dict[Medium, str] = {
    "passive-copper": "dac-passive",
    "active-copper": "dac-active",
    "multimode": "mmf-om4",
    "single-mode": "smf-os2",
    "twisted-pair": "cat6a",
}
_CABLE_COLOURS: dict[Rail, str] = {"a": "2196f3", "b": "ff9800", "": "9e9e9e"}


@dataclass(frozen=True, slots=True)
class Maker:
    """Who makes a model, and under which part number."""

    vendor: str
    part_number: str = ""


def netbox_files(design: Design, makers: Mapping[str, Maker], *, site: str) -> dict[str, str]:
    """Write a Design for NetBox.

    Parameters
    ----------
    design
        The design.
    makers
        Who makes each model, from the catalogue.
    site
        Name of the site in NetBox.

    Returns
    -------
    dict[str, str]
        Content of each file by its name; the numbers in the names give the order of import.
    """
    models = {device.model: device for device in design.devices}
    vendors = dict.fromkeys(_vendor(makers, model) for model in models)
    roles = dict.fromkeys(device.role for device in design.devices)
    return {
        "01-sites.csv": rows_csv(("name", "slug", "status"), [(site, slug(site), PLANNED)]),
        "02-manufacturers.csv": rows_csv(("name", "slug"), ((vendor, slug(vendor)) for vendor in vendors)),
        "03-device-roles.csv": rows_csv(
            ("name", "slug", "color"), ((title(role), role, LIGHT[f"{role}-edge"][1:]) for role in roles)
        ),
        "04-device-types.csv": _device_types(models.values(), makers),
        "05-racks.csv": _racks(design, site),
        "06-devices.csv": _devices(design, makers, site),
        "07-interfaces.csv": _interfaces(design),
        "08-cables.csv": _cables(design),
        **address_files(design),
    }


def slug(name: str) -> str:
    """Write a name as NetBox wants it in addresses.

    >>> slug("ASG-1115S-NE316R"), slug("Rack hall 2")
    ('asg-1115s-ne316r', 'rack-hall-2')
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "unnamed"


def _vendor(makers: Mapping[str, Maker], model: str) -> str:
    """Name the maker of a model; NetBox insists on one."""
    return makers[model].vendor if model in makers else "unknown"


def _device_types(models: Iterable[Device], makers: Mapping[str, Maker]) -> str:
    """Write the models."""
    headers = ("manufacturer", "model", "slug", "part_number", "u_height", "is_full_depth", "weight", "weight_unit")
    return rows_csv(
        headers,
        (
            (
                _vendor(makers, device.model),
                device.model,
                slug(f"{_vendor(makers, device.model)} {device.model}"),
                makers[device.model].part_number if device.model in makers else "",
                str(device.rack_units),
                "true",
                f"{device.weight_kg:g}",
                "kg",
            )
            for device in models
        ),
    )


def _racks(design: Design, site: str) -> str:
    """Write the racks."""
    headers = ("site", "name", "status", "width", "u_height", "max_weight", "weight_unit", "description")
    return rows_csv(
        headers,
        (
            (
                site,
                rack.name,
                PLANNED,
                str(_RACK_WIDTH_INCHES),
                str(rack.units),
                f"{rack.weight_limit_kg:.0f}",
                "kg",
                f"row {rack.row}, place {rack.column}; {rack.power_max_w:,.0f} of {rack.power_limit_w:,.0f} W",
            )
            for rack in design.racks
        ),
    )


def _devices(design: Design, makers: Mapping[str, Maker], site: str) -> str:
    """Write the devices with their places."""
    headers = ("name", "role", "manufacturer", "device_type", "status", "site", "rack", "position", "face")
    return rows_csv(
        headers,
        (
            (
                device.name,
                title(device.role),
                _vendor(makers, device.model),
                device.model,
                PLANNED,
                site,
                device.rack,
                str(device.position_u),
                "front",
            )
            for device in design.devices
        ),
    )


def _interfaces(design: Design) -> str:
    """Write the interfaces: every port that is cabled, and a loopback where there is one."""
    headers = ("device", "name", "type", "enabled", "speed", "mtu", "mgmt_only", "description")
    return rows_csv(headers, (*_cabled_interfaces(design), *_loopbacks(design)))


def _cabled_interfaces(design: Design) -> Iterator[tuple[str, ...]]:
    """Yield the ports, device by device."""
    connectors = {(end.device, end.cage): end.connector for cable in design.cables for end in (cable.a, *cable.b)}
    devices = devices_by_name(design)
    for port in design.ports:
        management = port.network == "management"
        own = management and devices[port.device].role != "management-switch"
        yield (
            port.device,
            port.name,
            _INTERFACE_TYPES.get(connectors[port.device, port.cage], "other"),
            "true",
            f"{port.bits_per_s / 1000:.0f}",
            str(MANAGEMENT_MTU if management else FABRIC_MTU),
            "true" if own else "false",
            f"to {port.peer_device} {port.peer_port}",
        )


def _loopbacks(design: Design) -> Iterator[tuple[str, ...]]:
    """Yield the loopback interfaces."""
    for device in design.devices:
        if device.loopback:
            yield device.name, LOOPBACK, "virtual", "true", "", "", "false", "loopback"


def _cables(design: Design) -> str:
    """Write the cables, one row a leg."""
    sides = (f"side_{side}_{field}" for side in "ab" for field in ("device", "type", "name"))
    headers = (*sides, "type", "status", "label", "color", "length", "length_unit", "description")
    return rows_csv(headers, _legs(design))


def _legs(design: Design) -> Iterator[tuple[str, ...]]:
    """Yield the legs; those of a cable share its label and have a number of their own."""
    for cable, its_legs in groupby(legs(design), key=lambda leg: leg.cable):
        for number, leg in enumerate(its_legs, start=1):
            yield (
                *(leg.a.device, "dcim.interface", leg.a.name),
                *(leg.b.device, "dcim.interface", leg.b.name),
                "" if cable.is_open else _CABLE_TYPES[cable.medium],
                PLANNED,
                f"{cable.id}/{number}" if len(cable.a.ports) > 1 else cable.id,
                _CABLE_COLOURS[leg.a.rail],
                *(("", "") if cable.is_open else (f"{cable.length_m:g}", "m")),
                " ".join(part for part in (cable.part_number, cable.family, *leg.a.cables[1:]) if part),
            )
