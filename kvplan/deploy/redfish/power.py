"""Power, by what the state is and not by what it should be."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final, Literal

from kvplan.deploy.redfish.errors import RedfishError, Trouble
from kvplan.deploy.redfish.link import status_of

if TYPE_CHECKING:
    from kvplan.deploy.redfish.link import Link

Wanted = Literal["on", "off", "restart"]
_RESETS: Final = {"on": "On", "off": "ForceOff"}
_RESTART: Final = "ForceRestart"
_SETTLED: Final = ("On", "Off")


def power_of(link: Link) -> str:
    """Read the power state: `On`, `Off`, or on the way to one of them."""
    return str(link.read(link.system.path)[0].get("PowerState"))


def power_to(link: Link, wanted: Wanted) -> bool:
    """Bring the power where it is wanted, and wait until it is there.

    Parameters
    ----------
    link
        The controller.
    wanted
        `on`, `off`, or `restart`, which starts a server that is off.

    Returns
    -------
    bool
        Whether anything was done.

    Raises
    ------
    RedfishError
        When it does not get there in time.
    """
    if not link.timing.wait(lambda: power_of(link) in _SETTLED, link.timing.power_s):
        raise _late(link, "settle")
    if power_of(link) == "Off" or wanted != "restart":
        return _brought(link, "off" if wanted == "off" else "on")
    if _RESTART not in _allowed(link):
        return _brought(link, "off") and _brought(link, "on")
    if not link.timing.wait(lambda: _accepted(link, _RESTART), link.timing.power_s):
        raise _late(link, "restart")
    return _brought(link, "on") or True


def _brought(link: Link, wanted: Literal["on", "off"]) -> bool:
    """Switch on or off, unless it is, and wait."""
    goal, sent = wanted.capitalize(), False

    def reached() -> bool:
        nonlocal sent
        if power_of(link) == goal:
            return True
        sent = sent or _accepted(link, _RESETS[wanted])
        return False

    if not link.timing.wait(reached, link.timing.power_s):
        raise _late(link, f"be {wanted}")
    return sent


def _accepted(link: Link, kind: str) -> bool:
    """Ask for a reset; refused as not fitting the state, it is to be asked again when that has changed."""
    try:
        link.act(link.system.json["Actions"]["#ComputerSystem.Reset"]["target"], {"ResetType": kind})
    except link.http_error as error:
        if status_of(error) != HTTPStatus.CONFLICT:
            raise
        return False
    return True


def _allowed(link: Link) -> list[str]:
    """List the resets that the server knows; where it does not say, all."""
    action = link.system.json["Actions"]["#ComputerSystem.Reset"]
    return action.get("ResetType@Redfish.AllowableValues") or [*_RESETS.values(), _RESTART]


def _late(link: Link, what: str) -> RedfishError:
    """Say that the power did not get there in time."""
    text = f"{link.address}: the server does not {what} within {link.timing.power_s:g} s"
    return RedfishError(Trouble.POWER_LATE, text)
