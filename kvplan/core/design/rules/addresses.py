"""Rules about addresses: prefixes that hold what is taken from them, and numbers that are one's own."""

from __future__ import annotations

from collections import defaultdict
from ipaddress import IPv4Network
from typing import TYPE_CHECKING, Final

from kvplan.schema.design import Finding
from kvplan.units import counted, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kvplan.core.design.inputs import DesignInputs
    from kvplan.schema.design import Design


PRIVATE_PREFIXES: Final = tuple(map(IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))
"""Prefixes for private use: RFC 1918."""
PRIVATE_ASNS: Final = ((64_512, 65_534), (4_200_000_000, 4_294_967_294))
"""Autonomous system numbers for private use: RFC 6996."""
LAST_ASN: Final = 2**32 - 2
"""The last number that there is: RFC 7300 sets the one after it aside."""


def _too_small(_inputs: DesignInputs, design: Design) -> Iterator[Finding]:
    """Report prefixes that are smaller than what is taken from them."""
    for entry in design.addresses:
        if entry.reach > entry.capacity:
            yield Finding(
                id="prefix-small",
                severity="error",
                where=f"{entry.name} {entry.prefix}",
                text=f"the design reaches place {entry.reach:,} of {entry.capacity:,}",
                remedy=f"a larger prefix for `addresses.{entry.option}`, and its neighbours moved out of the way",
            )


def _twice(_inputs: DesignInputs, design: Design) -> Iterator[Finding]:
    """Report addresses that are given twice: a machine has more ports than its place in the prefix holds."""
    owners: dict[str, list[str]] = defaultdict(list)
    for port in design.ports:
        if port.address:
            owners[port.address].append(f"{port.device} {port.name}")
    twice = {address: ports for address, ports in owners.items() if len(ports) > 1}
    if twice:
        address = min(twice)
        yield Finding(
            id="address-twice",
            severity="error",
            where=f"{address}: {listed(twice[address])}",
            text=f"addresses given twice: {len(twice):,}",
            remedy="larger prefixes that do not run into each other, or fewer adapters a machine",
        )


def _public(_inputs: DesignInputs, design: Design) -> Iterator[Finding]:
    """Report prefixes and autonomous system numbers that belong to somebody else."""
    public = [entry for entry in design.addresses if not _is_private_prefix(IPv4Network(entry.prefix))]
    if public:
        yield Finding(
            id="prefix-public",
            severity="warning",
            where=listed([f"{entry.name} {entry.prefix}" for entry in public]),
            text="the prefix is not one for private use",
            remedy="a prefix of RFC 1918, unless this one is yours",
        )
    numbers = sorted(
        {
            device.asn
            for device in design.devices
            if device.asn and device.asn <= LAST_ASN and not _is_private(device.asn)
        }
    )
    if numbers:
        yield Finding(
            id="asn-public",
            severity="warning",
            where=listed([str(number) for number in numbers]),
            text="the autonomous system number is not one for private use",
            remedy="64512 to 65534, or 4200000000 to 4294967294 (RFC 6996), unless this one is yours",
        )


def _beyond_range(_inputs: DesignInputs, design: Design) -> Iterator[Finding]:
    """Report autonomous system numbers that there are not."""
    beyond = sorted({device.asn for device in design.devices if device.asn and device.asn > LAST_ASN})
    if beyond:
        yield Finding(
            id="asn-range",
            severity="error",
            where=listed([str(number) for number in beyond]),
            text=f"an autonomous system number beyond {LAST_ASN}",
            remedy="a lower first number",
        )


def _shared_numbers(_inputs: DesignInputs, design: Design) -> Iterator[Finding]:
    """Report autonomous system numbers that devices share which must not: BGP drops routes with a number of its own."""
    owners: dict[int, set[str]] = defaultdict(set)
    for device in design.devices:
        if device.asn is not None:
            shares = device.role in {"spine", "super-spine"}
            owners[device.asn].add(f"{device.role} of pod {device.pod}" if shares else device.name)
    clashes = {number: names for number, names in owners.items() if len(names) > 1}
    if clashes:
        number = min(clashes)
        yield Finding(
            id="asn-shared",
            severity="error",
            where=f"AS {number}: {listed(sorted(clashes[number]))}",
            text=f"{counted(len(clashes), 'autonomous system number')} given to several devices, which so drop each "
            "other's routes",
            remedy="first numbers further apart: `addresses.spine_asn`, `leaf_asn` and `host_asn`",
        )


def _is_private_prefix(prefix: IPv4Network) -> bool:
    """Tell whether a prefix is for private use: RFC 1918."""
    return any(prefix.subnet_of(private) for private in PRIVATE_PREFIXES)


def _is_private(number: int) -> bool:
    """Tell whether a number is for private use: RFC 6996."""
    return any(first <= number <= last for first, last in PRIVATE_ASNS)


RULES: Final[tuple[Callable[[DesignInputs, Design], Iterator[Finding]], ...]] = (
    _too_small,
    _twice,
    _public,
    _beyond_range,
    _shared_numbers,
)
