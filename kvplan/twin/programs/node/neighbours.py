"""The daemon that tells neighbours by LLDP who a node is, and what it hears of them: real frames on real links."""

from __future__ import annotations

import json
import os
import re
import select
import socket
import struct
import time
from typing import TYPE_CHECKING, Any

from kvplan.twin.programs.node.place import Refused, said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.twin.programs.node.place import Node

RUNNING = "/run/lldpd/state.json"
_PROTOCOL = 0x88CC
_MULTICAST = bytes.fromhex("0180c200000e")
_EVERY_S = 30.0
_LIVES_S = 120
_CHASSIS, _PORT, _LIFE, _PORT_TEXT, _NAME = 1, 2, 3, 4, 5
_MAC, _INTERFACE = 4, 5
_HEADER = 14


def frame(mac: str, port: str, name: str) -> bytes:
    """Build a frame that says who a port belongs to.

    Parameters
    ----------
    mac
        The MAC address of the port.
    port
        Its name.
    name
        The name of the system.

    Returns
    -------
    bytes
        An Ethernet frame.
    """
    own = bytes.fromhex(mac.replace(":", ""))
    parts = [
        _part(_CHASSIS, bytes([_MAC]) + own),
        _part(_PORT, bytes([_INTERFACE]) + port.encode()),
        _part(_LIFE, struct.pack("!H", _LIVES_S)),
        _part(_PORT_TEXT, port.encode()),
        _part(_NAME, name.encode()),
        _part(0, b""),
    ]
    return _MULTICAST + own + struct.pack("!H", _PROTOCOL) + b"".join(parts)


def heard(data: bytes) -> dict[str, str]:
    """Read a frame.

    Parameters
    ----------
    data
        An Ethernet frame.

    Returns
    -------
    dict of str
        `name` of the system and its `port`, as far as they are told.
    """
    words = {_NAME: "name", _PORT: "port"}
    found, rest = {}, data[_HEADER:]
    while len(rest) >= 2:  # noqa: PLR2004 - a header of two bytes
        header = struct.unpack("!H", rest[:2])[0]
        kind, value = header >> 9, rest[2 : 2 + (header & 0x1FF)]
        rest = rest[2 + len(value) :]
        if kind == 0:
            break
        if kind in words:
            found[words[kind]] = value[1 if kind == _PORT else 0 :].decode(errors="replace")
    return found


def name_of(node: Node) -> str:
    """Return the name that the configuration says, or the host's."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(node.path("/etc/lldpd.d").glob("*.conf"))]
    found = re.findall(r"(?m)^configure system hostname (\S+)", "\n".join(texts))
    return str(found[-1]) if found else node.text("/etc/hostname").strip()


def lldpd(node: Node, args: list[str]) -> int:
    """Run the daemon."""
    name, sockets = name_of(node), dict(_sockets(node))
    neighbours: dict[str, Any] = {}
    node.keep(RUNNING, {"pid": os.getpid(), "name": name, "neighbours": neighbours})
    due = time.monotonic()
    while "--no-wait" not in args:
        if time.monotonic() >= due:
            for port, link in sockets.items():
                _send(link, frame(link.getsockname()[4].hex(":"), port, name))
            due = time.monotonic() + _EVERY_S
        ready, _, _ = select.select(list(sockets.values()), [], [], max(0.0, due - time.monotonic()))
        for link in ready:
            data, (port, _, kind, *_rest) = link.recvfrom(2048)
            if kind != socket.PACKET_OUTGOING and (told := heard(data)) != neighbours.get(port):
                neighbours[port] = told
                node.keep(RUNNING, {"pid": os.getpid(), "name": name, "neighbours": neighbours})
    return 0


def lldpcli(node: Node, args: list[str]) -> int:
    """Show what the daemon heard."""
    running = node.document(RUNNING, None)
    if running is None or not node.path(f"/proc/{running['pid']}").exists():
        message = "[WARN/lldpctl] unable to connect to socket: is lldpd running?"
        raise Refused(message)
    neighbours: dict[str, Any] = running["neighbours"]
    if "json" in args:
        said(json.dumps({"lldp": {"interface": [_shown(port, told) for port, told in neighbours.items()]}}, indent=2))
        return 0
    said("-" * 79, "LLDP neighbors:", "-" * 79)
    for port, told in neighbours.items():
        said(f"Interface:    {port}, via: LLDP", f"    SysName:      {told.get('name', '?')}")
        said(f"    PortID:       ifname {told.get('port')}", "-" * 79)
    return 0


def _shown(port: str, told: dict[str, str]) -> dict[str, Any]:
    """Return what JSON output says of a neighbour."""
    return {
        port: {"chassis": {told.get("name", "?"): {}}, "port": {"id": {"type": "ifname", "value": told.get("port")}}}
    }


def _part(kind: int, value: bytes) -> bytes:
    """Write one part of a frame."""
    return struct.pack("!H", kind << 9 | len(value)) + value


def _send(link: socket.socket, data: bytes) -> None:
    """Send a frame; a port that is down sends none."""
    try:
        link.send(data)
    except OSError:
        return


def _sockets(node: Node) -> Iterator[tuple[str, socket.socket]]:
    """Listen on each port that the machine has."""
    for port in node.facts["ports"]:
        try:
            link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_PROTOCOL))
            link.bind((port["name"], _PROTOCOL))
        except OSError:
            continue
        yield port["name"], link
