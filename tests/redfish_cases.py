"""Emulated controllers for tests: a clock that only sleeping moves, an image, and requests in few words."""

from __future__ import annotations

import base64
import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from kvplan.deploy.redfish.controller import Controller
from kvplan.deploy.redfish.timing import Timing
from kvplan.twin.bmc.emulation import emulated
from kvplan.twin.bmc.machine import Machine
from kvplan.twin.bmc.profiles import CLEAN

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kvplan.twin.bmc.machine import State
    from kvplan.twin.bmc.profiles import Profile

MACHINE = Machine("stor01", "S123456X4900001")
CREDENTIALS = ("ADMIN", "canary-Pa55word")
ISO = bytes(32_769) + b"CD001" + bytes(4_096)


class Clock:
    """Seconds that pass by sleeping only."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


@dataclass
class Bench:
    """One emulated controller under test."""

    url: str
    state: State
    clock: Clock
    started: list[str | None] = field(default_factory=list)

    def controller(self, kind: str = "generic", **patience: Any) -> Controller:
        timing = Timing(now=self.clock, sleep=self.clock.sleep, **patience)
        return Controller(self.url, *CREDENTIALS, kind, timing=timing)


class Reply(NamedTuple):
    """An answer as it came."""

    status: int
    body: Any
    headers: dict[str, str]


@contextmanager
def bench(profile: Profile = CLEAN) -> Iterator[Bench]:
    """Run one controller on a clock of its own."""
    clock, started = Clock(), []
    running = emulated(
        [MACHINE],
        profile,
        clock=clock,
        credentials=CREDENTIALS,
        on_boot=lambda _, url: started.append(url),
    )
    with running as emulation:
        yield Bench(emulation.urls[MACHINE.name], emulation.states[MACHINE.name], clock, started)


def image_below(root: Path) -> str:
    """Write an image that a controller takes for one, and name its path on the server."""
    (root / "kv").mkdir()
    (root / "kv" / "a.iso").write_bytes(ISO)
    return "/kv/a.iso"


def ask(
    url: str,
    method: str = "GET",
    path: str = "/redfish/v1/Systems/1",
    body: object = None,
    **headers: str | None,
) -> Reply:
    """Ask a controller, by Basic authentication unless `authorization` or a token says otherwise."""
    parts = urlsplit(url)
    basic = f"Basic {base64.b64encode(':'.join(CREDENTIALS).encode()).decode()}"
    given = {"Authorization": basic, **{key.replace("_", "-").title(): value for key, value in headers.items()}}
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=10)
    try:
        text = body if isinstance(body, str) else None if body is None else json.dumps(body)
        connection.request(method, path, text, {key: value for key, value in given.items() if value is not None})
        answer = connection.getresponse()
        read = answer.read()
    finally:
        connection.close()
    is_json = read and answer.getheader("Content-Type") == "application/json"
    return Reply(answer.status, json.loads(read) if is_json else read, dict(answer.getheaders()))


def message_of(reply: Reply) -> str:
    """Read the id of a refusal, without its registry's version."""
    return str(reply.body["error"]["code"]).rpartition(".")[2]
