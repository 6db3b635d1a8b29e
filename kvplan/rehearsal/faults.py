"""Faults of a rehearsal: what breaks, when, and how the world is put right again; the deployment must do the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kvplan.deploy.events import PhaseEnded, PhaseStarted, TaskStarted
from kvplan.deploy.phases import PHASES
from kvplan.errors import InputError, did_you_mean
from kvplan.rehearsal import breaking

if TYPE_CHECKING:
    from collections.abc import Callable

    from kvplan.deploy.events import Event
    from kvplan.rehearsal.running import Deploying
    from kvplan.rehearsal.standing import Rehearsal


class Fault(NamedTuple):
    """A fault: its kind, what it strikes and how, and when: in which phase, at a task with which words in its name.

    Without a phase it strikes before anything is deployed.
    """

    text: str
    kind: str
    target: str = ""
    detail: str = ""
    phase: str = ""
    task: str = ""


class _Kind(NamedTuple):
    """What a kind of fault does, how it is put right, how it is written, and the details that there are."""

    strike: Callable[[Rehearsal, str, str], None]
    mend: Callable[[Rehearsal, str, str], None]
    form: str
    details: tuple[str, ...] = ()


KINDS: Final[dict[str, _Kind]] = {
    "link": _Kind(breaking.cut_link, breaking.restore_link, "link:DEVICE:PORT"),
    "sshd": _Kind(breaking.kill_sshd, breaking.start_sshd, "sshd:NODE"),
    "power": _Kind(breaking.power_off, breaking.power_on, "power:NODE"),
    "bmc": _Kind(breaking.trouble_controller, breaking.calm_controller, "bmc:NODE:WHAT", breaking.CONTROLLER),
    "switch": _Kind(breaking.trouble_switch, breaking.calm_switch, "switch:NAME:WHAT", breaking.SWITCH),
    "drive": _Kind(breaking.spoil_drive, breaking.replace_drive, "drive:NODE:WHAT", breaking.DRIVE),
    "disk": _Kind(breaking.fill_disk, breaking.free_disk, "disk:NODE"),
    "clock": _Kind(breaking.skew_clock, breaking.set_clock, "clock:NODE"),
    "kill": _Kind(breaking.nothing, breaking.nothing, "kill"),
    "secret": _Kind(breaking.nothing, breaking.nothing, "secret:NAME"),
}
"""The kinds of faults; `kill` ends the deployment itself, and a `secret` is missing."""


def read_fault(text: str, where: str = "--fault") -> Fault:
    """Read a fault.

    Parameters
    ----------
    text
        Kind, target and detail joined by colons, then `@PHASE` or `@PHASE/WORDS OF A TASK`.
    where
        The option that it was given by.

    Returns
    -------
    Fault
        The fault.

    Raises
    ------
    InputError
        When there is no such kind, detail or phase, or a part is missing.

    Examples
    --------
    >>> read_fault("link:storage-003:client1p0@storage/recovery group")[1:]
    ('link', 'storage-003', 'client1p0', 'storage', 'recovery group')
    """
    what, _, when = text.partition("@")
    kind, *parts = what.split(":")
    phase, _, task = when.partition("/")
    if kind not in KINDS:
        hint = did_you_mean(kind, KINDS)
        raise InputError.single(where, f"no fault is called {kind!r}", allowed=_forms(), hint=hint)
    form, details = KINDS[kind].form, KINDS[kind].details
    if len(parts) != form.count(":") or not all(parts):
        raise InputError.single(where, f"{text!r} is incomplete", allowed=form)
    if details and parts[-1] not in details:
        hint = did_you_mean(parts[-1], details)
        raise InputError.single(where, f"{kind} has no fault {parts[-1]!r}", allowed=", ".join(details), hint=hint)
    phases = [known.name for known in PHASES]
    if "@" in text and phase not in phases:
        hint = did_you_mean(phase, phases)
        raise InputError.single(where, f"no phase is called {phase!r}", allowed=", ".join(phases), hint=hint)
    target, detail = [*parts, "", ""][:2]
    return Fault(text, kind, target, detail, phase, task)


class Armed:
    """A fault that waits for its moment; `phase` is the one that began last, `done` are those that ended well.

    Parameters
    ----------
    rehearsal
        What it strikes.
    fault
        The fault; none waits for nothing.
    """

    def __init__(self, rehearsal: Rehearsal, fault: Fault | None) -> None:
        self._rehearsal = rehearsal
        self.fault = fault
        self.phase = ""
        self.done: list[str] = []
        self.struck = fault is not None and fault.kind == "secret"
        if fault and not fault.phase:
            self.strike()

    def __call__(self, event: Event, deploying: Deploying) -> None:
        """Take an event, and strike when it is the one."""
        if isinstance(event, PhaseStarted):
            self.phase = event.phase
        if isinstance(event, PhaseEnded) and event.ok:
            self.done.append(event.phase)
        if self.fault is None or self.struck or self.phase != self.fault.phase:
            return
        if not self.fault.task or (isinstance(event, TaskStarted) and self.fault.task in event.task):
            self.strike()
            if self.fault.kind == "kill":
                deploying.kill()

    def strike(self) -> None:
        """Let it happen."""
        if self.fault:
            KINDS[self.fault.kind].strike(self._rehearsal, self.fault.target, self.fault.detail)
            self.struck = True

    def mend(self) -> None:
        """Put the world right again, if it happened."""
        if self.fault and self.struck:
            KINDS[self.fault.kind].mend(self._rehearsal, self.fault.target, self.fault.detail)


def _forms() -> str:
    """List how faults are written."""
    return ", ".join(kind.form for kind in KINDS.values())
