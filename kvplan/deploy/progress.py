"""Progress for people and for programs: a live view, plain lines with the time, or lines of JSON."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from kvplan.deploy.events import (
    HostResult,
    LeftOut,
    MediumSent,
    PhaseEnded,
    PhaseStarted,
    Stats,
    TaskStarted,
    event_data,
)
from kvplan.units import counted, format_duration, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console, Group

    from kvplan.deploy.events import Event, HostCounts

Form = Literal["live", "plain", "json"]
_WAIT_LINE_SECONDS: Final = 60.0


@dataclass(slots=True)
class HostLine:
    """One host in the running phase: how its last task ended, which that was, and when."""

    outcome: str = "waiting"
    task: str = ""
    since: float = 0.0
    message: str = ""


@dataclass(slots=True)
class Board:
    """The running phase as events tell it; times by the clock that is passed in [s]."""

    phase: str = ""
    title: str = ""
    task: str = ""
    expected_s: float = 0.0
    began: float = 0.0
    hosts: dict[str, HostLine] = field(default_factory=dict)
    media: dict[str, float] = field(default_factory=dict)

    def take(self, event: Event, at: float) -> None:
        """Take an event into account.

        Parameters
        ----------
        event
            What happened.
        at
            When [s].
        """
        if isinstance(event, PhaseStarted):
            self.phase, self.title, self.task = event.phase, event.title, ""
            self.expected_s, self.began = 60 * event.expected_minutes, at
            self.hosts, self.media = {host: HostLine(since=at) for host in event.hosts}, {}
        elif isinstance(event, TaskStarted):
            self.task = event.task
        elif isinstance(event, HostResult):
            self.hosts[event.host] = HostLine(event.outcome, event.task, at, event.message)
        elif isinstance(event, MediumSent):
            self.media[event.host] = event.share

    def rows(self, at: float) -> list[tuple[str, str, str, str]]:
        """Write a row for each host, those in trouble first.

        Parameters
        ----------
        at
            The time now [s].

        Returns
        -------
        list of tuple of str
            Host, outcome, time since then, and task or message.
        """
        graver = sorted(self.hosts.items(), key=lambda item: item[1].outcome not in {"failed", "unreachable"})
        return [(host, line.outcome, elapsed(at - line.since), self._doing(host, line)) for host, line in graver]

    def _doing(self, host: str, line: HostLine) -> str:
        """Write what a host is at."""
        medium = f"  medium {self.media[host]:.0%}" if host in self.media else ""
        return f"{line.message or line.task}{medium}"

    def heading(self, at: float) -> str:
        """Write what runs, for how long, and how long it should take.

        Parameters
        ----------
        at
            The time now [s].

        Returns
        -------
        str
            One line.
        """
        expected = _about(self.expected_s / 60)
        task = f"  {self.task}" if self.task else ""
        return f"{self.phase}: {self.title}, {elapsed(at - self.began)}{expected and f' of{expected}'}{task}"


def elapsed(seconds: float) -> str:
    """Write a time that runs.

    Parameters
    ----------
    seconds
        The time [s].

    Returns
    -------
    str
        Minutes and seconds, and hours where there are any.

    Examples
    --------
    >>> elapsed(65.9), elapsed(3 * 3600 + 62)
    ('1:05', '3:01:02')
    """
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"  # noqa: PLR2004


@contextmanager
def progress(
    form: Form, write: Callable[[str], None], *, clock: Callable[[], str], console: Console | None = None
) -> Iterator[Callable[[Event], None]]:
    """Show what happens.

    Parameters
    ----------
    form
        How: a live view needs a console.
    write
        Takes text, with its newline.
    clock
        Returns the time of day for plain lines.
    console
        The terminal.

    Yields
    ------
    callable
        Takes each event.
    """
    if form == "json":
        yield lambda event: write(f"{json.dumps(event_data(event))}\n")
    elif form == "live" and console:
        with _live(console, clock) as sink:
            yield sink
    else:
        plain = Plain(write, clock)
        yield plain.take


class Plain:
    """Writes each event that matters as a line with the time; a host that waits says so once a minute."""

    def __init__(self, write: Callable[[str], None], clock: Callable[[], str]) -> None:
        self._write = write
        self._clock = clock
        self._phase = ""
        self._expected = ""
        self._waits: dict[str, float] = {}

    def take(self, event: Event) -> None:
        """Write an event.

        Parameters
        ----------
        event
            What happened.
        """
        if isinstance(event, PhaseStarted):
            self._phase = event.phase
            self._expected = _about(event.expected_minutes)
        if isinstance(event, HostResult) and event.outcome == "retry" and self._said_lately(event.host):
            return
        expected = self._expected if isinstance(event, PhaseEnded) else ""
        phase = event.phase if isinstance(event, LeftOut) else self._phase
        for line in plain_lines(event):
            self._write(f"{self._clock()} {phase}: {line}{expected and f' of{expected}'}\n")

    def _said_lately(self, host: str) -> bool:
        """Tell whether a host has just said that it waits."""
        at = time.monotonic()
        if at - self._waits.get(host, -_WAIT_LINE_SECONDS) < _WAIT_LINE_SECONDS:
            return True
        self._waits[host] = at
        return False


def plain_lines(event: Event) -> Iterator[str]:
    """Write an event as lines.

    Parameters
    ----------
    event
        What happened.

    Yields
    ------
    str
        Lines; none for a task that went well.

    Examples
    --------
    >>> [*plain_lines(HostResult("s1", "Look", "failed", message="no disk", remedy="insert one"))]
    ['s1: failed at "Look": no disk', 's1: remedy: insert one']
    """
    if isinstance(event, PhaseStarted):
        expected = _about(event.expected_minutes)
        yield f"{event.title}: {counted(len(event.hosts), 'host')}{expected and f',{expected}'}"
    elif isinstance(event, TaskStarted):
        yield event.task
    elif isinstance(event, HostResult):
        if event.bad or (event.outcome == "ignored" and event.message):
            yield f'{event.host}: {event.outcome} at "{event.task}": {event.message}'
        if event.remedy:
            yield f"{event.host}: remedy: {event.remedy}"
        if event.outcome == "retry":
            yield f'{event.host}: waits at "{event.task}", {event.message}'
    elif isinstance(event, Stats):
        yield from (f"{host}: {_counts(counts)}" for host, counts in event.hosts.items())
    elif isinstance(event, MediumSent):
        yield f"{event.host}: its controller was sent {event.share:.0%} of the medium"
    elif isinstance(event, LeftOut):
        yield f"{listed(event.hosts)} left out: {event.reason}"
    else:
        yield f"{'done' if event.ok else 'not done'}, {format_duration(event.seconds)}"


def _about(minutes: float) -> str:
    """Write how long something should take; nothing where that is not known."""
    return f" about {format_duration(60 * minutes)}" if minutes else ""


def _counts(counts: HostCounts) -> str:
    """Write the counts of a host, leaving out troubles that it had none of."""
    troubles = (("failed", counts.failed), ("unreachable", counts.unreachable))
    parts = (f"{counts.ok:,} ok", f"{counts.changed:,} changed", *(f"{n:,} {word}" for word, n in troubles if n))
    return ", ".join(parts)


@contextmanager
def _live(console: Console, clock: Callable[[], str]) -> Iterator[Callable[[Event], None]]:
    """Keep a table of the running phase on the terminal; what stays on it are lines."""
    from rich.live import Live  # noqa: PLC0415 - for terminals only

    board = Board()
    plain = Plain(lambda line: console.print(line, end="", markup=False, highlight=False), clock)
    with Live(get_renderable=lambda: _table(board), console=console, refresh_per_second=2, transient=True):

        def sink(event: Event) -> None:
            board.take(event, time.monotonic())
            if isinstance(event, PhaseStarted | PhaseEnded | LeftOut) or (isinstance(event, HostResult) and event.bad):
                plain.take(event)

        yield sink


def _table(board: Board) -> Group:
    """Lay the running phase out."""
    from rich.console import Group  # noqa: PLC0415 - for terminals only
    from rich.table import Table  # noqa: PLC0415 - for terminals only
    from rich.text import Text  # noqa: PLC0415

    at = time.monotonic()
    table = Table(box=None, show_header=False)
    for row in board.rows(at):
        table.add_row(*map(Text, row))
    return Group(Text(board.heading(at)), table)
