"""The devices of a rack as their user sees them: asked, disturbed, waited for."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

from kvplan.twin.rack.lines import asked
from kvplan.twin.rack.shell import RackError

if TYPE_CHECKING:
    from pathlib import Path

ORDER: Final = "devices.json"
CONTROL: Final = "devices"
"""Files in the directory of devices: what they are, and where they listen."""
_TICK_S: Final = 0.05
_READY_S: Final = 60.0


class Devices:
    """Devices that run.

    Parameters
    ----------
    directory
        Their directory.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    @classmethod
    def at(cls, directory: Path) -> Devices:
        """Find the devices of a directory.

        Parameters
        ----------
        directory
            The directory.

        Returns
        -------
        Devices
            The devices, which may only be starting.
        """
        return cls(directory)

    def request(self, verb: str, what: str = "", **more: object) -> Any:
        """Ask for something to be done.

        Parameters
        ----------
        verb
            `status`, `bmc`, `switch`, `power`, `reset` or `down`.
        what
            A server or a switch.
        **more
            The `fault` of a controller or a switch with what belongs to it, the `drives` that are in a server, or
            what power is switched `to`.

        Returns
        -------
        object
            What came of it.
        """
        return asked(self.directory / CONTROL, {"verb": verb, "what": what, **more}, "the devices are gone")

    def wait(self, *, seconds: float = _READY_S) -> None:
        """Wait until they answer.

        Parameters
        ----------
        seconds
            How long at most.

        Raises
        ------
        RackError
            When they do not.
        """
        deadline = time.monotonic() + seconds
        while True:
            try:
                self.request("status")
            except (OSError, RackError) as error:
                if time.monotonic() > deadline:
                    message = f"the devices do not answer after {seconds:g} s: {error}"
                    raise RackError(message) from error
            else:
                return
            time.sleep(_TICK_S)
