"""Configurations of switches as plain data: read from a file, compared, and shown without their secrets."""
# ruff: noqa: INP001

from __future__ import annotations

import re
from typing import Any

Tree = dict[str, Any]

HIDDEN = "********"
_PLACEHOLDER = re.compile(r"\{\{ kv_secret_(?P<name>[a-z0-9_]+) \}\}")
_SECRET_VALUES = frozenset({"password", "hashed-password", "secret", "shared-secret", "key-string"})
_SECRET_KEYS = frozenset({"auth-md5", "auth-sha", "encrypt-aes", "encrypt-des", "readonly-community"})
"""Parents whose keys are secrets themselves."""


class NvueError(Exception):
    """What went wrong at a switch, and what to do about it."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy


def configuration(document: Any) -> Tree:
    """Take what is set out of a rendered file: a header, and what is set."""
    if isinstance(document, list) and isinstance(document[-1], dict) and isinstance(document[-1].get("set"), dict):
        found: Tree = document[-1]["set"]
        return found
    message = "the file is no NVUE configuration with a header and a set"
    raise NvueError(message, "render the site again")


def with_secrets(tree: Any, secrets: dict[str, str]) -> Any:
    """Put secrets in their places, in keys and in values."""
    if isinstance(tree, dict):
        return {_put(str(key), secrets): with_secrets(value, secrets) for key, value in tree.items()}
    return _put(tree, secrets) if isinstance(tree, str) else tree


def without_secrets(tree: Any) -> Any:
    """Hide every secret by its place, hashed or not; what is left can be shown, stored and compared."""
    if not isinstance(tree, dict):
        return tree
    shown: Tree = {}
    for key, value in tree.items():
        if key in _SECRET_VALUES and not isinstance(value, dict):
            shown["password" if key == "hashed-password" else key] = HIDDEN
        elif key in _SECRET_KEYS and isinstance(value, dict):
            inside = enumerate(value.values())
            shown[key] = {f"{HIDDEN}{index or ''}": without_secrets(one) for index, one in inside}
        else:
            shown[key] = without_secrets(value)
    return shown


def differences(before: Tree, after: Tree) -> list[str]:
    """Write what leads from one configuration to another, a line for each value, as the switch's own tool does."""
    old, new = dict(_leaves(before)), dict(_leaves(after))
    gone = [f"unset {' '.join(path)}" for path in old if path not in new and not _is_replaced(path, new)]
    come = [f"set {' '.join(path)} {value}".rstrip() for path, value in new.items() if old.get(path, new) != value]
    return sorted(gone) + sorted(come)


def at(tree: Any, *path: str) -> Any:
    """Return what is at a path; None where there is nothing."""
    for key in path:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree


def _put(text: str, secrets: dict[str, str]) -> str:
    """Put secrets in a text."""

    def value(found: re.Match[str]) -> str:
        name = found["name"]
        if name not in secrets:
            message = f"no value was given for the secret {name}"
            raise NvueError(message, f"give secrets: {{{name}: ...}}")
        return secrets[name]

    return _PLACEHOLDER.sub(value, text)


def _leaves(tree: Tree, way: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], str]]:
    """List every value with its path; an empty mapping is a value too."""
    found: list[tuple[tuple[str, ...], str]] = []
    for key, value in tree.items():
        path = (*way, str(key))
        if isinstance(value, dict) and value:
            found += _leaves(value, path)
        else:
            found.append((path, "" if isinstance(value, dict) else str(value)))
    return found


def _is_replaced(path: tuple[str, ...], new: dict[tuple[str, ...], str]) -> bool:
    """Tell whether an empty mapping only got something inside."""
    return any(other[: len(path)] == path for other in new)
