"""What goes wrong at a switch, on demand."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Faults:
    """The faults of one switch; they can be changed while it runs.

    `apply_s` is how long an apply takes, `busy` how many of the next requests are answered with 503, `cut` the ports
    whose link is broken, `storm` the ports that count more pause frames at every look. `lose_bgp` takes every session
    away as soon as a change is applied and until it is taken back; `fail_apply` is the message of an apply that fails;
    `ignore_confirm` applies at once although a confirmation was asked for; `refuse_save` keeps nothing for a restart.
    """

    apply_s: float = 0.0
    busy: int = 0
    cut: set[str] = field(default_factory=set)
    storm: set[str] = field(default_factory=set)
    lose_bgp: bool = False
    fail_apply: str = ""
    ignore_confirm: bool = False
    refuse_save: bool = False
