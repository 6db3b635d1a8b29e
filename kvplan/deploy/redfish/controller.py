"""What a deployment asks of a server's controller."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from kvplan.deploy.redfish import boot, media, power
from kvplan.deploy.redfish.errors import RedfishError, Trouble
from kvplan.deploy.redfish.link import Link
from kvplan.deploy.redfish.timing import Timing

if TYPE_CHECKING:
    from pathlib import Path

_LICENCES: Final = ("DCMS", "OOB")
"""Words in the names of the licences that open virtual media."""


class Identity(NamedTuple):
    """What a controller says of its server."""

    serial: str
    model: str
    manufacturer: str
    power: str


class Controller:
    """The controller of one server. Every method raises `RedfishError` where the controller does not do it.

    Parameters
    ----------
    address
        Its address, or a URL.
    user
        Who logs in.
    password
        The password.
    kind
        What kind it is, as a Site names it.
    verify
        Whether its certificate is verified, or the file of the certificates to trust.
    timing
        Clock, sleep and patience.
    """

    def __init__(
        self,
        address: str,
        user: str,
        password: str,
        kind: str = "generic",
        *,
        verify: bool | Path = True,
        timing: Timing | None = None,
    ) -> None:
        self._link = Link(address, (user, password), kind, verify=verify, timing=timing or Timing())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; there is no session to close."""
        self._link.close()

    def identify(self) -> Identity:
        """Read the labels and the power state of the server."""
        with self._link.told():
            system = self._link.read(self._link.system.path)[0]
        words = (str(system.get(key) or "").strip() for key in ("SerialNumber", "Model", "Manufacturer", "PowerState"))
        return Identity(*words)

    def require_serial(self, serial: str) -> None:
        """Refuse a server that is not the expected one.

        Parameters
        ----------
        serial
            The expected serial number.

        Raises
        ------
        RedfishError
            When it is another.
        """
        found = self.identify().serial
        if found.casefold() != serial.casefold():
            what = f"{self._link.address} controls the server with serial {found or '(none)'}, not {serial}"
            raise RedfishError(Trouble.SERIAL_DIFFERS, what)

    def require_licence(self) -> None:
        """Refuse a controller that lists no licence that opens virtual media, or says that it lacks one.

        Raises
        ------
        RedfishError
            With the name of the licence.
        """
        with self._link.told():
            for manager in self._link.managers:
                listed = self._link.find(f"{manager.rstrip('/')}/LicenseManager/QueryLicense")
                licences = json.dumps((listed or {}).get("Licenses")).upper()
                if listed and "Licenses" in listed and not any(word in licences for word in _LICENCES):
                    raise RedfishError.licence_missing(self._link.address)
            media.inserted(self._link)

    def power(self, wanted: power.Wanted) -> bool:
        """Bring the power to `on` or `off`, or restart; tell whether anything was done."""
        with self._link.told():
            return power.power_to(self._link, wanted)

    def inserted(self) -> tuple[str, ...]:
        """Name the images that are connected."""
        with self._link.told():
            return media.inserted(self._link)

    def insert(self, url: str) -> bool:
        """Connect an image and nothing else; tell whether it had to be."""
        with self._link.told():
            return media.insert(self._link, url)

    def eject(self) -> bool:
        """Take out whatever is connected; tell whether anything was."""
        with self._link.told():
            return media.eject(self._link)

    def boot_override(self) -> dict[str, str | None]:
        """Read what the next boot is from: `enabled`, `target` and `mode`."""
        with self._link.told():
            return boot.boot_override(self._link)

    def boot_once(self, *, once_only: bool = True) -> bool:
        """Let the next boot be from the virtual CD by UEFI; tell whether that had to be set."""
        with self._link.told():
            return boot.boot_once(self._link, once_only=once_only)

    def boot_from(self, url: str) -> None:
        """Start the server from an image: off, insert, one boot from it, on.

        Off first, for some controllers mount nothing, or forget the override, while their server runs.

        Parameters
        ----------
        url
            The image.
        """
        self.power("off")
        self.insert(url)
        self.boot_once()
        self.power("on")
