"""The HTTP side of a controller: who asks, what is answered, and how often it is too busy to."""

from __future__ import annotations

import base64
import binascii
import hmac
import json
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

from kvplan.serving import ClosingServer
from kvplan.twin.bmc.changes import Answer, changed, closed, done, opened, pressed
from kvplan.twin.bmc.fetching import unreadable
from kvplan.twin.bmc.machine import Boot
from kvplan.twin.bmc.refusal import BASE, Refusal
from kvplan.twin.bmc.tree import ROOT, SESSIONS, etag, system_path, tree

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

    from kvplan.twin.bmc.machine import Machine, State

_IDLE_S = 30
_CHANGING = ("PATCH", "POST")
_HTML = b"<html><head><title>404 - Not Found</title></head><body><h1>404 - Not Found</h1></body></html>"


class Controller(ClosingServer):
    """One controller at its own address; its connections end when it is closed."""

    def __init__(
        self,
        address: tuple[str, int],
        state: State,
        credentials: tuple[str, str],
        on_boot: Callable[[Machine, str | None], None],
        on_stop: Callable[[Machine], None],
        tls: ssl.SSLContext | None,
    ) -> None:
        self.state = state
        self.credentials = credentials
        self.on_boot, self.on_stop = on_boot, on_stop
        self.on_change: Callable[[State], None] = _ignore
        """Called after each request that may have changed something, before what follows of it; it raises nothing."""
        super().__init__(address, _Handler, tls)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of connections that break off."""

    def press(self, kind: str) -> None:
        """Change the power as a person does at the button.

        Parameters
        ----------
        kind
            A `ResetType`.

        Raises
        ------
        Refusal
            When it does not fit the state, or the machine does not follow.
        """
        with self.state.lock:
            answer = pressed(self.state, kind)
            self.state.acting = True
        self.follow(answer)

    def follow(self, answer: Answer) -> None:
        """Stop and start the machine where an answer says so."""
        try:
            if answer.stopped:
                self._told(self.on_stop, self.state.machine)
            if answer.boot:
                self._start(answer.boot)
        finally:
            self.state.acting = False

    def _start(self, boot: Boot) -> None:
        """Start the machine: read its image as a controller does, and say what it booted from."""
        why_not = boot.why_not or unreadable(boot.image_url or "", str(self.server_address[0]))
        seen = Boot(None, why_not) if why_not else boot
        self.state.boots.append(seen)
        self._told(self.on_boot, self.state.machine, seen.image_url)

    def _told(self, callback: Callable[..., None], *arguments: Any) -> None:
        """Tell the machine, and whoever asked what became of it."""
        try:
            callback(*arguments)
        except Exception as error:
            # The callback is the caller's.
            text = f"The machine did not start: {error}" if len(arguments) > 1 else f"The machine did not stop: {error}"
            raise Refusal(500, f"{BASE}.InternalError", text) from error


def _ignore(state: State) -> None:
    """Let nothing follow."""


class _Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: Controller
    server_version = "Redfish"
    sys_version = ""
    timeout = _IDLE_S

    def do_GET(self) -> None:
        """Show a resource."""
        self._serve(self._shown)

    def do_HEAD(self) -> None:
        """Show the head of a resource."""
        self._serve(self._shown)

    def do_PATCH(self) -> None:
        """Change a resource."""
        self._serve(self._patched)

    def do_POST(self) -> None:
        """Carry out an action."""
        self._serve(self._posted)

    def do_DELETE(self) -> None:
        """End a session."""
        self._serve(lambda path, _: closed(self.server.state, path))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the overridden method
        """Write nothing; `requests` of the state holds what was asked."""

    def _serve(self, act: Callable[[str, dict[str, Any]], Answer]) -> None:
        """Answer, and start the machine where the request made it start."""
        path = self.path.partition("?")[0].rstrip("/")
        state = self.server.state
        try:
            body = self._body()
            with state.lock:
                state.requests.append((self.command, path))
                self._admit(path)
                answer = act(path, body)
                moves = bool(answer.stopped or answer.boot)
                state.acting = moves or state.acting
            if self.command in _CHANGING:
                self.server.on_change(state)
            if moves:
                self.server.follow(answer)
        except Refusal as refusal:
            answer = Answer(refusal.status, refusal.body())
        self._send(answer)

    def _body(self) -> dict[str, Any]:
        """Read what was sent."""
        text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body = json.loads(text or b"{}")
        except ValueError:
            body = None
        if not isinstance(body, dict):
            raise Refusal(400, "Base.1.13.MalformedJSON", "The request body was malformed JSON.")
        return body

    def _admit(self, path: str) -> None:
        """Refuse while busy, strangers, and what needs a licence."""
        state = self.server.state
        if state.busy_left:
            state.busy_left -= 1
            raise Refusal.busy()
        if state.profile.busy_every and len(state.requests) % state.profile.busy_every == 0:
            raise Refusal.busy()
        public = path == ROOT or (self.command == "POST" and path == SESSIONS)
        if not public and not self._known():
            raise Refusal.credentials_wrong()
        covered = state.profile.licence_covers == "systems" and path.startswith(system_path(state))
        if covered and not state.licensed:
            raise Refusal.licence_missing()

    def _known(self) -> bool:
        """Tell whether the request comes with a session or with the right password."""
        token = self.headers.get("X-Auth-Token")
        if token is not None:
            return token in self.server.state.sessions.values()
        scheme, _, given = (self.headers.get("Authorization") or "").partition(" ")
        try:
            plain = base64.b64decode(given, validate=True)
        except binascii.Error:
            return False
        if scheme != "Basic" or not self._right(plain):
            return False
        state = self.server.state
        if state.each_needs_session and len(state.sessions) >= state.profile.max_sessions:
            raise Refusal.sessions_full()
        return True

    def _right(self, given: bytes) -> bool:
        """Compare credentials."""
        return hmac.compare_digest(given, ":".join(self.server.credentials).encode())

    def _shown(self, path: str, _: dict[str, Any]) -> Answer:
        """Show a resource with its version."""
        resource = tree(self.server.state).get(path)
        if resource is None:
            raise Refusal.not_found(path)
        return Answer(200, resource, (("ETag", etag(resource)),))

    def _patched(self, path: str, body: dict[str, Any]) -> Answer:
        """Change a resource, if its version is the one that was read."""
        state = self.server.state
        given, resource = self.headers.get("If-Match"), tree(state).get(path, {})
        if state.profile.if_match and given is None:
            raise Refusal.precondition(missing=True)
        if state.stale_etags_left or (given not in {None, "*", etag(resource)}):
            state.stale_etags_left = max(state.stale_etags_left - 1, 0)
            raise Refusal.precondition(missing=False)
        return changed(state, path, body)

    def _posted(self, path: str, body: dict[str, Any]) -> Answer:
        """Open a session or carry out an action."""
        if path != SESSIONS:
            return done(self.server.state, path, body)
        if not self._right(f"{body.get('UserName')}:{body.get('Password')}".encode()):
            raise Refusal.credentials_wrong()
        return opened(self.server.state, body)

    def _send(self, answer: Answer) -> None:
        """Send an answer; one that finds nothing in HTML, where the firmware does so."""
        html = self.server.state.profile.html_errors and answer.status == HTTPStatus.NOT_FOUND
        body = _HTML if html else b"" if answer.body is None else json.dumps(answer.body).encode()
        self.send_response(answer.status)
        self.send_header("Content-Type", "text/html" if html else "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in answer.headers:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
