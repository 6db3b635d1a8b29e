"""The REST interface of a switch with NVUE: revisions, configurations, and how the switch is."""
# ruff: noqa: INP001

from __future__ import annotations

import base64
import json
import ssl
import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode
from urllib.request import HTTPSHandler, ProxyHandler, Request, build_opener

from ansible.module_utils.nvue_tree import NvueError, Tree

if TYPE_CHECKING:
    from collections.abc import Callable

PORT = 8765
APPLIED = frozenset({"applied", "applied_and_saved"})
WAITING = "confirm"
"""The state of a revision that is in force until it is confirmed or its time is over."""
_UNDER_WAY = frozenset(
    {
        "apply",
        "ready",
        "readying",
        "checking",
        "checked",
        "verifying",
        "verified",
        "reloading",
        "reloaded",
        "confirm_yes",
        "auto_save",
        "auto_saving",
    }
)
_REMEDIES = {
    HTTPStatus.UNAUTHORIZED: "see that the user and its password are those of the switch",
    HTTPStatus.FORBIDDEN: "change the factory's password at the switch: until then it answers nobody",
}


class Timing:
    """How long to wait, and on which clock."""

    def __init__(
        self,
        *,
        request_s: float = 30,
        ready_s: float = 60,
        apply_s: float = 300,
        poll_s: float = 2,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.request_s, self.ready_s, self.apply_s, self.poll_s = request_s, ready_s, apply_s, poll_s
        self.clock, self.sleep = clock, sleep


class Nvue:
    """One switch; every call is one request, repeated while the switch is not ready."""

    def __init__(self, url: str, user: str, password: str, *, verify: bool | str = True, timing: Timing) -> None:
        self.url, self.timing = url.rstrip("/"), timing
        self._basic = base64.b64encode(f"{user}:{password}".encode()).decode()
        context = ssl.create_default_context(cafile=verify if isinstance(verify, str) else None)
        if verify is False:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        # no proxy: the switch is on the management network
        self._opener = build_opener(ProxyHandler({}), HTTPSHandler(context=context))

    def operational(self, path: str, **query: str) -> Tree:
        """Return what the switch shows of itself; empty where there is nothing."""
        try:
            return self._ask("GET", path, query)
        except NotThereError:
            return {}

    def config(self, rev: str) -> Tree:
        """Return a configuration as it is set, without what the switch assumes, and without the header of its file."""
        found = self._ask("GET", "", {"rev": rev, "filled": "false"})
        return {key: value for key, value in found.items() if key != "header"}

    def new_revision(self) -> str:
        """Start a revision and return its name."""
        return next(iter(self._ask("POST", "revision", {})))

    def replace(self, rev: str, config: Tree) -> None:
        """Take everything out of a revision and set a configuration."""
        self._ask("DELETE", "", {"rev": rev})
        self.patch(rev, config)

    def patch(self, rev: str, config: Tree) -> None:
        """Set a configuration on top of what is in a revision."""
        self._ask("PATCH", "", {"rev": rev}, config)

    def discard(self, rev: str) -> None:
        """Throw a revision away; older releases can not, and an unused one does no harm there."""
        try:
            self._ask("DELETE", f"revision/{quote(rev, safe='')}", {})
        except NvueError:
            return

    def state(self, rev: str) -> Tree:
        """Return how far a revision is."""
        return self._ask("GET", f"revision/{quote(rev, safe='')}", {})

    def waiting(self) -> str | None:
        """Return the revision that waits to be confirmed, if there is one."""
        found = self._ask("GET", "revision", {})
        return next((name for name, one in found.items() if one.get("state") == WAITING), None)

    def apply(self, rev: str, confirm_s: int) -> str:
        """Apply a revision and return its state: it waits to be confirmed, or is in force at once."""
        wish = {"state": "apply", "state-controls": {"confirm": confirm_s}, "auto-prompt": {"ays": "ays_yes"}}
        try:
            self._move(rev, wish)
        except NvueError:
            # asked twice, where the answer to the first was lost
            if self.state(rev).get("state") == "pending":
                raise
        try:
            return self._until(rev, APPLIED | {WAITING})
        except LostError:
            # the new configuration may lock out who brought it: it is taken back when its time is over
            return WAITING

    def confirm(self, rev: str) -> str:
        """Keep a revision that waits for it, and return its state."""
        if self.state(rev).get("state") == WAITING:
            self._move(rev, {"state": "confirm_yes", "auto-prompt": {"ays": "ays_yes"}})
        return self._until(rev, APPLIED)

    def save(self) -> None:
        """Keep what is applied for a restart."""
        self._move("applied", {"state": "save", "auto-prompt": {"ays": "ays_yes"}})

    def _move(self, rev: str, wish: Tree) -> None:
        """Change the state of a revision."""
        self._ask("PATCH", f"revision/{quote(rev, safe='')}", {}, wish)

    def _until(self, rev: str, wanted: frozenset[str]) -> str:
        """Wait until a revision has one of these states."""
        timing = self.timing
        end = timing.clock() + timing.apply_s
        while True:
            found = self.state(rev)
            state = str(found.get("state"))
            if state in wanted:
                return state
            # one that waits to be confirmed still may, right after it was
            if state not in _UNDER_WAY | {WAITING}:
                message = f"revision {rev} is {state}: {issues(found)}"
                raise NvueError(message, "correct the configuration")
            if timing.clock() >= end:
                message = f"revision {rev} is still {state} after {timing.apply_s:g} s"
                raise NvueError(message, "look at the switch")
            timing.sleep(timing.poll_s)

    def _ask(self, method: str, path: str, query: dict[str, str], body: Tree | None = None) -> Tree:
        """Send a request, again and again while the switch is not ready."""
        url = f"{self.url}/nvue_v1/{path}" + (f"?{urlencode(query)}" if query else "")
        timing = self.timing
        end = timing.clock() + timing.ready_s
        while True:
            try:
                return self._once(method, url, body)
            except NotReadyError as error:
                if timing.clock() >= end:
                    message = f"the switch at {self.url} does not answer: {error.message}"
                    raise LostError(message, error.remedy) from None
                timing.sleep(timing.poll_s)

    def _once(self, method: str, url: str, body: Tree | None) -> Tree:
        """Send a request."""
        headers = {"Authorization": f"Basic {self._basic}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = Request(url, data, headers, method=method)  # noqa: S310 - the address of the inventory
        try:
            with self._opener.open(request, timeout=self.timing.request_s) as answer:
                return _tree(answer.read())
        except HTTPError as error:
            with error:
                raise _refused(error, method, url) from None
        except (URLError, OSError) as error:
            reason = getattr(error, "reason", error)
            if isinstance(reason, ssl.SSLCertVerificationError):
                remedy = "trust the switch's certificate by ca_path, or set tls_verify to false"
                message = f"the certificate of {self.url} is not trusted: {reason.verify_message}"
                raise NvueError(message, remedy) from None
            raise NotReadyError(str(reason), "see that it is up, and its address right") from None


class NotReadyError(NvueError):
    """The switch is not reached, or not ready."""


class LostError(NvueError):
    """The switch can not be reached any more, or lets nobody in."""


class NotThereError(NvueError):
    """There is nothing at the path."""


def issues(found: Tree) -> str:
    """Write what a revision complains about, with the place."""
    listed = (found.get("transition") or {}).get("issue") or {}
    told = []
    for one in listed.values():
        data = one.get("data") or {}
        place = data.get("location") or data.get("path") or ""
        told.append(f"{place}: {one.get('message')}" if place else str(one.get("message")))
    return "; ".join(told) or "the switch gives no reason"


def _tree(text: bytes) -> Tree:
    """Read an answer."""
    found: Any = json.loads(text or b"{}")
    return found if isinstance(found, dict) else {}


def _refused(error: HTTPError, method: str, url: str) -> NvueError:
    """Say what the switch refused."""
    try:
        detail = _tree(error.read()).get("detail") or error.reason
    except ValueError:
        detail = error.reason
    if error.code in (HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE):
        return NotReadyError(str(detail), "wait until nvued runs")
    message = f"{method} {url.partition('?')[0]}: {error.code} {detail}"
    remedy = _REMEDIES.get(HTTPStatus(error.code), "look at the switch")
    kinds = {HTTPStatus.NOT_FOUND: NotThereError, HTTPStatus.UNAUTHORIZED: LostError, HTTPStatus.FORBIDDEN: LostError}
    return kinds.get(HTTPStatus(error.code), NvueError)(message, remedy)
