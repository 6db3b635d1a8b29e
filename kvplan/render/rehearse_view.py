"""How a rehearsal went, arranged for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.render.deploy_view import summary_view
from kvplan.render.view import Grid, Section, View
from kvplan.units import counted, format_duration

if TYPE_CHECKING:
    from kvplan.schema.rehearsing import FaultRun, Rehearsed, RunAgain

_FAULTS = ("Fault", "What became of it", "Phase", "Exit code")


def rehearsed_view(rehearsed: Rehearsed) -> View:
    """Arrange how a rehearsal went.

    Parameters
    ----------
    rehearsed
        The rehearsal.

    Returns
    -------
    View
        The phases, each fault, the further runs, and what of it was real.
    """
    phases = summary_view([phase.model_dump() for phase in rehearsed.phases], rehearsed.result)
    faults = tuple((held.fault, _fate(held), held.phase, f"{held.exit_code}") for held in rehearsed.faults)
    further = [
        f"{name}: {_sum(run)}"
        for name, run in (("second run", rehearsed.second_run), ("check", rehearsed.check_run))
        if run
    ]
    stood = f"{counted(rehearsed.nodes, 'server')} stood after {format_duration(rehearsed.seconds)}"
    return (
        *phases,
        *(
            (Section("Faults", grid=Grid(("Fault", "What became of it", "Phase", "Exit code"), faults, "lllr")),)
            if faults
            else ()
        ),
        Section("Rehearsal", (stood, *further)),
        Section("Ran for real", rehearsed.real),
        Section("Was simulated", rehearsed.simulated),
    )


def _fate(held: FaultRun) -> str:
    """Say what became of a fault."""
    if not held.struck:
        return "never struck: its moment did not come"
    if not held.exit_code:
        return "the run stood it"
    return "the run failed, the next went on" if held.overcome else "the run failed, and so did the next"


def _sum(run: RunAgain) -> str:
    """Sum a further run up."""
    seconds = sum(phase.seconds for phase in run.phases)
    return f"{run.result}, {run.changed:,} changed, {format_duration(seconds)}"
