"""How a rehearsal went."""

from __future__ import annotations

from typing import Literal

from kvplan.schema.base import Record

REHEARSAL_FORMAT_VERSION = "1.0"


class PhaseRun(Record):
    """A phase of one run: how long it took [s], and how its tasks ended, over all hosts."""

    name: str
    seconds: float
    ok: int
    changed: int
    failed: int
    unreachable: int


class RunAgain(Record):
    """A further run on the same rack: what it changed, which ought to be nothing; what it said, if it failed."""

    result: Literal["ok", "failed", "stopped"]
    changed: int
    phases: tuple[PhaseRun, ...] = ()
    message: str = ""


class FaultRun(Record):
    """What became of a fault: whether it struck, in which phase, and the exit code and words of the run that it struck.

    `overcome` tells whether the run stood it, or a later one got past that phase once the fault was put right.
    """

    fault: str
    struck: bool
    phase: str
    exit_code: int
    message: str
    overcome: bool


class Rehearsed(Record):
    """A rehearsal: the first run, those after it, and what of all this was real.

    `seconds` are those that packages, media, rack and devices took to stand, before the first phase began.
    """

    format_version: str = REHEARSAL_FORMAT_VERSION
    result: Literal["ok", "failed", "stopped"]
    nodes: int
    seconds: float
    phases: tuple[PhaseRun, ...]
    message: str = ""
    faults: tuple[FaultRun, ...] = ()
    second_run: RunAgain | None = None
    check_run: RunAgain | None = None
    real: tuple[str, ...] = ()
    simulated: tuple[str, ...] = ()
