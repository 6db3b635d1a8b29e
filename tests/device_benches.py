"""Devices for tests without a rack: an order, and a rack that notes what it is asked and remembers power."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sites import deployment_of

from kvplan.site.secrets import secret_references
from kvplan.twin.devices import devices_order
from kvplan.twin.rack.shell import RackError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from kvplan.twin.devices import DevicesOrder

SECRETS = {name: f"{name}-made-up" for name in secret_references(deployment_of(8).site)}
NODES = ("storage-001", "gpu-0001")


class FakeRack:
    """Nodes that are on or off, and have a system or none."""

    def __init__(self, nodes: Iterable[str] = NODES) -> None:
        self.nodes = {name: {"on": False, "blank": True} for name in nodes}
        self.asked: list[tuple[str, str]] = []
        self.laid: dict[str, dict[str, Any]] = {}
        self.settings: list[dict[str, Any]] = []
        self.refuses = ""
        self.looks = 0

    def request(self, verb: str, what: str = "", **more: Any) -> Any:
        """Do as a rack does."""
        self.looks += verb == "power"
        if verb == self.refuses:
            message = f"{verb} does not work"
            raise RackError(message)
        if verb == "power":
            return {name: dict(held) for name, held in self.nodes.items()}
        self.asked.append((verb, what))
        if verb in {"on", "off"}:
            self.nodes[what]["on"] = verb == "on"
        elif verb == "reinstall":
            self.nodes[what] = {"on": False, "blank": False}
            self.laid[what] = more
        elif verb == "configure":
            self.settings.append(more["settings"])
        return None


def order_in(rack: Path) -> DevicesOrder:
    """Order the devices of a deployment of eight storage nodes, in the rack of a directory."""
    return devices_order(deployment_of(8), SECRETS, rack)
