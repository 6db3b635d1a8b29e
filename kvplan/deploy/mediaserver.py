"""The boot media of a deployment, served while a phase runs, with word of how far each server has read its own."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from threading import Lock
from typing import TYPE_CHECKING, Final, NamedTuple

from kvplan.errors import InputError
from kvplan.site.media.server import file_at, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from kvplan.site.media.server import Served

_STEPS: Final = 10
"""How often a medium is spoken of while it is read."""
_TIMEOUT_S: Final = 5


class Fetched(NamedTuple):
    """How much of a medium a controller has been sent by now, counting twice what it asked for twice."""

    client: str
    path: str
    sent_bytes: int
    size_bytes: int


@contextmanager
def media_served(root: Path, address: str, port: int, tell: Callable[[Fetched], None] | None = None) -> Iterator[bool]:
    """Serve boot media for as long as the context lasts, unless a server of the site is at that address already.

    Parameters
    ----------
    root
        The root; `kv/x.iso` below it is `/kv/x.iso`.
    address
        Address to listen at.
    port
        Port to listen at.
    tell
        Called, one call at a time, with each further tenth of a medium that a controller was sent.

    Yields
    ------
    bool
        Whether it serves them itself.

    Raises
    ------
    InputError
        When it cannot listen there, and nobody else answers.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(serving(root, address, port, _Progress(root.resolve(), tell) if tell else None))
        except InputError:
            if not _answers(address, port):
                raise
            own = False
        else:
            own = True
        yield own


class _Progress:
    """Adds up what each controller was sent of each medium."""

    def __init__(self, root: Path, tell: Callable[[Fetched], None]) -> None:
        self._root = root
        self._tell = tell
        self._sent: dict[tuple[str, str], int] = {}
        self._lock = Lock()

    def __call__(self, answer: Served) -> None:
        """Take an answer into account."""
        file = file_at(self._root, answer.path)
        if file is None or not answer.sent_bytes:
            return
        size = file.stat().st_size
        with self._lock:
            before = self._sent.get((answer.client, answer.path), 0)
            now = self._sent[answer.client, answer.path] = before + answer.sent_bytes
            if _STEPS * now // size > _STEPS * before // size:
                self._tell(Fetched(answer.client, answer.path, now, size))


def offered(address: str, port: int, paths: Iterable[str]) -> frozenset[str]:
    """Find out which files a web server has.

    Parameters
    ----------
    address
        Its address.
    port
        Its port.
    paths
        The files, from `/` on.

    Returns
    -------
    frozenset of str
        Those that it has; none where no server answers.
    """
    found = set()
    connection = HTTPConnection(address, port, timeout=_TIMEOUT_S)
    try:
        for path in paths:
            connection.request("HEAD", path)
            response = connection.getresponse()
            response.read()
            found |= {path} if response.status == HTTPStatus.OK else set()
    except (OSError, HTTPException):
        return frozenset(found)
    finally:
        connection.close()
    return frozenset(found)


def _answers(address: str, port: int) -> bool:
    """Tell whether a web server answers."""
    connection = HTTPConnection(address, port, timeout=_TIMEOUT_S)
    try:
        connection.request("HEAD", "/")
        connection.getresponse()
    except (OSError, HTTPException):
        return False
    else:
        return True
    finally:
        connection.close()
