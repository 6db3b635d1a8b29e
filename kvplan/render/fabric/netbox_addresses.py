"""The files of a NetBox import that are about addresses: autonomous systems, prefixes, addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.render.data import rows_csv
from kvplan.render.fabric.words import NETWORK_TITLES, prefix_of
from kvplan.units import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.schema.design import Design

LOOPBACK = "lo"
PRIVATE_ASNS = "RFC 6996"


def address_files(design: Design) -> dict[str, str]:
    """Write the files, numbered after those of the devices."""
    return {
        "09-rirs.csv": rows_csv(("name", "slug", "is_private"), [(PRIVATE_ASNS, "rfc-6996", "true")]),
        "10-asns.csv": rows_csv(("asn", "rir", "description"), _asns(design)),
        "11-prefixes.csv": rows_csv(("prefix", "status", "is_pool", "description"), _prefixes(design)),
        "12-ip-addresses.csv": rows_csv(
            ("address", "status", "role", "device", "interface", "is_primary", "is_oob", "dns_name"), _addresses(design)
        ),
    }


def _asns(design: Design) -> Iterator[tuple[str, ...]]:
    """Yield each autonomous system once, with the devices in it."""
    members: dict[int, list[str]] = {}
    for device in design.devices:
        if device.asn is not None:
            members.setdefault(device.asn, []).append(device.name)
    for asn, names in sorted(members.items()):
        yield str(asn), PRIVATE_ASNS, listed(names, 2)


def _prefixes(design: Design) -> Iterator[tuple[str, ...]]:
    """Yield the ranges, and the /31 of every leg."""
    for item in design.addresses:
        yield item.prefix, "container", "false", item.name
    links = {
        prefix_of(port.address): f"{NETWORK_TITLES[port.network]}{f', rail {port.rail}' if port.rail else ''}"
        for port in design.ports
        if port.address and port.network != "management"
    }
    for prefix, description in links.items():
        yield prefix, "active", "true", description


def _addresses(design: Design) -> Iterator[tuple[str, ...]]:
    """Yield every address with its interface; a device is managed by its own port, its controller by another."""
    for port in design.ports:
        if port.address:
            primary = port.kind == "host"
            marks = (
                "true" if primary else "",
                "true" if port.kind == "controller" else "",
                port.device if primary else "",
            )
            yield port.address, "active", "", port.device, port.name, *marks
    for device in design.devices:
        if device.loopback:
            yield device.loopback, "active", "loopback", device.name, LOOPBACK, "", "", ""
