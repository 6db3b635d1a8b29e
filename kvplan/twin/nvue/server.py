"""The HTTP side of a switch: who asks, for which path and revision, and what is answered."""

from __future__ import annotations

import base64
import binascii
import json
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

from kvplan.serving import ClosingServer
from kvplan.twin.nvue.refusal import RefusalError
from kvplan.twin.nvue.trees import Tree, at, filled, only_in

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

    from kvplan.twin.nvue.operation import Operation
    from kvplan.twin.nvue.switch import Switch

_IDLE_S: Final = 30
_BASE: Final = "nvue_v1"
_REVISION: Final = "revision"
_COUNTERS: Final = ("counters", "qos", "pfc-stats")
Answer = tuple[HTTPStatus, Tree | None]


class NvueServer(ClosingServer):
    """One switch at its own address; its connections end when it is closed."""

    def __init__(
        self, address: tuple[str, int], switch: Switch, operation: Operation, tls: ssl.SSLContext | None
    ) -> None:
        self.switch, self.operation = switch, operation
        super().__init__(address, _Handler, tls)

    def service_actions(self) -> None:
        """Let the switch do what is due; this is called again and again while it serves."""
        self.switch.tick()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of connections that break off."""


class _Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: NvueServer
    server_version = "nginx"
    sys_version = ""
    protocol_version = "HTTP/1.1"
    timeout = _IDLE_S

    def do_GET(self) -> None:
        """Show something."""
        self._serve(self._shown)

    def do_POST(self) -> None:
        """Start a revision."""
        self._serve(self._posted)

    def do_PATCH(self) -> None:
        """Set something in a revision, or move the revision itself."""
        self._serve(self._patched)

    def do_DELETE(self) -> None:
        """Take something out of a revision, or throw the revision away."""
        self._serve(self._deleted)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the overridden method
        """Write nothing; `requests` of the switch holds what was asked."""

    def _serve(self, act: Callable[[tuple[str, ...], dict[str, str]], Answer]) -> None:
        """Answer one request."""
        parts = urlsplit(self.path)
        path = tuple(unquote(part) for part in parts.path.split("/") if part)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        switch = self.server.switch
        self._text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            with switch.lock:
                switch.requests.append((self.command, self.path))
                self._admit()
                if path[:1] != (_BASE,):
                    raise _not_found(path)
                switch.tick()
                status, body = act(path[1:], query)
        except RefusalError as refusal:
            status, body = refusal.status, refusal.body
        self._send(status, body)

    def _admit(self) -> None:
        """Refuse while busy, strangers, and everybody as long as the factory's password is in force."""
        switch = self.server.switch
        if switch.faults.busy:
            switch.faults.busy -= 1
            raise RefusalError(HTTPStatus.SERVICE_UNAVAILABLE, "nvued is not ready")
        user, password = self._credentials()
        if not switch.knows(user, password):
            raise RefusalError(HTTPStatus.UNAUTHORIZED, "Authentication required")
        if not switch.password_changed:
            raise RefusalError(HTTPStatus.FORBIDDEN, "The default password must be changed first")
        self._user = user

    def _credentials(self) -> tuple[str, str]:
        """Read who asks."""
        scheme, _, given = (self.headers.get("Authorization") or "").partition(" ")
        try:
            user, _, password = base64.b64decode(given, validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            return "", ""
        return (user, password) if scheme == "Basic" else ("", "")

    def _body(self) -> Tree:
        """Read what was sent."""
        try:
            body = json.loads(self._text or b"{}")
        except ValueError:
            body = None
        if not isinstance(body, dict):
            raise RefusalError(HTTPStatus.BAD_REQUEST, "The request body is not a JSON object")
        return body

    def _shown(self, path: tuple[str, ...], query: dict[str, str]) -> Answer:
        """Show a revision, a configuration, a difference, or how the switch is."""
        switch = self.server.switch
        if path[:1] == (_REVISION,):
            if len(path) == 1:
                return HTTPStatus.OK, {name: one.shown() for name, one in switch.revisions.items()}
            return HTTPStatus.OK, switch.revision(path[1]).shown()
        rev = query.get("rev", "operational")
        if rev == "operational":
            return HTTPStatus.OK, self._operational(path, query)
        config = switch.config(rev)
        if "diff" in query:
            config = only_in(config, switch.config(query["diff"]))
        if query.get("filled", "true") == "true":
            config = filled(config)
        found = at(config, path)
        if found is None:
            raise _not_found(path)
        return HTTPStatus.OK, found

    def _operational(self, path: tuple[str, ...], query: dict[str, str]) -> Tree:
        """Show how the switch is; without neighbours in a list of interfaces, unless they are asked for."""
        if (
            path[:1] == ("interface",)
            and path[2:] == _COUNTERS
            and path[1] in self.server.switch.running.get("interface", {})
        ):
            return self.server.operation.counters(path[1])
        found = at(self.server.operation.shown(), path)
        if not isinstance(found, dict):
            raise _not_found(path)
        if path == ("interface",):
            key = "lldp" if "lldp" in query.get("include", "") else "link"
            return {name: {part: one[part] for part in ("type", key) if part in one} for name, one in found.items()}
        return found

    def _posted(self, path: tuple[str, ...], _: dict[str, str]) -> Answer:
        """Start a revision."""
        if path != (_REVISION,):
            raise _not_found(path)
        name = self.server.switch.new_revision(self._user)
        return HTTPStatus.OK, {name: self.server.switch.revision(name).shown()}

    def _patched(self, path: tuple[str, ...], query: dict[str, str]) -> Answer:
        """Set something in a revision, or move the revision itself."""
        switch = self.server.switch
        if path[:1] == (_REVISION,) and len(path) > 1:
            return HTTPStatus.OK, switch.move(path[1], self._body()).shown()
        return HTTPStatus.OK, switch.patch(_named(query), path, self._body())

    def _deleted(self, path: tuple[str, ...], query: dict[str, str]) -> Answer:
        """Take something out of a revision, or throw the revision away."""
        switch = self.server.switch
        if path[:1] == (_REVISION,) and len(path) > 1:
            if not switch.is_numbered:
                raise RefusalError(HTTPStatus.METHOD_NOT_ALLOWED, "A revision cannot be deleted")
            switch.discard(path[1])
        else:
            switch.delete(_named(query), path)
        return (HTTPStatus.NO_CONTENT, None) if switch.is_numbered else (HTTPStatus.OK, {})

    def _send(self, status: HTTPStatus, body: Tree | None) -> None:
        """Send an answer."""
        text = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        if status == HTTPStatus.UNAUTHORIZED:
            self.send_header("WWW-Authenticate", 'Basic realm="NVUE"')
        if status != HTTPStatus.NO_CONTENT:
            self.send_header("Content-Length", str(len(text)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(text)


def _named(query: dict[str, str]) -> str:
    """Return the revision that is to be changed."""
    if "rev" not in query:
        raise RefusalError(HTTPStatus.BAD_REQUEST, "A change needs a revision: ?rev=ID")
    return query["rev"]


def _not_found(path: tuple[str, ...]) -> RefusalError:
    """Return the answer to a path that is not there."""
    return RefusalError(HTTPStatus.NOT_FOUND, f"The requested item /{'/'.join(path)} does not exist.")
