"""Listening in another network namespace than one's own."""

from __future__ import annotations

import ctypes
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMED: Final = Path("/run/netns")
"""Where `ip netns` keeps namespaces."""
_OWN: Final = Path("/proc/thread-self/ns/net")
_NETWORK: Final = 0x40000000
"""CLONE_NEWNET."""


@contextmanager
def within(name: str) -> Iterator[None]:
    """Be in a named network namespace with the calling thread; sockets that are opened there stay there.

    Parameters
    ----------
    name
        Name of the namespace.

    Yields
    ------
    None
        While there.
    """
    own = os.open(_OWN, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _enter(NAMED / name)
        try:
            yield
        finally:
            _set(own)
    finally:
        os.close(own)


def _enter(path: Path) -> None:
    """Enter a namespace."""
    there = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _set(there)
    finally:
        os.close(there)


def _set(descriptor: int) -> None:
    """Move the calling thread; Python has no word for it before 3.12."""
    library = ctypes.CDLL(None, use_errno=True)
    if library.setns(descriptor, _NETWORK):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
