"""The time daemon: it follows the servers that it was configured with, as far as they answer.

The clock itself is that of the machine that simulates, and is not moved.
"""

from __future__ import annotations

import os
import time
from ipaddress import IPv4Address
from typing import TYPE_CHECKING

from kvplan.twin.programs.node.place import SHARED, Refused, said

if TYPE_CHECKING:
    from kvplan.twin.programs.node.place import Node

RUNNING = "/run/chrony/chronyd.json"
"""What the daemon read when it started."""
_CONFIGURATIONS = ("/etc/chrony.conf", "/etc/chrony/chrony.conf")
_WORDS = ("server", "pool", "peer")
_KNOWN = (
    *_WORDS,
    *("allow", "bindcmdaddress", "cmdport", "confdir", "driftfile", "hwtimestamp", "include", "keyfile", "leapsectz"),
    *("local", "log", "logdir", "makestep", "maxupdateskew", "minsources", "ntsdumpdir", "rtcsync", "sourcedir"),
)


def chronyd(node: Node, args: list[str]) -> int:
    """Run the daemon; a configuration that it does not understand ends it."""
    configuration = next((path for path in _CONFIGURATIONS if node.path(path).exists()), "")
    servers = []
    for number, line in enumerate(node.text(configuration).splitlines(), start=1):
        words = line.split()
        if not words or words[0][0] in "#!;%":
            continue
        if words[0] not in _KNOWN:
            message = f"Fatal error : Invalid directive at line {number} in file {configuration}"
            raise Refused(message)
        servers += words[1:2] if words[0] in _WORDS else []
    node.keep(RUNNING, {"pid": os.getpid(), "servers": servers})
    if "--no-wait" not in args:
        os.execvp("sleep", ["sleep", "infinity"])  # noqa: S606, S607 - no shell, and the daemon only stays
    return 0


def chronyc(node: Node, args: list[str]) -> int:
    """Ask the daemon."""
    words = [arg for arg in args if not arg.startswith("-")]
    running = node.document(RUNNING, None)
    if running is None or not node.path(f"/proc/{running['pid']}").exists():
        message = "506 Cannot talk to daemon"
        raise Refused(message)
    answering = [name for name in running["servers"] if name not in silent(node)]
    match words:
        case ["waitsync", *limits]:
            return _wait(answering, [float(word) for word in limits])
        case ["sources"]:
            said("MS Name/IP address         Stratum Poll Reach", "=" * 50)
            for name in running["servers"]:
                sign = "*" if name in answering[:1] else "+" if name in answering else "?"
                said(f"^{sign} {name:<28} 2   6   {377 if name in answering else 0}")
        case ["tracking"]:
            said(f"Reference ID    : {_reference(answering)}")
            said(f"Leap status     : {'Normal' if answering else 'Not synchronised'}")
        case ["makestep"] | ["burst", *_] | ["online"] | ["reload", *_]:
            said("200 OK")
        case _:
            message = "Unrecognized command"
            raise Refused(message)
    return 0


def silent(node: Node) -> list[str]:
    """List the time servers that do not answer, which a fault may say."""
    held: dict[str, list[str]] = node.document(f"{SHARED}/faults/silent-time-servers.json", {})
    return held.get(node.name, []) + held.get("all", [])


def _wait(answering: list[str], limits: list[float]) -> int:
    """Wait until a server is followed: at most so many tries, so many seconds apart."""
    tries = int(limits[0]) if limits else 0
    apart = limits[3] if len(limits) > 3 else 10  # noqa: PLR2004 - the fourth argument of waitsync
    count = 1
    while True:
        said(f"try: {count}, refid: {_reference(answering)}, correction: 0.000000000, skew: 0.000")
        if answering:
            return 0
        if count == tries:
            return 1
        count += 1
        time.sleep(apart)


def _reference(answering: list[str]) -> str:
    """Write the identifier of the server that is followed."""
    try:
        return f"{int(IPv4Address(answering[0])):08X}"
    except (IndexError, ValueError):
        return "7F7F0101" if answering else "00000000"
