"""Kernels that are installed, the one that starts, and the one that runs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kvplan.twin.programs.node.place import STATE, Refused, said

if TYPE_CHECKING:
    from kvplan.twin.programs.node.place import Node

RUNNING = f"{STATE}/kernel"
DEFAULT = "/boot/kvplan-twin-default"
DRIVER = "/usr/share/kvplan-twin/mlx5_core"
"""The driver of adapters that is installed beside that of the kernel."""
LOADED = f"{STATE}/mlx5_core"
_IMAGE = "/boot/vmlinuz-"


def installed(node: Node) -> list[str]:
    """List the kernels on the disk, the newest first."""
    names = (path.name.removeprefix("vmlinuz-") for path in node.path("/boot").glob("vmlinuz-*"))
    return sorted(names, key=_order, reverse=True)


def default(node: Node) -> str:
    """Return the kernel that starts: the one that was set, or the newest."""
    chosen, there = node.text(DEFAULT).strip(), installed(node)
    return chosen if chosen in there else (there[0] if there else str(node.facts.get("kernel", "")))


def driver(node: Node) -> str:
    """Return the version of the adapters' driver that would be loaded."""
    return node.text(DRIVER).strip() or "inbox"


def start(node: Node) -> None:
    """Start the default kernel, and with it the driver that is installed."""
    node.write(RUNNING, default(node))
    node.write(LOADED, driver(node))


def grubby(node: Node, args: list[str]) -> int:
    """Show or choose the kernel that starts."""
    for arg in args:
        option, _, value = arg.partition("=")
        if option == "--default-kernel":
            said(_IMAGE + default(node))
        elif option == "--set-default":
            if value.removeprefix(_IMAGE) not in installed(node):
                message = f"The param {value} is incorrect"
                raise Refused(message)
            node.write(DEFAULT, value.removeprefix(_IMAGE) + "\n")
        elif option == "--info":
            for index, name in enumerate(installed(node)):
                said(f"index={index}", f'kernel="{_IMAGE}{name}"')
        else:
            message = f"grubby: unrecognized option '{arg}'"
            raise Refused(message)
    return 0


def uname(node: Node, args: list[str]) -> int:
    """Say what runs, with the release of the simulated kernel."""
    own = node.run("/usr/bin/uname", "-r").strip()
    said(node.run("/usr/bin/uname", *args).strip().replace(own, node.text(RUNNING).strip() or own))
    return 0


def modinfo(node: Node, args: list[str]) -> int:
    """Show a field of the adapters' driver as it is on the disk."""
    match args:
        case ["-F" | "--field", "version" | "srcversion", "mlx5_core"]:
            said(driver(node))
            return 0
        case _:
            message = f"modinfo: ERROR: Module {args[-1] if args else ''} not found."
            raise Refused(message)


def openibd(node: Node, args: list[str]) -> int:
    """Load the driver of adapters again, as the service of that name does."""
    if args[:1] in (["restart"], ["start"]):
        node.write(LOADED, driver(node))
        return 0
    message = "Usage: openibd {start|restart}"
    raise Refused(message)


def _order(release: str) -> list[tuple[int, int, str]]:
    """Compare releases by their numbers."""
    return [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in re.findall(r"\d+|[a-z]+", release)]
