"""What goes wrong at a controller or a switch on demand, and how it is put right again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from kvplan.errors import UsageError, did_you_mean
from kvplan.twin.bmc.profiles import PROFILES
from kvplan.twin.nvue.faults import Faults

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kvplan.twin.bmc.machine import State
    from kvplan.twin.nvue.switch import Switch

_TIMES: Final = 3
"""How often a controller is too busy, where nothing else is said: less than a client's patience."""
_SESSIONS: Final = 2
"""Sessions that a controller allows, and that others hold."""
_OTHERS: Final = "other"
"""How the sessions of others begin."""
_SLOW_S: Final = 20.0
_ALWAYS: Final = 1_000_000


def disturb_controller(state: State, profile: str, fault: str, more: Mapping[str, Any]) -> None:
    """Let something go wrong at a controller.

    Parameters
    ----------
    state
        Its state.
    profile
        How it behaves by itself.
    fault
        `busy` (the next `times` requests are answered with 503), `sessions` (others hold all that it allows),
        `override` (it forgets the boot override `times` times), `licence` (it lacks the licence), or nothing, which
        puts everything right.
    more
        Further words of the request.

    Raises
    ------
    UsageError
        When there is no such fault.
    """
    match fault:
        case "":
            _mend(state, profile)
        case "busy":
            state.busy_left = int(more.get("times", _TIMES))
        case "sessions":
            state.profile = replace(state.profile, max_sessions=_SESSIONS)
            state.sessions |= {f"{_OTHERS}{number}": f"held by others {number}" for number in range(_SESSIONS)}
            state.each_needs_session = True
        case "override":
            state.losses_left = int(more.get("times", _ALWAYS))
        case "licence":
            state.licensed = False
        case _:
            raise _unknown(fault, ("busy", "sessions", "override", "licence"))


def disturb_switch(switch: Switch, fault: str, more: Mapping[str, Any]) -> None:
    """Let something go wrong at a switch.

    Parameters
    ----------
    switch
        The switch.
    fault
        `bgp` (it loses every session once a change is applied, until it is taken back), `busy` (the next `times`
        requests are answered with 503), `apply` (it fails to apply), `slow` (applying takes `seconds`), `save` (it
        keeps nothing for a restart), `confirm` (it applies at once although it was to wait), `storm` (`port` counts
        pause frames without end), or nothing, which puts everything right.
    more
        Further words of the request.

    Raises
    ------
    UsageError
        When there is no such fault.
    """
    faults = switch.faults
    known: dict[str, Callable[[], None]] = {
        "bgp": lambda: setattr(faults, "lose_bgp", True),
        "busy": lambda: setattr(faults, "busy", int(more.get("times", _TIMES))),
        "apply": lambda: setattr(faults, "fail_apply", str(more.get("message", "switchd did not start"))),
        "slow": lambda: setattr(faults, "apply_s", float(more.get("seconds", _SLOW_S))),
        "save": lambda: setattr(faults, "refuse_save", True),
        "confirm": lambda: setattr(faults, "ignore_confirm", True),
        "storm": lambda: faults.storm.add(str(more["port"])),
    }
    if not fault:
        switch.faults = Faults()
        return
    if fault not in known:
        raise _unknown(fault, known)
    known[fault]()


def _mend(state: State, profile: str) -> None:
    """Put a controller right."""
    state.profile = PROFILES[profile]
    state.busy_left = state.losses_left = 0
    state.licensed = True
    state.sessions = {key: token for key, token in state.sessions.items() if not key.startswith(_OTHERS)}
    state.each_needs_session = False


def _unknown(fault: str, known: Any) -> UsageError:
    """Say that there is no such fault."""
    return UsageError(f"no fault {fault} {did_you_mean(fault, known)}".rstrip())
