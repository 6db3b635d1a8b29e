"""Progress: plain lines with the time, lines of JSON, and the live view."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

from rich.console import Console

from kvplan.deploy.events import (
    HostCounts,
    HostResult,
    LeftOut,
    MediumSent,
    PhaseEnded,
    PhaseStarted,
    Stats,
    TaskStarted,
    event_from,
)
from kvplan.deploy.progress import Board, progress

if TYPE_CHECKING:
    from kvplan.deploy.events import Event
    from kvplan.deploy.progress import Form

EVENTS: tuple[Event, ...] = (
    PhaseStarted("base", "Prepare the hosts", ("h1", "h2"), 25),
    TaskStarted("base : Look"),
    HostResult("h1", "base : Look", "ok", 1),
    HostResult("h2", "base : Wait", "retry", 1, "attempt 1 of 9"),
    HostResult("h2", "base : Wait", "retry", 1, "attempt 2 of 9"),
    HostResult("h2", "base : Look", "unreachable", 15, "no route [to] host", "look at it"),
    Stats({"h1": HostCounts(ok=1, changed=1), "h2": HostCounts(unreachable=1)}),
    PhaseEnded("base", ok=False, seconds=90, hosts={}),
    LeftOut("storage", ("h1", "h2"), "not there"),
    PhaseStarted("storage", "Build", ("h1",), 0),
    MediumSent("h1", "10.0.0.1", 30, 200),
    HostResult("h1", "storage : Log in", "ignored", 1, "no route"),
    PhaseEnded("storage", ok=True, seconds=90, hosts={}),
)
PLAIN = """\
12:00:00 base: Prepare the hosts: 2 hosts, about 25 min
12:00:00 base: base : Look
12:00:00 base: h2: waits at "base : Wait", attempt 1 of 9
12:00:00 base: h2: unreachable at "base : Look": no route [to] host
12:00:00 base: h2: remedy: look at it
12:00:00 base: h1: 1 ok, 1 changed
12:00:00 base: h2: 0 ok, 0 changed, 1 unreachable
12:00:00 base: not done, 1.5 min of about 25 min
12:00:00 storage: h1, h2 left out: not there
12:00:00 storage: Build: 1 host
12:00:00 storage: h1: its controller was sent 15% of the medium
12:00:00 storage: h1: ignored at "storage : Log in": no route
12:00:00 storage: done, 1.5 min
"""


def shown(form: Form, console: Console | None = None) -> str:
    """Show the events and return what was written."""
    written: list[str] = []
    with progress(form, written.append, clock=lambda: "12:00:00", console=console) as sink:
        for event in EVENTS:
            sink(event)
    return "".join(written)


def test_plain_lines() -> None:
    assert shown("plain") == PLAIN
    assert shown("live") == PLAIN  # no terminal to draw on


def test_json_has_every_event_on_a_line() -> None:
    lines = [json.loads(line) for line in shown("json").splitlines()]
    assert len(lines) == len(EVENTS)
    assert lines[5] == {
        "event": "host_result",
        "host": "h2",
        "task": "base : Look",
        "outcome": "unreachable",
        "seconds": 15,
        "message": "no route [to] host",
        "remedy": "look at it",
    }


def test_events_are_read_back() -> None:
    assert tuple(event_from(json.loads(line)) for line in shown("json").splitlines()) == EVENTS
    assert event_from({"event": "task_started", "task": "Look", "more": 1}) == TaskStarted("Look")
    assert event_from({"event": "result"}) is None


def test_the_live_view_leaves_phases_and_failures_on_the_screen() -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=100, color_system=None, legacy_windows=False)
    assert shown("live", console) == ""
    text = screen.getvalue()
    for line in (
        "12:00:00 base: Prepare the hosts: 2 hosts, about 25 min",
        '12:00:00 base: h2: unreachable at "base : Look": no route [to] host',
        "12:00:00 base: h2: remedy: look at it",
        "12:00:00 storage: done, 1.5 min",
    ):
        assert line in text
    assert "h1: 1 ok" not in text


def test_the_board_shows_those_in_trouble_first() -> None:
    board = Board()
    for at, event in enumerate(EVENTS[:7]):
        board.take(event, 60 * at)
    assert board.heading(600) == "base: Prepare the hosts, 10:00 of about 25 min  base : Look"
    assert board.rows(600) == [
        ("h2", "unreachable", "5:00", "no route [to] host"),
        ("h1", "ok", "8:00", "base : Look"),
    ]


def test_a_board_without_an_expectation_names_none() -> None:
    board = Board()
    board.take(EVENTS[9], 0)
    assert board.heading(60) == "storage: Build, 1:00"
    assert board.rows(60) == [("h1", "waiting", "1:00", "")]
    board.take(EVENTS[10], 0)
    assert board.rows(60) == [("h1", "waiting", "1:00", "  medium 15%")]
