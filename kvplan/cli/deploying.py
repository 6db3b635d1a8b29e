"""A run of phases from the command line: agreed to, rendered, run, and told how it ended."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kvplan.cli import confirming
from kvplan.cli.confirming import say
from kvplan.units import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kvplan.cli.siting import Sited
    from kvplan.deploy.driver import Order, Outcome
    from kvplan.deploy.events import Event
    from kvplan.deploy.journal import Hashes, Journal
    from kvplan.deploy.phases import Phase
    from kvplan.schema.deploying import Destroyed, PhaseState
    from kvplan.site.deployment import Deployment
    from kvplan.site.tree import File

JOURNAL: Final = "journal.jsonl"


@dataclass(frozen=True, slots=True)
class Choice:
    """The options of a run, and the command that goes on with it."""

    command: str
    tree: Path
    state: Path
    resume: bool
    start: str | None
    only: str | None
    limit: tuple[str, ...]
    reinstall: tuple[str, ...]
    check: bool
    diff: bool
    yes: str | None
    accept_changes: bool
    known_hosts: Path | None
    vault_password: Path | None
    json: bool


def run_phases(choice: Choice, sited: Sited) -> None:
    """Run phases under the deployment's lock.

    Parameters
    ----------
    choice
        The options.
    sited
        The Plan at its Site.

    Raises
    ------
    InputError
        When a secret is missing, a name is unknown, or another run is at it.
    UsageError
        When nobody agrees to what is destroyed.
    PlanStaleError
        When something changed since the last run, and that is not agreed to.
    DeployFailedError
        When a phase fails.
    KeyboardInterrupt
        When the run was stopped.
    """
    from kvplan.deploy.driver import deploy
    from kvplan.deploy.journal import Journal
    from kvplan.deploy.lock import alone
    from kvplan.deploy.secrets import read_secrets
    from kvplan.site.render import render_tree
    from kvplan.site.secrets import secret_references

    deployment = sited.checked()
    references = secret_references(deployment.site)
    secrets = read_secrets(references, sited.directory, vault_password=choice.vault_password)
    _private_directory(choice.state)
    journal = Journal(choice.state / JOURNAL)
    with alone(choice.state) as scratch:
        order = _agreed_order(choice, deployment, render_tree(deployment), secrets, journal)
        say(f"log: {order.log}")
        with _sink(choice) as sink:
            outcome = deploy(order, journal, sink, scratch)
    _conclude(choice, order, outcome)


def _agreed_order(
    choice: Choice, deployment: Deployment, tree: Mapping[str, File], secrets: Mapping[str, str], journal: Journal
) -> Order:
    """Bring the tree to disk and choose phases and hosts, once a person agrees to changes and destruction."""
    from kvplan.cli.tree_out import changes, write_tree
    from kvplan.deploy.confirm import destroyed, endangered
    from kvplan.deploy.journal import Entry, accepted, phase_states
    from kvplan.deploy.phases import PHASES, groups_in

    entries, now = journal.entries(), _hashes(deployment, tree)
    directory = choice.state / "check" if choice.check else choice.tree
    if not choice.check:
        found = changes(tree, directory)
        before = accepted(entries)
        confirming.acknowledged(found, before, now, tree, choice.state, accepted=choice.accept_changes)
    write_tree(tree, directory)
    groups = groups_in(directory)
    hosts = {phase.name: phase.hosts(groups) for phase in PHASES}
    states = phase_states(entries, PHASES, hosts, _playbooks(), now)
    order = _order(choice, _phases(choice, states), groups, directory, now, secrets)
    if not choice.check:
        losses = destroyed(deployment, {phase.name: order.hosts(phase) for phase in order.phases})
        listed = endangered(losses, entries, order.reinstall)
        confirming.destruction_agreed(listed, deployment, choice.yes, confirming.terminal())
        order = replace(order, confirmed=_hosts(listed), losses=_texts(losses))
        journal.write(Entry("accepted", order.run, now, hosts=hosts))
        confirming.remember(tree, choice.state)
    return order


def _order(
    choice: Choice,
    phases: tuple[Phase, ...],
    groups: Mapping[str, tuple[str, ...]],
    directory: Path,
    now: Hashes,
    secrets: Mapping[str, str],
) -> Order:
    """Describe the run."""
    from kvplan.deploy.driver import Order, limited

    run = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{os.getpid()}"
    _private_directory(choice.state / "logs")
    return Order(
        run=run,
        phases=phases,
        groups=groups,
        playbooks=_playbooks(),
        tree=directory,
        state=choice.state,
        log=choice.state / "logs" / f"{run}.log",
        hashes=now,
        secrets=secrets,
        limit=limited(choice.limit, groups),
        check=choice.check,
        diff=choice.diff,
        known_hosts=choice.known_hosts,
        reinstall=_reinstalled(choice, phases, groups),
    )


def _reinstalled(choice: Choice, phases: tuple[Phase, ...], groups: Mapping[str, tuple[str, ...]]) -> frozenset[str]:
    """Find the servers to be installed anew."""
    from kvplan.deploy.driver import PROVISION, limited
    from kvplan.errors import UsageError

    installs = next((phase for phase in phases if phase.name == PROVISION), None)
    if choice.reinstall and not installs:
        message = f"--reinstall needs phase {PROVISION}, which is not among those that run"
        raise UsageError(message)
    hosts = limited(choice.reinstall, groups, "--reinstall")
    return hosts.intersection(installs.hosts(groups)) if installs else frozenset()


def _playbooks() -> Path:
    """Return the directory of the playbooks."""
    from kvplan.assets import playbooks_dir

    return playbooks_dir()


def _phases(choice: Choice, states: tuple[PhaseState, ...]) -> tuple[Phase, ...]:
    """Choose phases: those named, or what is left to do."""
    from kvplan.deploy.phases import chosen

    if not choice.resume:
        return chosen(_playbooks(), only=choice.only, start=choice.start)
    left = [state.name for state in states if state.playbook and state.state != "done" and state.hosts]
    return chosen(_playbooks(), start=left[0]) if left else ()


def _hashes(deployment: Deployment, tree: Mapping[str, File]) -> Hashes:
    """Hash the Plan, the Site and the rendered tree."""
    from kvplan.deploy.journal import Hashes
    from kvplan.site.render import site_sha256
    from kvplan.site.tree import MANIFEST

    manifest = sha256(tree[MANIFEST].content).hexdigest()
    return Hashes(deployment.plan_sha256, site_sha256(deployment.site), manifest)


def _hosts(listed: Sequence[Destroyed]) -> dict[str, frozenset[str]]:
    """Name the hosts that each phase may destroy."""
    return {phase: frozenset(held) for phase, held in _texts(listed).items()}


def _texts(losses: Sequence[Destroyed]) -> dict[str, dict[str, str]]:
    """Say in a line what each host loses in each phase."""
    found: dict[str, dict[str, str]] = {}
    for loss in losses:
        found.setdefault(loss.phase, {})[loss.host] = loss.text
    return found


def _private_directory(path: Path) -> None:
    """Make a directory that only its owner may enter."""
    from kvplan.inputs.files import make_directory

    make_directory(path)
    path.chmod(0o700)


@contextmanager
def _sink(choice: Choice) -> Iterator[Callable[[Event], None]]:
    """Show progress: on a terminal as a live view, else as lines, or as JSON on stdout."""
    from rich.console import Console

    from kvplan.cli.console import out
    from kvplan.deploy.progress import progress

    console = Console(stderr=True)
    form = "json" if choice.json else "live" if console.is_terminal and not console.is_dumb_terminal else "plain"
    write = out if choice.json else _write_error
    with progress(form, write, clock=lambda: time.strftime("%H:%M:%S"), console=console) as sink:  # type: ignore[arg-type]
        yield sink


def _write_error(text: str) -> None:
    """Write to stderr at once."""
    sys.stderr.write(text)
    sys.stderr.flush()


def _conclude(choice: Choice, order: Order, outcome: Outcome) -> None:
    """Print the result, say where the log is, and end with the code that belongs to it."""
    from kvplan.deploy.driver import summed
    from kvplan.errors import DeployFailedError

    _print(choice, order, outcome, summed(outcome.phases))
    say(f"log: {order.log}")
    go_on = f"go on with: {choice.command} --resume"
    if outcome.result == "stopped":
        say(f"stopped in phase {outcome.phases[-1].phase}; {go_on}")
        raise KeyboardInterrupt
    if failure := outcome.last_failure:
        message = f"phase {outcome.phases[-1].phase} failed on {listed(outcome.failed)}\n"
        message += f"{failure.host}: {failure.task}: {failure.message}"
        raise DeployFailedError(message, hint="; ".join(part for part in (failure.remedy, go_on) if part))


def _print(choice: Choice, order: Order, outcome: Outcome, phases: list[dict[str, object]]) -> None:
    """Print the sums of the phases, as a table or as the last line of JSON."""
    import json

    from kvplan.cli.console import out
    from kvplan.cli.shared import show_view
    from kvplan.render.deploy_view import summary_view
    from kvplan.schema.deploying import DEPLOY_FORMAT_VERSION

    if not choice.json:
        show_view(summary_view(phases, outcome.result))
        return
    head = {"event": "result", "format_version": DEPLOY_FORMAT_VERSION, "result": outcome.result, "check": order.check}
    out(f"{json.dumps({**head, 'log': str(order.log), 'phases': phases})}\n")
