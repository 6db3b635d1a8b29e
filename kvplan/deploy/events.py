"""What happens during a deployment as small records, most of them made from the events of ansible-runner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Literal

Outcome = Literal["ok", "changed", "skipped", "ignored", "retry", "failed", "unreachable"]
_OUTCOMES: Final[dict[str, Outcome]] = {
    "runner_on_ok": "ok",
    "runner_on_skipped": "skipped",
    "runner_retry": "retry",
    "runner_on_failed": "failed",
    "runner_on_unreachable": "unreachable",
}
MAX_MESSAGE: Final = 600
"""Characters of a message that are shown; the log has all."""
_NO_ROOM: Final = "No space left on device"
_FULL: Final = "make room on the host: df --human-readable, du --max-depth=2 /var; then go on with --resume"
_UNREACHABLE: Final = "see that the host is up, on the network and answers SSH, then go on with --resume"


@dataclass(frozen=True, slots=True)
class PhaseStarted:
    """A phase begins on its hosts."""

    phase: str
    title: str
    hosts: tuple[str, ...]
    expected_minutes: float


@dataclass(frozen=True, slots=True)
class TaskStarted:
    """A task begins on every host that it is for."""

    task: str


@dataclass(frozen=True, slots=True)
class HostResult:
    """A task ended on a host; message and remedy are empty unless it went wrong."""

    host: str
    task: str
    outcome: Outcome
    seconds: float = 0.0
    message: str = ""
    remedy: str = ""

    @property
    def bad(self) -> bool:
        """Whether the host takes no further part."""
        return self.outcome in {"failed", "unreachable"}


@dataclass(frozen=True, slots=True)
class HostCounts:
    """How many tasks ended how on a host."""

    ok: int = 0
    changed: int = 0
    failed: int = 0
    unreachable: int = 0

    @property
    def bad(self) -> bool:
        """Whether the host failed."""
        return bool(self.failed or self.unreachable)


@dataclass(frozen=True, slots=True)
class Stats:
    """The sum of a playbook for each host."""

    hosts: Mapping[str, HostCounts]


@dataclass(frozen=True, slots=True)
class PhaseEnded:
    """A phase ended, well or not, after so many seconds."""

    phase: str
    ok: bool
    seconds: float
    hosts: Mapping[str, HostCounts]


@dataclass(frozen=True, slots=True)
class MediumSent:
    """The controller of a host was sent so much of its boot medium by now, counting twice what it asked for twice."""

    host: str
    client: str
    sent_bytes: int
    size_bytes: int

    @property
    def share(self) -> float:
        """The share that was sent, at most 1."""
        return min(1.0, self.sent_bytes / self.size_bytes)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A phase takes no account of hosts, and why."""

    phase: str
    hosts: tuple[str, ...]
    reason: str


Event = PhaseStarted | TaskStarted | HostResult | Stats | PhaseEnded | MediumSent | LeftOut
_NAMES: Final[dict[type[Event], str]] = {
    PhaseStarted: "phase_started",
    TaskStarted: "task_started",
    HostResult: "host_result",
    Stats: "stats",
    PhaseEnded: "phase_ended",
    MediumSent: "medium_sent",
    LeftOut: "left_out",
}


def event_data(event: Event) -> dict[str, Any]:
    """Return an event as plain data.

    Parameters
    ----------
    event
        What happened.

    Returns
    -------
    dict
        Its fields, and its name under `event`.

    Examples
    --------
    >>> event_data(TaskStarted("Look"))
    {'event': 'task_started', 'task': 'Look'}
    """
    return {"event": _NAMES[type(event)], **asdict(event)}


def event_from(data: Mapping[str, Any]) -> Event | None:
    """Make an event from plain data, as `event_data` wrote it.

    Parameters
    ----------
    data
        The data; fields that this kvplan does not know are left out.

    Returns
    -------
    Event or None
        None where the data is of something else.

    Examples
    --------
    >>> event_from({"event": "task_started", "task": "Look"})
    TaskStarted(task='Look')
    """
    kind = next((kind for kind, name in _NAMES.items() if name == data.get("event")), None)
    if kind is None:
        return None
    values = {entry.name: data[entry.name] for entry in fields(kind) if entry.name in data}
    if isinstance(values.get("hosts"), Mapping):
        values["hosts"] = {host: HostCounts(**counts) for host, counts in values["hosts"].items()}
    elif "hosts" in values:
        values["hosts"] = tuple(values["hosts"])
    return kind(**values)


def read_event(raw: Mapping[str, Any]) -> Event | None:
    """Make a record from an event of ansible-runner.

    Parameters
    ----------
    raw
        The event.

    Returns
    -------
    Event or None
        None for an event that says nothing to people.
    """
    kind, data = raw.get("event", ""), raw.get("event_data") or {}
    if kind == "playbook_on_task_start":
        return TaskStarted(_task(data))
    if kind == "playbook_on_stats":
        return Stats(_counts(data))
    return _result(_OUTCOMES[kind], data) if kind in _OUTCOMES else None


def _task(data: Mapping[str, Any]) -> str:
    """Name a task with its role."""
    return " : ".join(part for part in (data.get("role"), data.get("task")) if part)


def _result(outcome: Outcome, data: Mapping[str, Any]) -> HostResult:
    """Tell how a task ended on a host."""
    result = data.get("res") or {}
    if outcome == "ok" and result.get("changed"):
        outcome = "changed"
    if (outcome == "failed" and data.get("ignore_errors")) or (outcome == "unreachable" and result.get("ignored")):
        outcome = "ignored"
    bad = outcome in {"failed", "unreachable"}
    remedy = _remedy(outcome, result) if bad else ""
    message = _attempts(result) if outcome == "retry" else _message(result) if bad or outcome == "ignored" else ""
    return HostResult(
        host=data.get("host", ""),
        task=_task(data),
        outcome=outcome,
        seconds=float(data.get("duration") or 0.0),
        message=message.removesuffix(f"; {remedy}"),
        remedy=remedy,
    )


def _attempts(result: Mapping[str, Any]) -> str:
    """Say how many attempts were made of how many."""
    return f"attempt {result.get('attempts', 1)} of {result.get('retries', 1)}"


def _message(result: Mapping[str, Any]) -> str:
    """Find what went wrong: the message of the item or of the module, and what a command wrote."""
    if "censored" in result:
        return "hidden, because the task handles a secret; the log has no more"
    broken = _broken_item(result)
    if broken:
        return _message(broken)
    written = result.get("stderr") or result.get("module_stderr") or result.get("stdout") or result.get("module_stdout")
    parts = (str(result.get("msg") or ""), _last_line(str(written or "")))
    text = ": ".join(" ".join(part.split()) for part in dict.fromkeys(parts) if part)
    return text if len(text) <= MAX_MESSAGE else f"{text[:MAX_MESSAGE]}…"


def _broken_item(result: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Find the first item of a loop that failed."""
    items = result.get("results") or ()
    return next((item for item in items if isinstance(item, Mapping) and item.get("failed")), None)


def _last_line(text: str) -> str:
    """Return the last line that says something."""
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")


def _remedy(outcome: Outcome, result: Mapping[str, Any]) -> str:
    """Return what to do: what the module says, of each finding if it has several, else what helps in general."""
    broken = _broken_item(result) or result
    findings = [found for found in broken.get("findings") or () if isinstance(found, Mapping)]
    several = "; ".join(dict.fromkeys(str(found["remedy"]) for found in findings if found.get("remedy")))
    own = several or broken.get("remedy")
    if own:
        return str(own)
    return _FULL if _NO_ROOM in str(broken) else _UNREACHABLE if outcome == "unreachable" else ""


def _counts(data: Mapping[str, Any]) -> dict[str, HostCounts]:
    """Sum up by host; Ansible calls unreachable hosts dark."""
    names = {"ok": "ok", "changed": "changed", "failed": "failures", "unreachable": "dark"}
    hosts = sorted({host for kind in ("processed", *names.values()) for host in data.get(kind) or ()})
    return {
        host: HostCounts(**{field: (data.get(kind) or {}).get(host, 0) for field, kind in names.items()})
        for host in hosts
    }
