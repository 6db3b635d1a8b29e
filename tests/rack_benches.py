"""Stand-ins for a rack's machine: commands that are noted instead of run, and nodes that are plain processes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sites import deployment_of

from kvplan.twin.rack.keeper import Keeper
from kvplan.twin.rack.order import RackOrder
from kvplan.twin.rack.plan import rack_plan
from kvplan.twin.rack.shell import RackError

if TYPE_CHECKING:
    from pathlib import Path

PLAN = rack_plan(deployment_of(8), ["storage-001", "gpu-0001"], ["leaf-001a"])


class Commands:
    """Notes commands with what they read; `refuses` makes those that hold a word fail."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.refuses = ""
        self.links = [
            {
                "ifname": "lo",
                "addr_info": [_inet("127.0.0.1", 8), {"family": "inet6", "local": "::1", "prefixlen": 128}],
            },
            {"ifname": "tunl0", "addr_info": [], "linkinfo": {"info_kind": "ipip"}},
            {"ifname": "eth0", "addr_info": [_inet("172.24.128.8", 14)], "linkinfo": {"info_kind": "veth"}},
            {"ifname": "swp1s0", "addr_info": [_inet("10.9.9.8", 31)], "linkinfo": {"info_kind": "veth"}},
        ]

    def __call__(self, *command: str, stdin: str = "", seconds: float = 60) -> str:
        """Note a command."""
        text = " ".join(command)
        assert seconds
        self.seen += [text, *stdin.splitlines()]
        if self.refuses and self.refuses in text:
            message = f"{text}: exit code 1"
            raise RackError(message)
        return json.dumps(self.links) if "show" in command else ""


def keeper_in(place: Path, commands: Commands, **more: object) -> Keeper:
    """Return a keeper whose commands are noted."""
    keys = {node.name: "KEY\n" for node in PLAN.nodes}
    order = RackOrder.model_validate({"plan": PLAN, "host_keys": keys, "authorised": "ssh-ed25519 AAAA\n", **more})
    return Keeper(order, place / "disks", place / "etc", place / "state", command=commands)


def _inet(address: str, length: int) -> dict[str, object]:
    """Return an address as `ip -json` shows it."""
    return {"family": "inet", "local": address, "prefixlen": length}
