"""Addresses and autonomous system numbers: each follows from a device's own number, so growth renumbers nothing."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from ipaddress import IPv4Network
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from kvplan.schema.design import AddressRange
from kvplan.schema.roles import FABRIC_ROLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kvplan.core.design.machines import HostLeg
    from kvplan.schema.build import AddressRanges
    from kvplan.schema.design import Device, Port
    from kvplan.schema.roles import Network, Rail, Role

LINK_ADDRESSES: Final = 2
"""Addresses of a /31, RFC 3021."""
LEGS_PER_RAIL: Final[dict[Network, int]] = {"storage-client": 4, "storage": 4, "client": 8}
"""/31 links set aside a machine on a rail, so that a second adapter takes none of its neighbour's."""
MANAGEMENT_STRIDE: Final = 8
"""Management addresses set aside a device."""
_MANAGEMENT_PARTS: Final = 16
_MANAGEMENT_PART: Final[dict[Role, int]] = {
    "storage": 1,
    "leaf": 2,
    "spine": 3,
    "super-spine": 4,
    "management-switch": 5,
    "control": 6,
    "client": 8,
}
"""First sixteenth of the management prefix that a role takes; client servers take all from there on."""
# Leaves take two blocks, so that super-spines begin with the fourth.
_SWITCH_BLOCK: Final = 1024
_SWITCH_PART: Final[dict[Role, int]] = {"spine": 0, "leaf": 1, "super-spine": 3}
# Room for 10,000 storage nodes before the first GPU server.
_CLIENT_ASN: Final = 10_000


class Numbering(NamedTuple):
    """Loopback and autonomous system number of a device; empty and absent where it has none."""

    loopback: str
    asn: int | None


def host_link(ranges: AddressRanges, leg: HostLeg) -> tuple[str, str]:
    """Give the /31 of a machine's port: the even address to the switch, the odd one to the machine.

    link = (number - 1) x links set aside + position on the rail; address = base of network and rail + 2 x link

    Parameters
    ----------
    ranges
        Prefixes of each network and rail.
    leg
        The machine's port.

    Returns
    -------
    tuple of str
        Address of the switch and of the machine, each with its length /31.

    References
    ----------
    RFC 3021, 31-bit prefixes on point-to-point links; the rest is derived.

    Examples
    --------
    >>> from kvplan.reference import INPUTS
    >>> from kvplan.core.design.machines import adapters_of, legs_of, machines_of
    >>> leg = next(legs_of(machines_of(INPUTS, 1)[1], adapters_of(INPUTS.plan.parts, "storage")[0]))
    >>> host_link(INPUTS.options.addresses, leg)
    ('10.64.0.8/31', '10.64.0.9/31')
    """
    link = (leg.machine.number - 1) * LEGS_PER_RAIL[leg.network] + leg.position
    first = _first(getattr(ranges, _host_option(leg.network, leg.rail))) + LINK_ADDRESSES * link
    return f"{_dotted(first)}/31", f"{_dotted(first + 1)}/31"


def numbering(ranges: AddressRanges, role: Role, number: int, pod: int = 1) -> Numbering:
    """Give a device its loopback and autonomous system number.

    loopback = base of the role + number; leaves and hosts have a number of their own, the spines of a pod share one,
    and so do the super-spines

    Parameters
    ----------
    ranges
        Prefixes and first autonomous system numbers.
    role
        What the device is.
    number
        Its number within the role, from 1 [1]; leaves are counted pair by pair, rail a before rail b.
    pod
        The pod of a spine, from 1 [1].

    Returns
    -------
    Numbering
        Loopback with its length /32, and number [1].

    References
    ----------
    RFC 7938 section 5.2.1, numbers for a Clos network; RFC 6996, numbers for private use.

    Examples
    --------
    >>> from kvplan.schema.build import AddressRanges
    >>> numbering(AddressRanges(), "leaf", 2)
    Numbering(loopback='10.72.4.2/32', asn=4200001002)
    >>> numbering(AddressRanges(), "control", 1)
    Numbering(loopback='', asn=None)
    """
    if role in FABRIC_ROLES:
        asn = {"leaf": ranges.leaf_asn + number, "spine": ranges.spine_asn + pod}.get(role, ranges.spine_asn)
        return Numbering(_loopback(ranges.switch_loopbacks, _SWITCH_PART[role] * _SWITCH_BLOCK + number), asn)
    if role == "storage":
        return Numbering(_loopback(ranges.storage_loopbacks, number), ranges.host_asn + number)
    if role == "client":
        return Numbering(_loopback(ranges.client_loopbacks, number), ranges.host_asn + _CLIENT_ASN + number)
    return Numbering("", None)


def management_address(ranges: AddressRanges, role: Role, number: int, port: int) -> str:
    """Give a management port its address.

    address = base + part of the role x size / 16 + number x 8 + port

    Parameters
    ----------
    ranges
        The management prefix.
    role
        What the device is.
    number
        Its number within the role, from 1 [1].
    port
        Which of its management ports, from 0 [1].

    Returns
    -------
    str
        The address with the length of the management prefix.

    References
    ----------
    Derived.

    Examples
    --------
    >>> from kvplan.schema.build import AddressRanges
    >>> management_address(AddressRanges(), "storage", 1, 0)
    '172.24.64.8/14'
    """
    network = _network(ranges.management)
    start = network.num_addresses * _MANAGEMENT_PART[role] // _MANAGEMENT_PARTS
    address = _first(ranges.management) + start + number * MANAGEMENT_STRIDE + port
    return f"{_dotted(address)}/{network.prefixlen}"


def address_ranges(ranges: AddressRanges, devices: Iterable[Device], ports: Iterable[Port]) -> tuple[AddressRange, ...]:
    """Say how much of each prefix a design takes.

    used = links or addresses handed out, reach = place of the last one

    Parameters
    ----------
    ranges
        The prefixes.
    devices
        All devices, with their loopbacks.
    ports
        All ports, with their addresses.

    Returns
    -------
    tuple of AddressRange
        Used, reach and capacity [1]: links of a host prefix, addresses of the others, the management prefix by role.

    References
    ----------
    Derived; a reach beyond the capacity means that the prefix is too small.

    Examples
    --------
    >>> from kvplan.core.design.engine import design_of
    >>> from kvplan.reference import INPUTS
    >>> design = design_of(INPUTS)
    >>> [(entry.name, entry.prefix, entry.used, entry.reach) for entry in design.addresses][:2]
    [('storage_client_a', '10.64.0.0/20', 8, 29), ('storage_client_b', '10.65.0.0/20', 8, 29)]
    """
    roles = {device.name: device.role for device in devices}
    taken: dict[_Pool, set[int]] = defaultdict(set)
    for pool, address in (*_port_addresses(ranges, ports, roles), *_loopbacks(ranges, devices)):
        taken[pool].add(_number(address.partition("/")[0]))
    order = list(type(ranges).model_fields)
    pools = sorted(taken, key=lambda pool: (order.index(pool.option), _first(pool.prefix)))
    return tuple(_range(pool, taken[pool]) for pool in pools)


class _Pool(NamedTuple):
    """A prefix from which is handed out: its name, the option that sets it, and what is counted in it."""

    name: str
    option: str
    prefix: str
    counts: Literal["links", "addresses"]


def _port_addresses(
    ranges: AddressRanges, ports: Iterable[Port], roles: Mapping[str, Role]
) -> Iterator[tuple[_Pool, str]]:
    """Yield each port's address with the pool that it is from."""
    for port in ports:
        if port.network == "management" and port.address:
            role = roles[port.device]
            prefix = _management_prefix(ranges, role)
            yield _Pool(f"management_{role}", "management", prefix, "addresses"), port.address
        elif port.address:
            option = _host_option(port.network, port.rail)
            yield _Pool(option, option, getattr(ranges, option), "links"), port.address


def _loopbacks(ranges: AddressRanges, devices: Iterable[Device]) -> Iterator[tuple[_Pool, str]]:
    """Yield each device's loopback with the pool that it is from."""
    for device in devices:
        if device.loopback:
            option = f"{'switch' if device.role in FABRIC_ROLES else device.role}_loopbacks"
            yield _Pool(option, option, getattr(ranges, option), "addresses"), device.loopback


def _host_option(network: Network, rail: Rail) -> str:
    """Name the option that sets the prefix of a network on a rail."""
    return f"{network.replace('-', '_')}_{rail}"


def _management_prefix(ranges: AddressRanges, role: Role) -> str:
    """Return the part of the management prefix that a role takes: a sixteenth, or the upper half for the clients."""
    network, part = _network(ranges.management), _MANAGEMENT_PART[role]
    first = _first(ranges.management) + network.num_addresses * part // _MANAGEMENT_PARTS
    bits = 1 if role == "client" else 4
    return f"{_dotted(first)}/{min(network.prefixlen + bits, 32)}"


def _range(pool: _Pool, taken: set[int]) -> AddressRange:
    """Count what one pool hands out, and how far that reaches, which may be beyond its end."""
    size = LINK_ADDRESSES if pool.counts == "links" else 1
    return AddressRange(
        name=pool.name,
        option=pool.option,
        counts=pool.counts,
        prefix=pool.prefix,
        used=len(taken) // size,
        reach=(max(taken) - _first(pool.prefix)) // size + 1,
        capacity=_network(pool.prefix).num_addresses // size,
    )


def _loopback(prefix: str, number: int) -> str:
    """Count up from the base of a prefix."""
    return f"{_dotted(_first(prefix) + number)}/32"


@lru_cache(maxsize=256)
def _network(prefix: str) -> IPv4Network:
    """Read a prefix once."""
    return IPv4Network(prefix)


@lru_cache(maxsize=256)
def _first(prefix: str) -> int:
    """Return the first address of a prefix as a number."""
    return int(_network(prefix).network_address)


def _dotted(number: int) -> str:
    """Write an address in dotted form."""
    return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))


def _number(address: str) -> int:
    """Read a dotted address."""
    value = 0
    for part in address.split("."):
        value = value << 8 | int(part)
    return value
