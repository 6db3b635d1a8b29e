"""The tuning daemon: which profile is set, and whether there is one of that name."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kvplan.twin.programs.node.place import Refused, said

if TYPE_CHECKING:
    from kvplan.twin.programs.node.place import Node

RUNNING = "/run/tuned/tuned.pid"
_ACTIVE = "/etc/tuned/active_profile"
_MODE = "/etc/tuned/profile_mode"
PROFILES = {
    "accelerator-performance": "Throughput performance based tuning with disabled higher latency STOP states",
    "balanced": "General non-specialized tuned profile",
    "hpc-compute": "Optimize for HPC compute workloads",
    "latency-performance": "Optimize for deterministic performance at the cost of increased power consumption",
    "network-latency": "Optimize for deterministic performance at the cost of increased power consumption, focused on "
    "low latency network performance",
    "network-throughput": "Optimize for streaming network throughput",
    "powersave": "Optimize for low power consumption",
    "throughput-performance": "Broadly applicable tuning that provides excellent performance across a variety of "
    "common server workloads",
    "virtual-guest": "Optimize for running inside a virtual guest",
}
"""Profiles of the package, with what each is for."""
RECOMMENDED = "balanced"
"""What the daemon takes for a server that nobody has told anything."""


def tuned(node: Node, args: list[str]) -> int:
    """Run the daemon: it takes the profile that was set, or the one it recommends."""
    if not node.text(_ACTIVE).strip():
        node.write(_ACTIVE, RECOMMENDED + "\n")
        node.write(_MODE, "auto\n")
    node.write(RUNNING, f"{os.getpid()}\n")
    if "--no-wait" not in args:
        os.execvp("sleep", ["sleep", "infinity"])  # noqa: S606, S607 - no shell, and the daemon only stays
    return 0


def tuned_adm(node: Node, args: list[str]) -> int:
    """Show or set the profile."""
    match args:
        case ["active"]:
            return _active(node)
        case ["list"] | ["list", "profiles"]:
            said("Available profiles:", *(f"- {name:<28}- {what}" for name, what in PROFILES.items()))
            return _active(node)
        case ["recommend"]:
            said(RECOMMENDED)
            return 0
        case ["profile", name]:
            if name not in PROFILES:
                message = f"Requested profile '{name}' doesn't exist."
                raise Refused(message)
            node.write(_ACTIVE, name + "\n")
            node.write(_MODE, "manual\n")
            return 0
        case ["off"]:
            node.write(_ACTIVE, "\n")
            return 0
    message = "tuned-adm: error: invalid choice: " + " ".join(args)
    raise Refused(message, 2)


def _active(node: Node) -> int:
    """Say which profile is active, or that no daemon runs."""
    name = node.text(_ACTIVE).strip()
    if not node.path(RUNNING).exists():
        said("It seems that tuned daemon is not running, preset profile is not activated.", f"Preset profile: {name}")
        return 2
    if not name:
        said("No current active profile.")
        return 1
    said(f"Current active profile: {name}")
    return 0
