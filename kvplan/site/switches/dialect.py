"""The two dialects of NVUE, and what differs between releases within them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from kvplan.site.deployment import Deployment

Tree = dict[str, Any]
"""A part of a configuration as plain data: mappings down to scalars."""


class Release(NamedTuple):
    """A Cumulus Linux release such as 5.15; what follows the second number changes no path."""

    major: int
    minor: int

    def __str__(self) -> str:
        """Write it as its maker does."""
        return f"{self.major}.{self.minor}"


def release_of(version: str) -> Release:
    """Read the release of a version.

    Parameters
    ----------
    version
        A version such as `5.11.1`.

    Returns
    -------
    Release
        Its first two numbers; a missing one is 0.

    Examples
    --------
    >>> release_of("5.11.1"), release_of("5.9") < release_of("5.15")
    (Release(major=5, minor=11), True)
    """
    major, minor, *_ = (*(int(number) for number in re.findall(r"\d+", version)), 0, 0)
    return Release(major, minor)


_FROM: Final = {
    "is_new": "new_dialect_from",
    "sets_speed": "speed_keeps_autoneg_from",
    "saves_by_state": "auto_save_state_from",
    "has_telemetry": "telemetry_from",
    "has_system_dns": "system_dns_from",
    "has_system_snmp": "system_snmp_from",
    "has_system_syslog": "system_syslog_from",
}
"""The setting that names the first release of each difference."""


@dataclass(frozen=True)
class Dialect:
    """How a release writes what all releases know.

    `has_system_dns` and its like tell whether a service is below `system` instead of `service`.
    """

    is_new: bool
    sets_speed: bool
    saves_by_state: bool
    has_telemetry: bool
    has_system_dns: bool
    has_system_snmp: bool
    has_system_syslog: bool

    @property
    def on(self) -> str:
        """The word that switches something on."""
        return "enabled" if self.is_new else "on"

    @property
    def enabled(self) -> Tree:
        """The key and word that enable a feature."""
        return {"state": "enabled"} if self.is_new else {"enable": "on"}

    @property
    def auto_save(self) -> Tree:
        """The key and word that enable saving."""
        return {"state": "enabled"} if self.saves_by_state else {"enable": "on"}

    def addressed(self, *addresses: str, vrf: str = "", gateway: str = "") -> Tree:
        """Give an interface addresses, and a VRF and a gateway where they are named.

        Parameters
        ----------
        *addresses
            Addresses with the length of their prefix.
        vrf
            VRF that the interface is in; the default one without.
        gateway
            Address of the next hop by default; none without.

        Returns
        -------
        dict
            The part of the interface.
        """
        inside: Tree = {"address": {address: {} for address in addresses}} if addresses else {}
        if gateway:
            inside["gateway"] = {gateway: {}}
        if self.is_new:
            return ({"ipv4": inside} if inside else {}) | ({"vrf": vrf} if vrf else {})
        return {"ip": inside | ({"vrf": vrf} if vrf else {})}


def dialect_of(deployment: Deployment, version: str) -> Dialect | None:
    """Return the dialect of a version.

    Parameters
    ----------
    deployment
        Whose settings say which releases there are.
    version
        The version that a switch runs.

    Returns
    -------
    Dialect or None
        None for a release that is too old.
    """
    release = release_of(version)
    if release < known_release(deployment, "oldest_release"):
        return None
    return Dialect(**{field: release >= known_release(deployment, name) for field, name in _FROM.items()})


def known_release(deployment: Deployment, name: str) -> Release:
    """Return a release that a setting of switches names.

    Parameters
    ----------
    deployment
        Whose settings they are.
    name
        Name of the setting without its area, such as `oldest_release`.

    Returns
    -------
    Release
        The release.
    """
    return release_of(str(deployment.setting(f"switch.{name}")))
