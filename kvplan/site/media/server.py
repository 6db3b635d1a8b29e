"""A small server of boot media: whole images and ranges of them, as controllers ask for them."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple
from urllib.parse import unquote

from kvplan.errors import InputError
from kvplan.serving import ClosingServer, served

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_DEPTH: Final = 2
"""Parts of a path: exactly one directory, and a file."""
_IDLE_S: Final = 120


class Served(NamedTuple):
    """One answer: to whom, what was asked, the status, the first byte sent, and how many were."""

    client: str
    method: str
    path: str
    status: int
    start: int
    sent_bytes: int


class MediaHttpServer(ClosingServer):
    """The server; its connections end when it is closed, so that nothing of it stays behind."""

    def __init__(self, root: Path, address: str, port: int, log: Callable[[Served], None] | None) -> None:
        self.root = root.resolve()
        self.log = log
        super().__init__((address, port), _Handler)


class _Handler(BaseHTTPRequestHandler):
    """Answers on one connection."""

    protocol_version = "HTTP/1.1"
    server_version = "kvplan"
    sys_version = ""
    timeout = _IDLE_S
    server: MediaHttpServer

    def handle_one_request(self) -> None:
        """Answer, and log what came of it."""
        self.answer = Served(self.client_address[0], "", "", 0, 0, 0)
        try:
            super().handle_one_request()
        except OSError:
            self.close_connection = True
        if self.answer.status and self.server.log:
            self.server.log(self.answer)

    def do_GET(self) -> None:
        """Send a file, or the range of it that was asked for."""
        file = self._open_file()
        if file is None:
            return
        with file:
            size = os.fstat(file.fileno()).st_size
            wanted = range_of(self.headers.get("Range", ""), size)
            if wanted is None:
                self._refuse_range(size)
                return
            self._head(size, wanted)
            self._send(file, wanted)

    def do_HEAD(self) -> None:
        """Say how large a file is."""
        file = self._open_file()
        if file is not None:
            with file:
                size = os.fstat(file.fileno()).st_size
            self._head(size, range(size))

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:  # noqa: ARG002 - the overridden one's
        """Note the status for the log."""
        path = getattr(self, "path", "")
        self.answer = self.answer._replace(method=self.command or "", path=path, status=int(code))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the overridden method
        """Write nothing beside the log."""

    def _open_file(self) -> BinaryIO | None:
        """Open the file that was asked for, or say that it is not there."""
        path = file_at(self.server.root, self.path)
        try:
            if path is not None:
                return path.open("rb")
        except OSError:
            pass
        self.send_error(HTTPStatus.NOT_FOUND)
        return None

    def _head(self, size: int, wanted: range) -> None:
        """Send status and headers."""
        part = len(wanted) != size
        self.send_response(HTTPStatus.PARTIAL_CONTENT if part else HTTPStatus.OK)
        if part:
            self.send_header("Content-Range", f"bytes {wanted.start}-{wanted.stop - 1}/{size}")
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(len(wanted)))
        self.send_header("Accept-Ranges", "bytes")
        self.end_headers()

    def _refuse_range(self, size: int) -> None:
        """Say that a range lies outside of the file."""
        self.send_response(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE)
        self.send_header("Content-Range", f"bytes */{size}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send(self, file: BinaryIO, wanted: range) -> None:
        """Send bytes, and note how many went."""
        try:
            # A count of 0 would be refused.
            if wanted:
                self.connection.sendfile(file, wanted.start, len(wanted))
        finally:
            sent = max(file.tell() - wanted.start, 0) if wanted else 0
            self.answer = self.answer._replace(start=wanted.start, sent_bytes=sent)


def range_of(header: str, size: int) -> range | None:
    """Read the `Range` header of a request.

    Parameters
    ----------
    header
        Its value; empty where there is none.
    size
        Size of the file [B].

    Returns
    -------
    range or None
        The bytes to send: all of them where the header names no single range, for it may be ignored then; None where
        the range lies outside of the file.

    Examples
    --------
    >>> range_of("bytes=2-5", 10), range_of("bytes=-3", 10), range_of("bytes=7-", 10), range_of("bytes=10-", 10)
    (range(2, 6), range(7, 10), range(7, 10), None)
    """
    match = re.fullmatch(r"bytes=\s*(\d*)-(\d*)\s*", header, re.ASCII)
    first, last = match.groups() if match else ("", "")
    if not (first or last) or (first and last and int(last) < int(first)):
        return range(size)
    wanted = range(int(first), min(int(last or size), size - 1) + 1) if first else range(max(size - int(last), 0), size)
    return wanted or None


def file_at(root: Path, target: str) -> Path | None:
    """Find the file that a request names: one directory below the root, and neither hidden nor a link.

    Parameters
    ----------
    root
        The root, with no link in it.
    target
        The path of the request.

    Returns
    -------
    Path or None
        The file; None where there is none to serve.
    """
    parts = unquote(target.partition("?")[0]).removeprefix("/").split("/")
    if len(parts) != _DEPTH or any(part.startswith(".") or not part.isprintable() for part in parts):
        return None
    path = root.joinpath(*parts)
    try:
        return path if path.is_file() and path.resolve() == path else None
    except OSError:
        return None


@contextmanager
def serving(
    root: Path, address: str, port: int, log: Callable[[Served], None] | None = None
) -> Iterator[MediaHttpServer]:
    """Serve the files in the directories below a root for as long as the context lasts.

    Parameters
    ----------
    root
        The root; `kv/x.iso` below it is `/kv/x.iso`.
    address
        Address to listen at.
    port
        Port to listen at; 0 takes a free one, which `url` then names.
    log
        Called with each answer, from the thread of its connection.

    Yields
    ------
    MediaHttpServer
        The server, with its `url`.

    Raises
    ------
    InputError
        When it cannot listen there.
    """
    try:
        server = MediaHttpServer(root, address, port, log)
    except OSError as error:
        what = f"cannot be listened at: {(error.strerror or str(error)).lower()}"
        raise InputError.single(
            what=what, where=f"{address}:{port}", hint="choose another `media` address or port"
        ) from error
    with served(server, "media-server"):
        yield server
