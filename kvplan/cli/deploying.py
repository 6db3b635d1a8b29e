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
from threading import Lock
from typing import TYPE_CHECKING, Final, NamedTuple

from kvplan.cli import confirming
from kvplan.cli.confirming import say
from kvplan.units import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kvplan.cli.siting import Sited
    from kvplan.deploy.driver import Order, Outcome
    from kvplan.deploy.events import Event
    from kvplan.deploy.journal import Hashes, Journal
    from kvplan.deploy.media import Shelf
    from kvplan.deploy.phases import Phase
    from kvplan.schema.deploying import Destroyed, PhaseState
    from kvplan.site.deployment import Deployment
    from kvplan.site.tree import File

JOURNAL: Final = "journal.jsonl"
_SHOWN: Final = 3
"""Hosts of which is said what went wrong; the log says it of all."""


class Span(NamedTuple):
    """Where a run begins and ends: with the first phase that is not done, with phases by name, or with one alone."""

    resume: bool
    start: str | None
    end: str | None
    only: str | None


@dataclass(frozen=True, slots=True)
class Choice:
    """The options of a run, and the command that goes on with it."""

    command: str
    files: tuple[Path, Path]
    tree: Path
    state: Path
    span: Span
    limit: tuple[str, ...]
    reinstall: tuple[str, ...]
    wipe: tuple[str, ...]
    check: bool
    diff: bool
    yes: str | None
    accept_changes: bool
    known_hosts: Path | None
    vault_password: Path | None
    media: Path
    variables: tuple[str, ...]
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
        When a secret, a boot medium or a name is not there, or another run is at it.
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
    from kvplan.deploy.variables import read_settings
    from kvplan.site.render import render_tree
    from kvplan.site.secrets import secret_references

    deployment = sited.checked()
    references = secret_references(deployment.site)
    secrets = read_secrets(references, sited.directory, vault_password=choice.vault_password)
    variables = read_settings(choice.variables, _playbooks())
    _private_directory(choice.state)
    journal = Journal(choice.state / JOURNAL)
    with alone(choice.state) as scratch:
        tree = render_tree(deployment)
        now = _hashes(deployment, tree)
        directory = _written(choice, tree, journal, now, scratch)
        order = _order(choice, deployment, directory, now, journal, secrets)
        order = replace(order, variables=variables)
        shelf = _shelf(choice, deployment, order)
        if not choice.check:
            _agree(choice, deployment, order, journal, tree)
        say(f"log: {order.log}")
        with events_shown(json=choice.json) as sink, shelf.handed_out(sink):
            outcome = deploy(order, journal, sink, scratch)
    _conclude(choice, order, outcome)


def _written(choice: Choice, tree: Mapping[str, File], journal: Journal, now: Hashes, scratch: Path) -> Path:
    """Bring the tree to disk once a person agrees to what changed; that of a check lies in memory only."""
    from kvplan.cli.tree_out import changes, write_tree
    from kvplan.deploy.journal import accepted

    before = accepted(journal.entries())
    directory = scratch / "tree" if choice.check else choice.tree
    if not choice.check:
        found = changes(tree, directory)
        confirming.acknowledged(found, before, now, tree, choice.state, accepted=choice.accept_changes)
    elif changed := confirming.changed_parts(before, now):
        say(f"{' and '.join(changed)} changed since the last run: deploying takes --accept-changes")
    write_tree(tree, directory)
    return directory


def _agree(choice: Choice, deployment: Deployment, order: Order, journal: Journal, tree: Mapping[str, File]) -> None:
    """See that a person agrees to what is destroyed, and write down what the run goes by."""
    from kvplan.deploy.confirm import destroyed
    from kvplan.deploy.journal import Entry
    from kvplan.deploy.phases import PHASES

    losses = destroyed(deployment, order.confirmed)
    confirming.destruction_agreed(losses, deployment, choice.yes, confirming.terminal())
    hosts = {phase.name: phase.hosts(order.groups) for phase in PHASES}
    journal.write(Entry("accepted", order.run, order.hashes, hosts=hosts))
    confirming.remember(tree, choice.state)


def _shelf(choice: Choice, deployment: Deployment, order: Order) -> Shelf:
    """Find the media of the servers that may be installed, and see that they are there."""
    import shlex

    from kvplan.deploy.driver import PROVISION
    from kvplan.deploy.media import Shelf, needed
    from kvplan.site.media.recipe import recipe_of

    media = needed(recipe_of(deployment).media, order.confirmed.get(PROVISION, ()))
    shelf = Shelf(deployment.site.media.address, deployment.site.media.port, choice.media, media)
    build = ("kvplan", "render", *choice.files, "--media", choice.media, "--image")
    shelf.check(f"{shlex.join(map(str, build))} IMAGE")
    return shelf


def _order(
    choice: Choice,
    deployment: Deployment,
    directory: Path,
    now: Hashes,
    journal: Journal,
    secrets: Mapping[str, str],
) -> Order:
    """Describe the run; what it may destroy is agreed to before it begins."""
    from kvplan.deploy.confirm import destroyed, endangered
    from kvplan.deploy.driver import PROVISION, STORAGE, Order, limited
    from kvplan.deploy.journal import phase_states
    from kvplan.deploy.phases import PHASES, groups_in

    entries, groups = journal.entries(), groups_in(directory)
    states = phase_states(entries, PHASES, {phase.name: phase.hosts(groups) for phase in PHASES}, _playbooks(), now)
    phases = _phases(choice, states)
    run = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{os.getpid()}"
    _private_directory(choice.state / "logs")
    order = Order(
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
        reinstall=_anew("--reinstall", choice.reinstall, PROVISION, phases, groups),
        hosts_up=_hosts_up(states),
    )
    _refuse_parts(choice, order)
    losses = destroyed(deployment, {phase.name: order.hosts(phase) for phase in phases})
    anew = {PROVISION: order.reinstall, STORAGE: _anew("--wipe", choice.wipe, STORAGE, phases, groups)}
    if choice.check:
        return order
    return replace(order, confirmed=_hosts(endangered(losses, entries, anew)), losses=_texts(losses))


def _refuse_parts(choice: Choice, order: Order) -> None:
    """Refuse to run one phase alone on hosts of which it takes all or none."""
    from kvplan.errors import UsageError

    for phase in order.phases if choice.span.only else ():
        own = phase.hosts(order.groups)
        if phase.whole and not order.hosts(phase) and order.limit.intersection(own):
            message = f"phase {phase.name} works on all its hosts at once, and --limit leaves some out"
            raise UsageError(message, hint="leave --limit out; what is as planned stays as it is")


def _hosts_up(states: tuple[PhaseState, ...]) -> bool:
    """Tell whether every host was prepared, by this Plan or an earlier one."""
    base = next(state for state in states if state.name == "base")
    return bool(base.hosts) and all(host.state in {"done", "stale"} for host in base.hosts)


def _anew(
    option: str, names: tuple[str, ...], phase: str, phases: tuple[Phase, ...], groups: Mapping[str, tuple[str, ...]]
) -> frozenset[str]:
    """Find the hosts on which a person wants a phase done anew, although it was done before."""
    from kvplan.deploy.driver import limited
    from kvplan.errors import UsageError

    does = next((candidate for candidate in phases if candidate.name == phase), None)
    if names and not does:
        message = f"{option} needs phase {phase}, which is not among those that run"
        raise UsageError(message)
    hosts = limited(names, groups, option)
    return hosts.intersection(does.hosts(groups)) if does else frozenset()


def _playbooks() -> Path:
    """Return the directory of the playbooks."""
    from kvplan.assets import playbooks_dir

    return playbooks_dir()


def _phases(choice: Choice, states: tuple[PhaseState, ...]) -> tuple[Phase, ...]:
    """Choose phases: those named, or what is left to do."""
    from kvplan.deploy.phases import chosen

    if not choice.span.resume:
        return chosen(_playbooks(), only=choice.span.only, start=choice.span.start, end=choice.span.end)
    left = [state.name for state in states if state.playbook and state.state != "done" and state.hosts]
    return chosen(_playbooks(), start=left[0], end=choice.span.end) if left else ()


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
def events_shown(*, json: bool = False) -> Iterator[Callable[[Event], None]]:
    """Show progress: on a terminal as a live view, else as lines, or as JSON on stdout.

    Parameters
    ----------
    json
        Whether programs read it.

    Yields
    ------
    callable
        Takes each event, from any thread.
    """
    from rich.console import Console

    from kvplan.cli.console import out
    from kvplan.deploy.progress import progress

    console = Console(stderr=True)
    form = "json" if json else "live" if console.is_terminal and not console.is_dumb_terminal else "plain"
    write = out if json else _write_error
    with progress(form, write, clock=lambda: time.strftime("%H:%M:%S"), console=console) as sink:  # type: ignore[arg-type]
        lock = Lock()

        def one_at_a_time(event: Event) -> None:
            with lock:  # media are handed out by threads
                sink(event)

        yield one_at_a_time


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
    if failures := outcome.failures:
        lines = [f"phase {outcome.phases[-1].phase} failed on {listed(outcome.failed)}"]
        lines += [f"{failure.host}: {failure.task}: {failure.message}" for failure in failures[:_SHOWN]]
        remedy = next((failure.remedy for failure in failures if failure.remedy), "")
        raise DeployFailedError("\n".join(lines), hint="; ".join(part for part in (remedy, go_on) if part))


def _print(choice: Choice, order: Order, outcome: Outcome, phases: list[dict[str, object]]) -> None:
    """Print the sums of the phases, as a table or as the last line of JSON."""
    import json

    from kvplan.cli.console import out
    from kvplan.cli.shared import show_view
    from kvplan.render.deploy_view import summary_view
    from kvplan.schema.deploying import DEPLOY_FORMAT_VERSION

    if not choice.json:
        show_view(summary_view(phases, outcome.result, check=order.check))
        return
    head = {"event": "result", "format_version": DEPLOY_FORMAT_VERSION, "result": outcome.result, "check": order.check}
    out(f"{json.dumps({**head, 'log': str(order.log), 'phases': phases})}\n")
