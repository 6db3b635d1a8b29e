"""A rehearsal from the command line: raised, deployed to, told how it went, and found again while it stands."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kvplan.cli.confirming import say
from kvplan.cli.deploying import events_shown
from kvplan.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kvplan.rehearsal.faults import Fault
    from kvplan.rehearsal.standing import Rehearsal
    from kvplan.schema.rehearsing import Rehearsed
    from kvplan.site.deployment import Deployment

PREFIX: Final = "kv-rehearsal-"


@dataclass(frozen=True, slots=True)
class Choice:
    """The options of a rehearsal."""

    plan: Path
    site: Path | None
    cumulus: str | None
    last: str | None
    again: bool
    check: bool
    faults: tuple[str, ...]
    keep: bool
    form: str


def run_rehearsal(choice: Choice, catalogue: list[Path] | None) -> None:
    """Rehearse.

    Parameters
    ----------
    choice
        The options.
    catalogue
        Directories with user tables.

    Raises
    ------
    InputError
        When a file, a fault or a phase is wrong.
    RackError
        When this machine cannot carry the rack; with everything that it lacks.
    DeployFailedError
        When the deployment failed, or a further run changed something.
    KeyboardInterrupt
        When it was stopped.
    """
    from kvplan.rehearsal.needs import able
    from kvplan.rehearsal.standing import standing

    faults = _read(choice)
    deployment = _deployment(choice, catalogue)
    able()
    began = time.monotonic()
    with _directory() as directory, standing(deployment, choice.plan, directory, say) as rehearsal:
        seconds = time.monotonic() - began
        say(f"{len(rehearsal.rack.plan.nodes)} servers stand after {seconds:.0f} s; log: {directory}")
        rehearsed = _rehearsed(choice, faults, rehearsal, seconds)
        _print(choice, rehearsed)
        if choice.keep:
            _keep(directory)
    _conclude(rehearsed)


def run_deploy(rehearsal: Rehearsal, arguments: Sequence[str]) -> None:
    """Deploy to a rack that stands.

    Parameters
    ----------
    rehearsal
        The rehearsal.
    arguments
        Options of `kvplan deploy`.

    Raises
    ------
    DeployFailedError
        When a phase fails.
    """
    from kvplan.errors import DeployFailedError

    with events_shown(json=False) as sink:
        run = rehearsal.deploy(lambda event, _: sink(event), *arguments)
    say(run.said.strip())
    if run.code:
        message = f"kvplan deploy ended with {run.code}"
        raise DeployFailedError(message)


def found(at: Path | None) -> Rehearsal:
    """Find the rehearsal that stands.

    Parameters
    ----------
    at
        Its directory; the only one that stands without.

    Returns
    -------
    Rehearsal
        The rehearsal.

    Raises
    ------
    InputError
        When there is none, or more than one.
    """
    from kvplan.errors import InputError
    from kvplan.rehearsal.standing import Rehearsal

    standing = [at] if at else [path for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*") if _lives(path)]
    if len(standing) != 1:
        names = ", ".join(map(str, standing))
        what = f"more than one rehearsal stands: {names}" if standing else "no rehearsal stands"
        raise InputError.single(where="--at", what=what, hint="kvplan rehearse PLAN --keep, in another terminal")
    return Rehearsal.at(standing[0])


def _read(choice: Choice) -> tuple[Fault, ...]:
    """Read format, phase and faults, and say all that is wrong with them at once."""
    from kvplan.cli.parsing import unknown_name
    from kvplan.deploy.phases import phase
    from kvplan.errors import Problems
    from kvplan.rehearsal.faults import read_fault

    problems = Problems()
    problems.found.extend(unknown_name("--format", "format", choice.form, ("table", "json")))
    if choice.last:
        with problems.kept():
            phase(choice.last, "--phase")
    faults = []
    for text in choice.faults:
        with problems.kept():
            faults.append(read_fault(text))
    problems.raise_any()
    return tuple(faults)


def _deployment(choice: Choice, catalogue: list[Path] | None) -> Deployment:
    """Bring the Plan and its Site together; without a Site, one is made up."""
    from kvplan.api import deployment
    from kvplan.cli.shared import open_catalogue, read_plan
    from kvplan.cli.siting import read_sited
    from kvplan.rehearsal.invented import invented_site
    from kvplan.site.initial.data import DEFAULT_CUMULUS

    if choice.site:
        return read_sited(choice.plan, choice.site, catalogue).checked()
    plan, tables = read_plan(choice.plan), open_catalogue(catalogue)
    software = tables.software(plan.request.software)
    site = invented_site(plan, software, cumulus=choice.cumulus or DEFAULT_CUMULUS)
    return deployment(plan, site, catalogue=tables)


def _rehearsed(choice: Choice, faults: Sequence[Fault], rehearsal: Rehearsal, seconds: float) -> Rehearsed:
    """Deploy, with faults, again, and as a check."""
    from kvplan.rehearsal.rehearse import Course

    with events_shown(json=choice.form == "json") as sink:
        course = Course(rehearsal, sink, choice.last)
        run = course.deploy(faults)
        is_done = run.outcome == "ok"
        again = course.again() if choice.again and is_done else None
        check = course.again("--check", "--diff") if choice.check and is_done else None
        return course.result(run, seconds, again, check)


def _print(choice: Choice, rehearsed: Rehearsed) -> None:
    """Print how it went."""
    import json

    from kvplan.cli.console import out
    from kvplan.cli.shared import show_view
    from kvplan.render.rehearse_view import rehearsed_view

    if choice.form == "json":
        out(f"{json.dumps(rehearsed.model_dump(mode='json'))}\n")
    else:
        show_view(rehearsed_view(rehearsed))


def _keep(directory: Path) -> None:
    """Let the rack stand until Ctrl-C."""
    at = f" --at {directory}" if len([*directory.parent.glob(f"{PREFIX}*")]) > 1 else ""
    say(f"the rack stands until Ctrl-C; in another terminal: kvplan rehearse shell{at} storage-001")
    say(f"also: kvplan rehearse status|fault|mend|deploy|reset{at}")
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        say("taking the rack down")


def _conclude(rehearsed: Rehearsed) -> None:
    """End with the code that belongs to the result."""
    from kvplan.errors import DeployFailedError

    if rehearsed.result == "stopped":
        raise KeyboardInterrupt
    if rehearsed.result == "failed":
        further = [run for run in (rehearsed.second_run, rehearsed.check_run) if run]
        said = "\n".join((rehearsed.message, *(run.message for run in further)))
        errors = [line.removeprefix("error: ") for line in said.splitlines() if line.startswith("error: ")]
        changed = sum(run.changed for run in further)
        message = "\n".join(errors) or f"further runs changed {counted(changed, 'thing')}, and ought to change nothing"
        raise DeployFailedError(message, hint="kvplan rehearse ... --keep lets the rack stand, to look around")


@contextmanager
def _directory() -> Iterator[Path]:
    """Make the rehearsal's directory, and remove it in the end; those of killed ones go too."""
    for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        if left.stat().st_uid == os.geteuid() and not _lives(left):
            shutil.rmtree(left, ignore_errors=True)
    directory = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _lives(directory: Path) -> bool:
    """Tell whether the process still runs that a rehearsal belongs to."""
    pid = directory.name.removeprefix(PREFIX).partition("-")[0]
    return pid.isdigit() and Path("/proc", pid).is_dir()
