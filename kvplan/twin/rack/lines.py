"""Asking and answering over a socket of one machine: one JSON object a line, and one back."""

from __future__ import annotations

import json
import socket
import socketserver
from typing import TYPE_CHECKING, Any, Protocol

from kvplan.twin.rack.shell import RackError

if TYPE_CHECKING:
    from pathlib import Path


class Answers(Protocol):
    """Something that does what is asked."""

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return `result`, or `error` in a sentence."""


def asked(path: Path, request: dict[str, Any], gone: str) -> Any:
    """Ask.

    Parameters
    ----------
    path
        Where somebody listens.
    request
        What is asked.
    gone
        What is said where nobody answers.

    Returns
    -------
    object
        What came of it.

    Raises
    ------
    RackError
        When it cannot be done.
    """
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        connection.sendall(json.dumps(request).encode() + b"\n")
        with connection.makefile("r", encoding="utf-8") as lines:
            answer = json.loads(lines.readline() or json.dumps({"error": gone}))
    if "error" in answer:
        raise RackError(answer["error"])
    return answer["result"]


def served(who: Answers, path: Path) -> socketserver.UnixStreamServer:
    """Listen for requests until one has the verb `down`.

    Parameters
    ----------
    who
        Who does them.
    path
        Where to listen.

    Returns
    -------
    socketserver.UnixStreamServer
        To be run; the request to end raises `SystemExit` out of it.
    """

    class Handler(socketserver.StreamRequestHandler):
        """Answers one line."""

        def handle(self) -> None:
            """Answer; the last answer is the one to `down`."""
            request = json.loads(self.rfile.readline() or b"{}")
            is_last = request.get("verb") == "down"
            self.wfile.write(json.dumps({"result": None} if is_last else who.answer(request)).encode() + b"\n")
            if is_last:
                raise SystemExit

    class Server(socketserver.UnixStreamServer):
        """Serves one caller after the other."""

        request_queue_size = 32

        def handle_error(self, request: object, client_address: object) -> None:
            """Say nothing of a caller that breaks off."""

    return Server(str(path), Handler)
