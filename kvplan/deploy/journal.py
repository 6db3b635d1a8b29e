"""The journal of a deployment: what was done to which host, by which Plan, Site and rendered tree."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from kvplan.errors import InputError
from kvplan.schema.deploying import DeployStatus, HostState, PhaseState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from kvplan.deploy.phases import Phase
    from kvplan.schema.deploying import State

FORMAT: Final = 1
Step = Literal["accepted", "started", "ok", "failed", "void"]
_STATES: Final[dict[str, State]] = {"started": "unfinished", "failed": "failed", "ok": "done", "void": "open"}
_GRAVITY: Final[tuple[State, ...]] = ("failed", "unfinished", "stale", "open", "done")
"""A phase is what the first of these is that one of its hosts is."""


class Hashes(NamedTuple):
    """What a run goes by."""

    plan: str = ""
    site: str = ""
    tree: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: what happened, when [UTC], in which run, and by which hashes.

    An `accepted` entry opens a run and lists the hosts of each phase; any other is about one host in one phase. `void`
    takes back what was done to a host that is installed anew. The message of `failed` says why, that of `ok` which
    drives were written over.
    """

    step: Step
    run: str
    hashes: Hashes
    phase: str = ""
    host: str = ""
    message: str = ""
    at: str = ""
    hosts: Mapping[str, Sequence[str]] = field(default_factory=dict)


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Journal:
    """The journal in a deployment's directory of state: only ever appended to, each entry on disk before the next."""

    def __init__(self, path: Path, clock: Callable[[], str] = now) -> None:
        self.path = path
        self._clock = clock

    def write(self, *entries: Entry) -> None:
        """Append entries.

        Parameters
        ----------
        *entries
            What happened; the time is put in here.

        Raises
        ------
        InputError
            When the journal cannot be written.
        """
        lines = "".join(f"{json.dumps({'v': FORMAT, **asdict(self._dated(entry))})}\n" for entry in entries)
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
            with os.fdopen(descriptor, "r+b", buffering=0) as file:
                # A run that was killed may have left half a line.
                torn = file.seek(0, os.SEEK_END) and os.pread(file.fileno(), 1, file.tell() - 1) != b"\n"
                file.write(b"\n" * bool(torn) + lines.encode())
                os.fsync(file.fileno())
        except OSError as error:
            what = f"cannot be written: {(error.strerror or str(error)).lower()}"
            raise InputError.single(str(self.path), what) from error

    def entries(self) -> tuple[Entry, ...]:
        """Read the entries; a line that was torn when a run was killed is left out.

        Returns
        -------
        tuple of Entry
            In the order in which they were written; none where there is no journal.

        Raises
        ------
        InputError
            When the journal was written by a later kvplan, or cannot be read.
        """
        try:
            lines = self.path.read_bytes().splitlines()
        except FileNotFoundError:
            return ()
        except OSError as error:
            what = f"cannot be read: {(error.strerror or str(error)).lower()}"
            raise InputError.single(str(self.path), what) from error
        return tuple(entry for line in lines if (entry := self._parsed(line)))

    def _dated(self, entry: Entry) -> Entry:
        """Put the time into an entry."""
        return replace(entry, at=self._clock())

    def _parsed(self, line: bytes) -> Entry | None:
        """Read one line; None for one that was torn."""
        try:
            data: dict[str, Any] = json.loads(line)
            version = data.pop("v")
            if version == FORMAT:
                return Entry(**{**data, "hashes": Hashes(*data["hashes"])})
        except (ValueError, TypeError, KeyError, AttributeError):
            return None
        raise InputError.single(str(self.path), f"has format {version}, this kvplan reads {FORMAT}")


def accepted(entries: Iterable[Entry]) -> Hashes | None:
    """Return what the last run went by.

    Parameters
    ----------
    entries
        The journal.

    Returns
    -------
    Hashes or None
        None where nothing was run yet.
    """
    return next((entry.hashes for entry in reversed([*entries]) if entry.step == "accepted"), None)


def phase_states(
    entries: Iterable[Entry],
    phases: Iterable[Phase],
    hosts: Mapping[str, Sequence[str]],
    playbooks: Path,
    hashes: Hashes,
) -> tuple[PhaseState, ...]:
    """Tell where each phase is.

    Parameters
    ----------
    entries
        The journal.
    phases
        The phases asked about.
    hosts
        The hosts of each phase.
    playbooks
        Directory of the playbooks.
    hashes
        What is to be deployed now; what was done by other hashes is stale.

    Returns
    -------
    tuple of PhaseState
        Each phase with its hosts.
    """
    last = {(entry.phase, entry.host): entry for entry in entries if entry.host}
    states = []
    for phase in phases:
        found = tuple(_host_state(host, last.get((phase.name, host)), hashes) for host in hosts.get(phase.name, ()))
        held = {state.state for state in found} or {"open"}
        # Some hosts done and the rest not begun is a phase that was limited.
        worst = next(state for state in _GRAVITY if state in held)
        states.append(
            PhaseState(name=phase.name, title=phase.title, state=worst, playbook=phase.exists(playbooks), hosts=found)
        )
    return tuple(states)


def status(
    entries: Sequence[Entry],
    phases: Sequence[Phase],
    playbooks: Path,
    *,
    hashes: Hashes | None = None,
    running: str = "",
) -> DeployStatus:
    """Tell how far a deployment is.

    Parameters
    ----------
    entries
        The journal.
    phases
        All phases.
    playbooks
        Directory of the playbooks.
    hashes
        What is to be deployed now; that of the last run when absent.
    running
        Who runs it now.

    Returns
    -------
    DeployStatus
        Each phase, and the first that has a playbook and is not done.
    """
    by = hashes or accepted(entries) or Hashes()
    hosts = next((entry.hosts for entry in reversed(entries) if entry.step == "accepted"), {})
    states = phase_states(entries, phases, hosts, playbooks, by)
    following = next((state.name for state in states if state.playbook and state.state != "done"), "")
    return DeployStatus(
        plan_sha256=by.plan,
        site_sha256=by.site,
        tree_sha256=by.tree,
        running=running,
        next_phase=following,
        phases=states,
    )


def _host_state(host: str, entry: Entry | None, hashes: Hashes) -> HostState:
    """Tell where one host is by its last entry."""
    if entry is None:
        return HostState(host=host, state="open")
    state = _STATES[entry.step]
    if state == "done" and entry.hashes != hashes:
        state = "stale"
    return HostState(host=host, state=state, at=entry.at, message=entry.message)
