"""How the parts of a Design are named: roles, networks, speeds, places and lists of names."""

from __future__ import annotations

import re
from ipaddress import IPv4Interface
from itertools import groupby
from typing import TYPE_CHECKING

from kvplan.schema.roles import ROLE_NOUNS
from kvplan.units import format_line_rate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvplan.schema.cabling import Medium
    from kvplan.schema.design import Cable, Device
    from kvplan.schema.roles import Network, Role

OUTWARDS: tuple[Role, ...] = (
    "super-spine", "spine", "leaf", "management-switch", "storage", "client", "control",
)  # fmt: skip
"""Roles from the core of the fabric outwards."""
UP: dict[Role, Network] = {"leaf": "uplink", "spine": "super-uplink"}
"""The network that leads from a switch towards the core."""
NETWORK_TITLES: dict[Network, str] = {
    "storage-client": "storage nodes to clients",
    "storage": "between storage nodes",
    "client": "GPU servers",
    "uplink": "leaf to spine",
    "super-uplink": "spine to super-spine",
    "management": "management",
}
MEDIUM_TITLES: dict[Medium, str] = {
    "passive-copper": "passive copper",
    "active-copper": "active copper",
    "multimode": "multimode fibre",
    "single-mode": "single-mode fibre",
    "twisted-pair": "twisted pair",
}
NO_CABLE = "none"
"""What stands for the family of a link that no cable family joins."""
_NUMBERED = re.compile(r"(?P<stem>.*?)(?P<number>\d+)(?P<rest>\D*)")


def bundle(legs: int, bits_per_s: float) -> str:
    """Write so many legs of a rate.

    >>> bundle(8, 400e9)
    '8 x 400G'
    """
    return f"{legs} x {format_line_rate(bits_per_s)}"


def unit(device: Device) -> str:
    """Write the units that a device takes, the lowest first: `U12`, `U12-13`."""
    return f"U{device.units[0]}" if len(device.units) == 1 else f"U{device.units[0]}-{device.units[-1]}"


def medium_of(cable: Cable) -> str:
    """Write the medium of a cable; a link without one has none."""
    return "" if cable.is_open else MEDIUM_TITLES[cable.medium]


def length_of(cable: Cable) -> float | None:
    """Return the length of a cable [m]; a link without one has none."""
    return None if cable.is_open else cable.length_m


def prefix_of(address: str) -> str:
    """Return the prefix of an address.

    >>> prefix_of("10.64.0.1/31"), prefix_of("10.72.0.1"), prefix_of("")
    ('10.64.0.0/31', '10.72.0.1/32', '')
    """
    return str(IPv4Interface(address).network) if address else ""


def title(role: Role) -> str:
    """Write what a device is where a text begins with it.

    >>> title("storage"), title("client")
    ('Storage node', 'GPU server')
    """
    noun, _ = ROLE_NOUNS[role]
    return f"{noun[0].upper()}{noun[1:]}"


def counted_title(count: int, role: Role) -> str:
    """Write so many devices of a role.

    >>> counted_title(2, "leaf"), counted_title(1, "spine"), counted_title(1_003, "client")
    ('2 leaves', '1 spine', '1,003 GPU servers')
    """
    one, several = ROLE_NOUNS[role]
    return f"{count:,} {one if count == 1 else several}"


def spans(names: Iterable[str], most: int | None = None) -> str:
    """Write names shortly: those that follow each other as a range, and of many ranges the first and how many more.

    >>> spans(["rack-01", "rack-02", "rack-03", "rack-07"]), spans(["leaf-001a", "leaf-001b"]), spans([])
    ('rack-01 to rack-03, rack-07', 'leaf-001a, leaf-001b', '')
    >>> spans(["rack-01", "rack-02", "rack-04", "rack-06", "rack-08"], 2)
    'rack-01, rack-02, rack-04 and 2 more'
    """
    ordered = sorted((*_parted(name), name) for name in names)
    # Of names that follow each other, the number less the place in the list stays the same.
    grouped = groupby(enumerate(ordered), key=lambda item: (item[1][0], item[1][1] - item[0]))
    runs = [[name for _, (_, _, name) in run] for _, run in grouped]
    shown = ", ".join(map(_run, runs[:most]))
    more = sum(map(len, runs[len(runs[:most]) :]))
    return f"{shown} and {more:,} more" if more else shown


def _run(names: list[str]) -> str:
    """Write names that follow each other."""
    return ", ".join(names) if len(names) <= 2 else f"{names[0]} to {names[-1]}"  # noqa: PLR2004 - no range of two


def _parted(name: str) -> tuple[tuple[str, str], int]:
    """Part a name into what stays and the last number in it; a name without one stands for itself."""
    match = _NUMBERED.fullmatch(name)
    return ((match["stem"], match["rest"]), int(match["number"])) if match else ((name, ""), 0)
