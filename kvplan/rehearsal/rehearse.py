"""The course of a rehearsal: deploy, put right what a fault broke and go on, then again, then as a check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.rehearsal.adapted import PREFIX
from kvplan.rehearsal.faults import Armed
from kvplan.schema.rehearsing import FaultRun, PhaseRun, Rehearsed, RunAgain
from kvplan.twin.rack import REAL, STANDS_IN

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from kvplan.deploy.events import Event
    from kvplan.rehearsal.faults import Fault
    from kvplan.rehearsal.running import Deploying, Run
    from kvplan.rehearsal.standing import Rehearsal


class Course:
    """One rehearsal on a rack that stands.

    Parameters
    ----------
    rehearsal
        What stands.
    tell
        Takes each event.
    last
        The phase to end with; all without.
    """

    def __init__(self, rehearsal: Rehearsal, tell: Callable[[Event], None], last: str | None = None) -> None:
        self._rehearsal = rehearsal
        self._tell = tell
        self._options = ("--to", last) if last else ()
        self._phases: dict[str, PhaseRun] = {}
        self._faults: list[FaultRun] = []

    def deploy(self, faults: Sequence[Fault] = ()) -> Run:
        """Deploy; where a fault stops it, put that right and go on.

        Parameters
        ----------
        faults
            What goes wrong, one after the other: the second once the first was overcome.

        Returns
        -------
        Run
            How the last run ended.
        """
        waiting = list(faults)
        run = self._struck(waiting.pop(0) if waiting else None)
        while run.outcome != "stopped" and (waiting or self._can_go_on(run)):
            run = self._struck(waiting.pop(0) if waiting else None, "--resume")
        return run

    def again(self, *options: str) -> RunAgain:
        """Deploy once more; nothing ought to change.

        Parameters
        ----------
        *options
            Further options of `kvplan deploy`.

        Returns
        -------
        RunAgain
            What it changed.
        """
        run = self._rehearsal.deploy(self._pass_on, *self._options, *options)
        return RunAgain(result=run.outcome, changed=run.changed, phases=phases_of(run), message=_words(run))

    def result(self, run: Run, seconds: float, again: RunAgain | None, check: RunAgain | None) -> Rehearsed:
        """Sum up.

        Parameters
        ----------
        run
            How deploying ended.
        seconds
            Time until the rack stood [s].
        again
            The second run, if there was one.
        check
            The check, if there was one.

        Returns
        -------
        Rehearsed
            All of it.
        """
        outcomes = [run.outcome, *(more.result for more in (again, check) if more)]
        result = next((outcome for outcome in outcomes if outcome != "ok"), "ok")
        if result == "ok" and any(more.changed for more in (again, check) if more):
            result = "failed"
        return Rehearsed(
            result=result,
            nodes=len(self._rehearsal.rack.plan.nodes),
            seconds=round(seconds, 1),
            phases=tuple(self._phases.values()),
            message=_words(run),
            faults=tuple(self._faults),
            second_run=again,
            check_run=check,
            real=REAL,
            simulated=STANDS_IN,
        )

    def _struck(self, fault: Fault | None, *options: str) -> Run:
        """Run once, with a fault that waits for its moment, and put right what it broke."""
        armed = Armed(self._rehearsal, fault)

        def tell(event: Event, deploying: Deploying) -> None:
            self._tell(event)
            armed(event, deploying)

        missing = (f"{PREFIX}{fault.target.upper()}",) if fault and fault.kind == "secret" else ()
        try:
            run = self._rehearsal.deploy(tell, *self._options, *options, without=missing)
        finally:
            armed.mend()
        self._phases |= {phase.name: phase for phase in phases_of(run)}
        self._faults = [_overcome(held, armed.done) for held in self._faults]
        if fault:
            self._faults.append(_kept(fault, run, armed))
        return run

    def _can_go_on(self, run: Run) -> bool:
        """Tell whether a run failed by a fault that is put right now."""
        return run.outcome == "failed" and any(held.struck and not held.overcome for held in self._faults[-1:])

    def _pass_on(self, event: Event, _: Deploying) -> None:
        """Pass an event on."""
        self._tell(event)


def phases_of(run: Run) -> tuple[PhaseRun, ...]:
    """List the phases of a run.

    Parameters
    ----------
    run
        The run.

    Returns
    -------
    tuple of PhaseRun
        Those that were begun.
    """
    return tuple(PhaseRun.model_validate(phase) for phase in run.result.get("phases", ()))


def _words(run: Run) -> str:
    """Return what a run that failed said last."""
    return run.said.strip() if run.code else ""


def _kept(fault: Fault, run: Run, armed: Armed) -> FaultRun:
    """Keep what became of the run that a fault was meant for."""
    return FaultRun(
        fault=fault.text,
        struck=armed.struck,
        phase=armed.phase,
        exit_code=run.code,
        message=_words(run),
        overcome=armed.struck and not run.code,
    )


def _overcome(held: FaultRun, done: Collection[str]) -> FaultRun:
    """See whether a later run got past the phase that a fault ended."""
    is_past = held.phase in done or (not held.phase and bool(done))
    return held.model_copy(update={"overcome": held.overcome or (held.struck and is_past)})
