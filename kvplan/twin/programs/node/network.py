"""NetworkManager: reads profiles when it is told to, and sets addresses, routes and rules with `ip`.

As the real one does, it knows the profiles as they were when it last read them, brings up at once what fits to a device
that has no connection, and takes a connection down whose profile is gone.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from kvplan.twin.programs.node import keyfiles
from kvplan.twin.programs.node.place import Refused, said

if TYPE_CHECKING:
    from kvplan.twin.programs.node.keyfiles import Profile
    from kvplan.twin.programs.node.place import Node

PROFILES = "/etc/NetworkManager/system-connections"
RUNNING = "/run/NetworkManager/state.json"
_UNKNOWN, _FAILED, _STOPPED = 10, 4, 8


class Manager:
    """What the daemon knows: profiles by file as they were read, and by device the file whose profile is up."""

    def __init__(self, node: Node) -> None:
        self.node = node
        held: dict[str, Any] = node.document(RUNNING, None) or {"texts": {}, "up": {}, "rules": {}}
        self.texts: dict[str, str] = held["texts"]
        self.up: dict[str, str] = held["up"]
        self.rules: dict[str, list[str]] = held["rules"]

    def profiles(self) -> dict[str, Profile]:
        """Return the profiles that it knows, by file."""
        return {file: keyfiles.parsed(text, file.rpartition(".")[0]) for file, text in self.texts.items()}

    def reload(self) -> None:
        """Read the files, drop connections whose profile is gone, and bring up what then fits."""
        owner = self.node.root.stat().st_uid if self.node.root.as_posix() != "/" else os.geteuid()
        files = sorted(self.node.path(PROFILES).glob("*.nmconnection"))
        self.texts = {
            file.name: file.read_text(encoding="utf-8")
            for file in files
            if keyfiles.read(file, owner=owner) is not None
        }
        for device, file in list(self.up.items()):
            if file not in self.texts:
                self.deactivate(device)
        self.bring_up()
        self.save()

    def bring_up(self) -> None:
        """Activate on each device that has no connection the first profile that fits and asks for it."""
        for device, mac, addresses in self.devices():
            for file, profile in self.profiles().items():
                if device not in self.up and profile.autoconnect and profile.fits(device, mac):
                    self.activate(file, profile, device, addresses)

    def activate(self, file: str, profile: Profile, device: str, addresses: list[str]) -> None:
        """Make a device as a profile says."""
        lines = [f"rule del {rule}" for rule in self.rules.pop(device, [])]
        lines += keyfiles.activation(profile, device, addresses)
        added = keyfiles.rules(profile)
        self.node.run("ip", "-batch", "-", stdin="\n".join([*lines, *(f"rule add {rule}" for rule in added)]))
        self.rules[device] = added
        self.up[device] = file

    def deactivate(self, device: str) -> None:
        """Take from a device what a profile gave it."""
        lines = [f"rule del {rule}" for rule in self.rules.pop(device, [])]
        if device != "lo":
            lines += [f"route flush dev {device} table all proto static", f"address flush dev {device} scope global"]
        self.node.run("ip", "-force", "-batch", "-", stdin="\n".join(lines), check=False)
        self.up.pop(device, None)

    def devices(self) -> list[tuple[str, str, list[str]]]:
        """List the interfaces: name, MAC address and addresses with their lengths, without those of the link."""
        rows = json.loads(self.node.run("ip", "-json", "address", "show") or "[]")
        return [
            (
                row["ifname"],
                row.get("address", "").lower(),
                [f"{a['local']}/{a['prefixlen']}" for a in row.get("addr_info", []) if a.get("scope") != "link"],
            )
            for row in rows
            if row.get("ifname")
        ]

    def named(self, name: str) -> tuple[str, Profile]:
        """Find a profile by its name."""
        for file, profile in self.profiles().items():
            if profile.id == name:
                return file, profile
        message = f"Error: unknown connection '{name}'."
        raise Refused(message, _UNKNOWN)

    def save(self) -> None:
        """Keep what is known until the next command."""
        self.node.keep(RUNNING, {"texts": self.texts, "up": self.up, "rules": self.rules})


def daemon(node: Node, _args: list[str]) -> int:
    """Start, as the service does: everything that fits comes up."""
    Manager(node).reload()
    return 0


def nmcli(node: Node, args: list[str]) -> int:
    """Do what the command line of NetworkManager is asked."""
    words = [arg for arg in args if not arg.startswith("-")]
    if not node.path(RUNNING).exists():
        message = "Error: NetworkManager is not running."
        raise Refused(message, _STOPPED)
    manager = Manager(node)
    match words:
        case ["c" | "con" | "connection", "reload"]:
            manager.reload()
        case ["c" | "con" | "connection", "up", "id", name] | ["c" | "con" | "connection", "up", name]:
            _up(manager, name)
        case ["c" | "con" | "connection", "down", "id", name] | ["c" | "con" | "connection", "down", name]:
            _down(manager, name)
        case ["c" | "con" | "connection", "delete", "id", name] | ["c" | "con" | "connection", "delete", name]:
            _delete(manager, name)
        case ["c" | "con" | "connection"] | ["c" | "con" | "connection", "show"]:
            devices = {file: device for device, file in manager.up.items()}
            _table([keyfiles.shown(profile, devices.get(file, "")) for file, profile in manager.profiles().items()])
        case ["d" | "dev" | "device"] | ["d" | "dev" | "device", "status"]:
            _table(_devices(manager))
        case _:
            message = f"Error: argument '{' '.join(words)}' not understood. Try passing --help instead."
            raise Refused(message, 2)
    return 0


def _up(manager: Manager, name: str) -> None:
    """Bring a connection up."""
    file, profile = manager.named(name)
    for device, mac, addresses in manager.devices():
        if profile.fits(device, mac):
            manager.activate(file, profile, device, addresses)
            manager.save()
            said("Connection successfully activated")
            return
    message = f"Error: Connection activation failed: No suitable device found for this connection ({name})."
    raise Refused(message, _FAILED)


def _down(manager: Manager, name: str) -> None:
    """Take a connection down."""
    file, _ = manager.named(name)
    held = [device for device, up in manager.up.items() if up == file]
    if not held:
        message = f"Error: '{name}' is not an active connection."
        raise Refused(message, _UNKNOWN)
    manager.deactivate(held[0])
    manager.save()
    said(f"Connection '{name}' successfully deactivated")


def _delete(manager: Manager, name: str) -> None:
    """Remove a profile and its file."""
    file, _ = manager.named(name)
    manager.node.path(f"{PROFILES}/{file}").unlink(missing_ok=True)
    manager.reload()
    said(f"Connection '{name}' successfully deleted.")


def _devices(manager: Manager) -> list[dict[str, str]]:
    """Return the table of devices."""
    profiles = manager.profiles()
    return [
        {
            "DEVICE": device,
            "TYPE": "loopback" if device == "lo" else "ethernet",
            "STATE": "connected" if device in manager.up else "disconnected",
            "CONNECTION": profiles[manager.up[device]].id if device in manager.up else "--",
        }
        for device, _, _ in manager.devices()
    ]


def _table(rows: list[dict[str, Any]]) -> None:
    """Print rows below the names of their columns."""
    names = list(rows[0]) if rows else ["NAME"]
    for row in [dict(zip(names, names, strict=True)), *rows]:
        said("  ".join(f"{row[name]:<16}" for name in names).rstrip())
