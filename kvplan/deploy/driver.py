"""Phase after phase: run, journaled host by host, until all are done or one fails."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from kvplan.deploy.events import HostResult, LeftOut, PhaseEnded, PhaseStarted
from kvplan.deploy.journal import Entry
from kvplan.deploy.phases import PHASES
from kvplan.deploy.runner import Job, Result, run_playbook
from kvplan.errors import InputError, Problem, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from kvplan.deploy.events import Event
    from kvplan.deploy.journal import Hashes, Journal, Step
    from kvplan.deploy.phases import Phase

PROVISION: Final = "provision"
STORAGE: Final = "storage"
_ABSENT: Final = "took no part in the playbook, though it belongs to the phase"
_NOT_WHOLE: Final = "the phase works on all its hosts at once"
_TO_BE_INSTALLED: Final = "to be installed first, so there is nothing to look at yet"
_TAIL_LINES: Final = 3


@dataclass(frozen=True, slots=True)
class Order:
    """What to run: which phases, on which tree and hosts, by which hashes, and how.

    `limit` holds names of hosts; none means all. `confirmed` names the hosts that a phase may destroy; its playbook
    gets them as `kv_confirmed`, and must leave what is on any other host alone. `reinstall` names the servers to be
    installed anew though they are as planned; `losses` says which drives of a host a phase writes over. `variables` are
    what a person set; `hosts_up` says whether every host was prepared before, so that switches may expect them all.
    """

    run: str
    phases: Sequence[Phase]
    groups: Mapping[str, tuple[str, ...]]
    playbooks: Path
    tree: Path
    state: Path
    log: Path
    hashes: Hashes
    secrets: Mapping[str, str] = field(repr=False)
    limit: frozenset[str] = frozenset()
    check: bool = False
    diff: bool = False
    known_hosts: Path | None = None
    confirmed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    reinstall: frozenset[str] = frozenset()
    losses: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    variables: Mapping[str, Any] = field(default_factory=dict)
    hosts_up: bool = False

    def hosts(self, phase: Phase, without: Collection[str] = ()) -> tuple[str, ...]:
        """List the hosts that a phase runs on; one that is whole runs on all of its own, or on none."""
        own = phase.hosts(self.groups)
        found = tuple(host for host in own if (not self.limit or host in self.limit) and host not in without)
        return () if phase.whole and found != own else found


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended: each phase that was begun, the hosts that failed, and how, what came first first."""

    result: Literal["ok", "failed", "stopped"]
    phases: tuple[PhaseEnded, ...]
    failed: tuple[str, ...] = ()
    failures: tuple[HostResult, ...] = ()


def limited(names: Iterable[str], groups: Mapping[str, tuple[str, ...]], option: str = "--limit") -> frozenset[str]:
    """Find the hosts that an option names: hosts and groups; a server's controller goes with it.

    Parameters
    ----------
    names
        What was given.
    groups
        Hosts of each group of the inventory.
    option
        The option.

    Returns
    -------
    frozenset of str
        Names of hosts.

    Raises
    ------
    InputError
        With every name that the inventory lacks.

    Examples
    --------
    >>> groups = {"all": ("s1", "s2", "s1-bmc"), "storage": ("s1", "s2"), "bmc": ("s1-bmc",)}
    >>> sorted(limited(["s1"], groups))
    ['s1', 's1-bmc']
    """
    known = {**{host: (host,) for host in groups["all"]}, **groups}
    given = list(names)
    problems = [
        Problem(option, f"the inventory has no host or group {name!r}", hint=did_you_mean(name, known))
        for name in given
        if name not in known
    ]
    if problems:
        raise InputError(problems)
    hosts = {host for name in given for host in known[name]}
    return frozenset(hosts | {f"{host}-bmc" for host in hosts if f"{host}-bmc" in groups["all"]})


def deploy(order: Order, journal: Journal, sink: Callable[[Event], None], scratch: Path) -> Outcome:
    """Run phases one after the other, up to the first that fails or is stopped.

    A check is no deployment: it leaves no entry in the journal.

    Parameters
    ----------
    order
        What to run.
    journal
        Where it is written down.
    sink
        Takes each event.
    scratch
        The run's directory in memory.

    Returns
    -------
    Outcome
        How it ended.
    """
    record = _Record(order, None if order.check else journal)
    ended: list[PhaseEnded] = []
    bare: frozenset[str] = frozenset()
    for phase in order.phases:
        hosts = order.hosts(phase, bare)
        for event in _left_out(order, phase, bare):
            sink(event)
        if not hosts:
            continue
        watch = _Watch(sink)
        sink(PhaseStarted(phase.name, phase.title, hosts, phase.expected_minutes(_only(order.groups, hosts))))
        record.write(phase, "started", dict.fromkeys(hosts, ""))
        began = time.monotonic()
        result = run_playbook(_job(order, phase, scratch, hosts if bare else ()), watch)
        failures = {} if result.stopped else _failures(result, hosts, watch, order.log)
        ended.append(PhaseEnded(phase.name, result.ok and not failures, time.monotonic() - began, result.hosts))
        sink(ended[-1])
        if result.stopped:
            return Outcome("stopped", tuple(ended))
        if failures:
            record.write(phase, "failed", failures)
            return Outcome("failed", tuple(ended), tuple(failures), watch.failures(failures) or _told(failures, phase))
        record.done(phase, hosts)
        if phase.name == PROVISION and order.check:
            bare = frozenset(host for host, counts in result.hosts.items() if counts.changed)
    return Outcome("ok", tuple(ended))


def _left_out(order: Order, phase: Phase, bare: Collection[str]) -> Iterator[LeftOut]:
    """Say which hosts that were asked for a phase leaves out, and why."""
    asked = [host for host in phase.hosts(order.groups) if not order.limit or host in order.limit]
    if missing := tuple(host for host in asked if host in bare):
        yield LeftOut(phase.name, missing, _TO_BE_INSTALLED)
    present = order.hosts(phase, bare)
    if rest := tuple(host for host in asked if host not in present and host not in bare):
        yield LeftOut(phase.name, rest, _NOT_WHOLE)


class _Record:
    """Writes entries of one run."""

    def __init__(self, order: Order, journal: Journal | None) -> None:
        self._order = order
        self._journal = journal

    def write(self, phase: Phase, step: Step, hosts: Mapping[str, str]) -> None:
        """Write an entry for each host, with its message."""
        run, hashes = self._order.run, self._order.hashes
        if self._journal:
            entries = (Entry(step, run, hashes, phase.name, host, message) for host, message in hosts.items())
            self._journal.write(*entries)

    def done(self, phase: Phase, hosts: Sequence[str]) -> None:
        """Write down that a phase is done, which drives it wrote over, and what that takes back."""
        losses = self._order.losses.get(phase.name, {})
        self.write(phase, "ok", {host: losses.get(host, "") for host in hosts})
        if phase.name == PROVISION:
            self.void(self._order.reinstall)

    def void(self, hosts: Collection[str]) -> None:
        """Take back what was done to servers that were installed anew; their data drives are as they were."""
        for phase in PHASES[[phase.name for phase in PHASES].index(PROVISION) + 1 :]:
            if not phase.destroys:
                own = phase.hosts(self._order.groups)
                self.write(phase, "void", {host: "" for host in own if host in hosts})


class _Watch:
    """Passes events on, and remembers what went wrong where."""

    def __init__(self, sink: Callable[[Event], None]) -> None:
        self._sink = sink
        self._bad: dict[str, HostResult] = {}

    def message(self, host: str) -> str:
        """Say what went wrong last on a host."""
        bad = self._bad.get(host)
        return f"{bad.task}: {bad.message}" if bad else "failed"

    def failures(self, hosts: Collection[str]) -> tuple[HostResult, ...]:
        """List what ended hosts, what came first first: others may have failed at what their playbook made good."""
        return tuple(bad for host, bad in self._bad.items() if host in hosts)

    def __call__(self, event: Event) -> None:
        """Take an event."""
        if isinstance(event, HostResult) and event.bad:
            self._bad.pop(event.host, None)
            self._bad[event.host] = event
        self._sink(event)


def _only(groups: Mapping[str, tuple[str, ...]], hosts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Leave other hosts out of the groups."""
    return {name: tuple(host for host in held if host in hosts) for name, held in groups.items()}


def _job(order: Order, phase: Phase, scratch: Path, hosts: Sequence[str] = ()) -> Job:
    """Describe the playbook of a phase, on those hosts or the order's; what a check learns is thrown away."""
    job = Job(
        playbook=order.playbooks / phase.playbook,
        tree=order.tree,
        state=order.state,
        scratch=scratch,
        log=order.log,
        secrets=order.secrets,
        variables={},
        limit=",".join(sorted(hosts or order.limit)),
        check=order.check,
        diff=order.diff,
        known_hosts=order.known_hosts,
        learns=_copied(order.state / "known_hosts", scratch) if order.check else None,
    )
    return replace(job, variables=_variables(order, phase, job.host_keys))


def _variables(order: Order, phase: Phase, host_keys: Path) -> dict[str, Any]:
    """Give a playbook its variables; a person's go before what is only assumed."""
    return {
        "base_ssh_keys": str(order.state / "root-keys"),
        "switches_hosts_up": order.hosts_up,
        **order.variables,
        "kv_tree": str(order.tree),
        "kv_state": str(order.state),
        "kv_phase": phase.name,
        "kv_reinstall": ",".join(sorted(order.reinstall)),
        "kv_confirmed": ",".join(sorted(order.confirmed.get(phase.name, ()))),
        "kv_known_hosts": str(host_keys),
    }


def _copied(source: Path, directory: Path) -> Path:
    """Copy a file, if it is there, to a place where changes of it are lost."""
    target = directory / source.name
    if source.is_file() and not target.exists():
        shutil.copyfile(source, target)
    return target


def _failures(result: Result, hosts: Sequence[str], watch: _Watch, log: Path) -> dict[str, str]:
    """Say of each host that is not done why: what failed on it, that it was left out, or why nothing ran at all."""
    bad = {host: watch.message(host) for host, counts in result.hosts.items() if counts.bad}
    if bad:
        return bad
    if result.code:
        return dict.fromkeys(hosts, _tail(log) or f"ansible-playbook ended with {result.code}")
    return {host: _ABSENT for host in hosts if host not in result.hosts}


def _tail(log: Path) -> str:
    """Return the last lines of the log as one."""
    lines = [line.strip() for line in log.read_text(encoding="utf-8").splitlines() if line.strip()]
    return " ".join(lines[-_TAIL_LINES:])


def _told(failures: Mapping[str, str], phase: Phase) -> tuple[HostResult, ...]:
    """Make failures of hosts that are not done, though no task said so."""
    return tuple(HostResult(host, phase.name, "failed", message=message) for host, message in failures.items())


def summed(phases: Iterable[PhaseEnded]) -> list[dict[str, object]]:
    """Sum the tasks of each phase up over its hosts.

    Parameters
    ----------
    phases
        The phases.

    Returns
    -------
    list of dict
        Name, seconds and counts.

    Examples
    --------
    >>> from kvplan.deploy.events import HostCounts
    >>> summed([PhaseEnded("base", True, 2.04, {"s1": HostCounts(ok=2), "s2": HostCounts(ok=1, changed=1)})])
    [{'name': 'base', 'seconds': 2.0, 'ok': 3, 'changed': 1, 'failed': 0, 'unreachable': 0}]
    """
    kinds = ("ok", "changed", "failed", "unreachable")
    return [
        {
            "name": phase.phase,
            "seconds": round(phase.seconds, 1),
            **{kind: sum(getattr(counts, kind) for counts in phase.hosts.values()) for kind in kinds},
        }
        for phase in phases
    ]
