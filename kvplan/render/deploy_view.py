"""How far a deployment is, and what it is about to destroy, arranged for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvplan.render.view import Grid, Section, View
from kvplan.units import counted, format_duration, listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kvplan.schema.deploying import DeployStatus, Destroyed, PhaseState

STATUS_HEADERS = ("phase", "host", "state", "at", "message")
SHORT = 12
"""Characters of a hash that tell it from others."""


def status_view(status: DeployStatus) -> View:
    """Arrange how far a deployment is.

    Parameters
    ----------
    status
        How far it is.

    Returns
    -------
    View
        A row for each phase, the hosts that need attention, and what comes next.
    """
    rows = tuple((phase.name, phase.title, _state(phase), _count(phase)) for phase in status.phases)
    attention = tuple(
        f"{phase.name}: {host.host}: {host.state}{f': {host.message}' if host.message else ''}"
        for phase in status.phases
        for host in phase.hosts
        if host.state in {"failed", "unfinished"}
    )
    by = f"Plan {status.plan_sha256[:SHORT]}, Site {status.site_sha256[:SHORT]}" if status.plan_sha256 else "not begun"
    following = f"next: {status.next_phase}" if status.next_phase else "every phase that has a playbook is done"
    below = (f"running: {status.running}" if status.running else following,)
    grid = Grid(("Phase", "What", "State", "Hosts done"), rows, "llll")
    return (
        Section("Deployment", (by,), grid, below),
        *((Section("Needs attention", attention),) if attention else ()),
    )


def status_rows(status: DeployStatus) -> list[tuple[str, ...]]:
    """Return each host in each phase as a row under `STATUS_HEADERS`.

    Parameters
    ----------
    status
        How far a deployment is.

    Returns
    -------
    list of tuple of str
        Rows.
    """
    return [
        (phase.name, host.host, host.state, host.at, host.message) for phase in status.phases for host in phase.hosts
    ]


def destruction_view(destroyed: Sequence[Destroyed], cluster: str) -> View:
    """Arrange what is about to be destroyed.

    Parameters
    ----------
    destroyed
        What each host loses.
    cluster
        The cluster's name.

    Returns
    -------
    View
        One section a kind of loss, with every serial number.
    """
    titles = {"reinstalled": "to be installed anew, on these drives", "wiped": "to lose everything on these drives"}
    sections = []
    for what, title in titles.items():
        rows = tuple((d.host, d.serial, ", ".join(d.drives)) for d in destroyed if d.what == what)
        if rows:
            grid = Grid(("Host", "Serial", "Drives"), rows, "lll")
            sections.append(Section(f"{cluster}: {counted(len(rows), 'host')} {title}", grid=grid))
    return tuple(sections)


def summary_view(phases: Sequence[Mapping[str, Any]], result: str, *, check: bool = False) -> View:
    """Arrange how a run ended.

    Parameters
    ----------
    phases
        Name, seconds and counts of tasks of each phase that ran.
    result
        How the run ended.
    check
        Whether it only looked.

    Returns
    -------
    View
        A row for each phase.
    """
    counts = ("ok", "changed", "failed", "unreachable")
    rows = tuple(
        (phase["name"], format_duration(phase["seconds"]), *(f"{phase[kind]:,}" for kind in counts)) for phase in phases
    )
    grid = Grid(("Phase", "Time", *counts), rows, "lrrrrr") if rows else None
    changed = sum(phase["changed"] for phase in phases)
    told = (f"{counted(changed, 'task')} would change something",) if check else ()
    title = f"{'Check' if check else 'Deployment'}: {result}"
    return (Section(title, told if rows else ("nothing was left to do",), grid),)


def _state(phase: PhaseState) -> str:
    """Write the state of a phase; one without a playbook cannot be begun."""
    return phase.state if phase.playbook or phase.state != "open" else "no playbook"


def _count(phase: PhaseState) -> str:
    """Count the hosts that are done, and name the first of those that are not once some are."""
    done = [host.host for host in phase.hosts if host.state == "done"]
    left = [host.host for host in phase.hosts if host.state != "done"]
    return f"{len(done)}/{len(phase.hosts)}{f' without {listed(left)}' if done and left else ''}" if phase.hosts else ""
