"""The forms of rendered files, read back: node files, option lists, RDMA ports and policy rules."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from kvplan.units import GIB, KIB, MIB, TIB

if TYPE_CHECKING:
    from collections.abc import Sequence

_NODE: Final = re.compile(r"([a-z0-9.-]+):(quorum|nonquorum)-(manager|client):([a-z0-9.-]+)")
_VERBS: Final = re.compile(r"([A-Za-z0-9_]+)/(\d+)(?:/(\d+))?")
_SIZE: Final = re.compile(r"(\d+)([kmgt]?)", re.IGNORECASE)
_UNITS: Final = {"": 1, "k": KIB, "m": MIB, "g": GIB, "t": TIB}


class NodeLine(NamedTuple):
    """A line of a node file."""

    daemon: str
    quorum: bool
    manager: bool
    admin: str


class VerbsPort(NamedTuple):
    """A port of `verbsPorts`; a missing fabric number is 0."""

    device: str
    port: int
    fabric: int


def parse_nodes(text: str) -> tuple[NodeLine, ...]:
    """Read a node file.

    Parameters
    ----------
    text
        A line a node: daemon name, designation, admin name.

    Returns
    -------
    tuple of NodeLine
        The nodes, in order.

    Raises
    ------
    ValueError
        With the number of the first line of another form.

    Examples
    --------
    >>> parse_nodes("s1-kv:quorum-manager:s1-adm")[0].quorum
    True
    """
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        match = _NODE.fullmatch(line)
        if match is None:
            message = f"line {number}: {line!r} is not daemon:designation:admin"
            raise ValueError(message)
        daemon, quorum, manager, admin = match.groups()
        lines.append(NodeLine(daemon, quorum == "quorum", manager == "manager", admin))
    return tuple(lines)


def parse_verbs(value: str) -> tuple[VerbsPort, ...]:
    """Read `verbsPorts`.

    Parameters
    ----------
    value
        Ports as device/port/fabric, parted by spaces.

    Returns
    -------
    tuple of VerbsPort
        The ports, in order.

    Raises
    ------
    ValueError
        When a port has another form.

    Examples
    --------
    >>> parse_verbs("mlx5_client1p0/1/2")
    (VerbsPort(device='mlx5_client1p0', port=1, fabric=2),)
    """
    ports = []
    for word in value.split():
        match = _VERBS.fullmatch(word)
        if match is None:
            message = f"{word!r} is not device/port/fabric"
            raise ValueError(message)
        device, port, fabric = match.groups()
        ports.append(VerbsPort(device, int(port), int(fabric or 0)))
    return tuple(ports)


def size_bytes(text: str) -> int | None:
    """Read a size such as `16M` [B]; None for another form.

    >>> size_bytes("16M"), size_bytes("8589934592"), size_bytes("25%")
    (16777216, 8589934592, None)
    """
    match = _SIZE.fullmatch(text)
    return int(match[1]) * _UNITS[match[2].lower()] if match else None


def option(argv: Sequence[str], name: str) -> str | None:
    """Return the word after an option; None where the option is not given, or ends the line.

    >>> option(["mmcrfs", "-T", "/kvfs"], "-T")
    '/kvfs'
    """
    return next((argv[place + 1] for place, word in enumerate(argv[:-1]) if word == name), None)
