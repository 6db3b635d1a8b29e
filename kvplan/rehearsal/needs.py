"""What a machine must have for a rehearsal."""

from __future__ import annotations

from kvplan.errors import InputError, Problem
from kvplan.twin.rack import missing


def able() -> None:
    """See that this machine can carry a rehearsal.

    Raises
    ------
    InputError
        With everything that it lacks.
    """
    if lacks := missing():
        raise InputError((Problem("this machine", lack) for lack in lacks), hint="see docs/rehearse.md")
