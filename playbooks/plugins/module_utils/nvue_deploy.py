"""A configuration brought to a switch: compared, applied for a time, looked at, confirmed or left to roll back."""
# ruff: noqa: INP001

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible.module_utils.nvue import WAITING, NotThereError
from ansible.module_utils.nvue_health import Planned, established, unhealthy
from ansible.module_utils.nvue_tree import NvueError, Tree, differences, without_secrets

if TYPE_CHECKING:
    from collections.abc import Callable

    from ansible.module_utils.nvue import Nvue

APPLIED = "applied"


class UnhealthyError(NvueError):
    """The switch is not as it must be: a list of what is not, and what to do about it."""

    def __init__(self, message: str, found: list[Tree]) -> None:
        super().__init__(message, "; ".join(dict.fromkeys(one["remedy"] for one in found)))
        self.found = found


class Wanted:
    """What is wanted of a switch: its configuration, how it is brought there, and how long it may take."""

    def __init__(
        self,
        config: Tree,
        planned: Planned,
        *,
        replace: bool = True,
        rotate_secrets: bool = False,
        save: bool = True,
        verify: bool = False,
        confirm_s: int = 600,
        health_s: int = 120,
    ) -> None:
        self.config, self.planned, self.replace = config, planned, replace
        self.rotate_secrets, self.save, self.verify = rotate_secrets, save, verify
        self.confirm_s, self.health_s = confirm_s, health_s


def deploy(switch: Nvue, wanted: Wanted, keep: Callable[[Tree], None], *, check: bool = False) -> Tree:
    """Bring a configuration to a switch, and return what was done; `keep` is given what ran before."""
    running = without_secrets(switch.config(APPLIED))
    waiting = switch.waiting()
    rev = switch.new_revision()
    (switch.replace if wanted.replace else switch.patch)(rev, wanted.config)
    planned = without_secrets(switch.config(rev))
    result: Tree = {"before": running, "after": planned, "changes": differences(running, planned)}
    if waiting is not None:
        return {**result, **_resumed(switch, wanted, waiting, rev, planned, check=check)}
    if check or not (result["changes"] or wanted.rotate_secrets):
        switch.discard(rev)
        unsaved = wanted.save and not result["changes"] and _is_unsaved(switch, running)
        if wanted.verify and not result["changes"]:
            _verified(switch, wanted)
        if unsaved and not check:
            _save(switch)
        return {**result, "changed": bool(result["changes"] or wanted.rotate_secrets or unsaved)}
    keep(running)
    before = established(switch)
    state = switch.apply(rev, wanted.confirm_s)
    _judged(switch, wanted, rev, state, before, running)
    return {**result, "changed": True, "revision": rev}


def _verified(switch: Nvue, wanted: Wanted) -> None:
    """See that a switch that is configured as wanted is healthy."""
    found = _settled(switch, wanted, set())
    if found:
        message = f"configured as wanted, but not healthy: {_list(found)}"
        raise UnhealthyError(message, found)


def _resumed(switch: Nvue, wanted: Wanted, waiting: str, rev: str, planned: Tree, *, check: bool) -> Tree:
    """Go on where an earlier run ended: what it applied still waits to be confirmed."""
    switch.discard(rev)
    changes = differences(without_secrets(switch.config(waiting)), planned)
    if changes:
        message = f"revision {waiting} waits to be confirmed and is not what is wanted"
        raise NvueError(message, "confirm it at the switch or wait until it has rolled back, then run this again")
    if not check:
        _judged(switch, wanted, waiting, WAITING, set(), None)
    return {"changed": True, "revision": waiting}


def _judged(switch: Nvue, wanted: Wanted, rev: str, state: str, before: set[str], running: Tree | None) -> None:
    """Confirm what is healthy and keep it for a restart; let go what is not."""
    found = _settled(switch, wanted, before)
    if found and state != WAITING:
        message = f"revision {rev} is not healthy, and the switch did not wait for it: {_list(found)}"
        raise UnhealthyError(message, found)
    if found:
        ended = _rolled_back(switch, wanted, rev, running)
        message = f"revision {rev} was not healthy, {ended}: {_list(found)}"
        raise UnhealthyError(message, found)
    if state == WAITING:
        state = switch.confirm(rev)
    if wanted.save and (state == APPLIED or _is_unsaved(switch, without_secrets(switch.config(APPLIED)))):
        _save(switch)


def _settled(switch: Nvue, wanted: Wanted, before: set[str]) -> list[Tree]:
    """Look at the switch until it is healthy or its time is over; return what is not as it must be."""
    timing = switch.timing
    end = timing.clock() + wanted.health_s
    while True:
        try:
            found = unhealthy(switch, wanted.planned, before)
        except NvueError as error:
            remedy = "see that the new configuration keeps the switch's address, its user and its interface"
            found = [{"check": "api", "subject": switch.url, "seen": error.message, "wanted": "", "remedy": remedy}]
        if not found or timing.clock() >= end:
            return found
        timing.sleep(timing.poll_s)


def _rolled_back(switch: Nvue, wanted: Wanted, rev: str, running: Tree | None) -> str:
    """Wait until the switch has taken back what was not confirmed, and say so."""
    timing = switch.timing
    end = timing.clock() + wanted.confirm_s + timing.ready_s
    while timing.clock() < end:
        try:
            if switch.state(rev).get("state") != WAITING:
                now = without_secrets(switch.config(APPLIED))
                is_back = running is None or now == running
                return "and the switch rolled back" if is_back else "and what runs now is not what ran before"
        except NvueError:  # its address or its user may come back with the old configuration
            pass
        timing.sleep(timing.poll_s)
    return "and the switch did not say that it rolled back"


def _is_unsaved(switch: Nvue, running: Tree) -> bool:
    """Tell whether a restart would bring something else."""
    try:
        startup = switch.config("startup")
    except NotThereError:
        return True
    return bool(differences(without_secrets(startup), running))


def _save(switch: Nvue) -> None:
    """Keep what is applied, and see that it was kept."""
    try:
        switch.save()
    except NvueError as error:
        message = f"applied, but not saved: {error.message}"
        raise NvueError(message, "see that the switch's disk is not full, then run this again") from None
    if _is_unsaved(switch, without_secrets(switch.config(APPLIED))):
        message = "applied, but the startup configuration is still another one"
        raise NvueError(message, "save it at the switch: nv config save")


def _list(found: list[dict[str, Any]]) -> str:
    """Write what is not as it must be, the first ones of many."""
    shown = 8
    told = [f"{one['check']} {one['subject']}: {one['seen']}, not {one['wanted']}" for one in found[:shown]]
    return "; ".join(told) + (f"; and {len(found) - shown} more" if len(found) > shown else "")
