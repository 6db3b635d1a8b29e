"""How each fault comes about on a rack, and how it ends: by what a person, a cable or a power cord would do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from kvplan.rehearsal.standing import WORLD
from kvplan.twin.rack import clock
from kvplan.twin.scale import planned

if TYPE_CHECKING:
    from kvplan.rehearsal.standing import Rehearsal

CONTROLLER: Final = ("busy", "sessions", "override", "licence")
"""Answers 503; refuses a further session; loses the boot override; lacks the licence."""
SWITCH: Final = ("bgp",)
"""Loses its sessions as soon as a change is applied."""
DRIVE: Final = ("serial", "signature", "cache")
"""Another drive than the planned one; something lies on it; its volatile write cache is on."""
_UNTIL_MENDED: Final = 1_000_000
_AHEAD_S: Final = 7_200


def nothing(rehearsal: Rehearsal, target: str, detail: str) -> None:
    """Leave the rack alone."""


def cut_link(rehearsal: Rehearsal, device: str, port: str) -> None:
    """Pull a cable."""
    rehearsal.rack.request("cut", f"link:{device}:{port}")


def restore_link(rehearsal: Rehearsal, device: str, port: str) -> None:
    """Put a cable back."""
    rehearsal.rack.request("restore", f"link:{device}:{port}")


def kill_sshd(rehearsal: Rehearsal, node: str, _: str) -> None:
    """End a node's SSH server."""
    rehearsal.rack.request("kill-sshd", node)


def start_sshd(rehearsal: Rehearsal, node: str, _: str) -> None:
    """Start it again."""
    face = next(held.face for held in rehearsal.rack.plan.nodes if held.name == node)
    rehearsal.rack.run(node, "systemctl", "start", "sshd" if face == "rhel" else "ssh")


def power_off(rehearsal: Rehearsal, node: str, _: str) -> None:
    """Pull a node's power cord."""
    rehearsal.devices.request("power", node, to="off")


def power_on(rehearsal: Rehearsal, node: str, _: str) -> None:
    """Switch a node on, and wait until it answers, if there is a system on its disk."""
    rehearsal.devices.request("power", node, to="on")
    if not rehearsal.rack.request("power")[node]["blank"]:
        rehearsal.rack.wait([node])


def trouble_controller(rehearsal: Rehearsal, node: str, what: str) -> None:
    """Let a controller behave badly."""
    rehearsal.devices.request("bmc", node, fault=what, times=_UNTIL_MENDED)


def calm_controller(rehearsal: Rehearsal, node: str, _: str) -> None:
    """Let it behave again."""
    rehearsal.devices.request("bmc", node, fault="")


def trouble_switch(rehearsal: Rehearsal, switch: str, what: str) -> None:
    """Let a switch behave badly."""
    rehearsal.devices.request("switch", switch, fault=what)


def calm_switch(rehearsal: Rehearsal, switch: str, _: str) -> None:
    """Let it behave again."""
    rehearsal.devices.request("switch", switch, fault="")


def spoil_drive(rehearsal: Rehearsal, node: str, what: str) -> None:
    """Make a node's first data drive another one than was planned."""
    spoilt: dict[str, dict[str, Any]] = {
        "serial": {"serial": "ANOTHER1"},
        "signature": {"signature": "xfs"},
        "cache": {"write_cache": True},
    }
    planned.drive(rehearsal.scale, node, 1, **spoilt[what])


def replace_drive(rehearsal: Rehearsal, node: str, _: str) -> None:
    """Make it the planned one again, with nothing on it."""
    world = json.loads((rehearsal.directory / WORLD).read_text(encoding="utf-8"))
    planned.drive(rehearsal.scale, node, **world["machines"][node]["drives"][0])


def fill_disk(rehearsal: Rehearsal, node: str, _: str) -> None:
    """Leave no room on a node's disk."""
    rehearsal.rack.request("fill", node)


def free_disk(rehearsal: Rehearsal, node: str, _: str) -> None:
    """Make room on it."""
    rehearsal.rack.request("free", node)


def skew_clock(rehearsal: Rehearsal, node: str, _: str) -> None:
    """Put a node's clock two hours ahead."""
    clock.skew(rehearsal.rack, node, _AHEAD_S)


def set_clock(rehearsal: Rehearsal, node: str, _: str) -> None:
    """Put it right."""
    clock.skew(rehearsal.rack, node, 0)
