"""Changes to a Site's data, by which tests plant faults."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def rsa_key(bits: int) -> str:
    """Write a public key of so many bits as ssh-keygen does."""
    parts = (b"ssh-rsa", b"\x01\x00\x01", (1 << bits - 1).to_bytes(bits // 8 + 1))
    inside = b"".join(len(part).to_bytes(4) + part for part in parts)
    return f"ssh-rsa {b64encode(inside).decode()} colleague"


def _inside(place: Any, key: str) -> Any:
    """Return what a key, an index or the name of a machine leads to."""
    if isinstance(place, dict):
        return place.setdefault(key, {})
    return place[int(key)] if key.isdigit() else next(entry for entry in place if entry["name"] == key)


def put(path: str, value: object) -> Callable[[dict[str, Any]], None]:
    """Return a change that sets the value at a path such as `servers.0.serial`."""

    def change(data: dict[str, Any]) -> None:
        *outer, last = path.split(".")
        place: Any = data
        for key in outer:
            place = _inside(place, key)
        place[int(last) if isinstance(place, list) else last] = value

    return change


def like(path: str, other: str) -> Callable[[dict[str, Any]], None]:
    """Return a change that copies the value at another path."""

    def change(data: dict[str, Any]) -> None:
        value: Any = data
        for key in other.split("."):
            value = _inside(value, key)
        put(path, value)(data)

    return change


def dropped(path: str, field: str) -> Callable[[dict[str, Any]], None]:
    """Return a change that takes a field out of what is at a path."""

    def change(data: dict[str, Any]) -> None:
        place: Any = data
        for key in path.split("."):
            place = _inside(place, key)
        del place[field]

    return change


def both(*changes: Callable[[dict[str, Any]], object]) -> Callable[[dict[str, Any]], None]:
    """Return several changes as one."""

    def change(data: dict[str, Any]) -> None:
        for each in changes:
            each(data)

    return change


def without(section: str, name: str) -> Callable[[dict[str, Any]], None]:
    """Return a change that leaves a machine, or a field, out."""

    def change(data: dict[str, Any]) -> None:
        held = data[section]
        if isinstance(held, dict):
            del held[name]
        else:
            data[section] = [entry for entry in held if name not in (entry.get("name"), entry.get("what"))]

    return change


def at(name: str, field: str, value: object) -> Callable[[dict[str, Any]], None]:
    """Return a change to a field of a machine, such as `bmc.address` of `gpu-0001`."""

    def change(data: dict[str, Any]) -> None:
        machine = next(entry for entry in (*data["servers"], *data["switches"]) if entry["name"] == name)
        put(field, value)(machine)

    return change


def grown(path: str, *values: object) -> Callable[[dict[str, Any]], None]:
    """Return a change that appends to a list."""

    def change(data: dict[str, Any]) -> None:
        *outer, last = path.split(".")
        place = data
        for key in outer:
            place = place[key]
        place[last] = [*place.get(last, []), *values]

    return change
