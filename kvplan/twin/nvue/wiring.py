"""Which port is cabled to which, and what the machines at the far ends do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kvplan.schema.roles import SWITCH_ROLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kvplan.site.deployment import Deployment

End = tuple[str, str]
"""A device and its port."""


@dataclass(frozen=True, slots=True)
class Leg:
    """The far end of a link to a host: its address with the length of the prefix, and the host's AS number."""

    address: str
    asn: int


@dataclass(slots=True)
class Wiring:
    """The cables of a rack; `legs` says what hosts do at their ends, `silent` names devices without power."""

    far: Mapping[End, End]
    legs: Mapping[End, Leg] = field(default_factory=dict)
    silent: set[str] = field(default_factory=set)


def joined(links: Iterable[tuple[End, End]]) -> dict[End, End]:
    """Return the far end of each end.

    Parameters
    ----------
    links
        Both ends of each link.

    Returns
    -------
    dict
        The far end by the near one, either way.

    Examples
    --------
    >>> joined([(("leaf", "swp1"), ("host", "p0"))])[("host", "p0")]
    ('leaf', 'swp1')
    """
    both = [*links]
    return dict(both) | {there: here for here, there in both}


def wiring_of(deployment: Deployment) -> Wiring:
    """Return the cables of a deployment, and the hosts as they are planned.

    Parameters
    ----------
    deployment
        What is deployed.

    Returns
    -------
    Wiring
        The cables.
    """
    ports = [port for device in deployment.ports.values() for port in device]
    legs = {
        (port.device, port.name): Leg(port.address, asn)
        for port in ports
        for device in (deployment.devices[port.device],)
        if device.role not in SWITCH_ROLES and port.kind == "fabric" and (asn := device.asn)
    }
    return Wiring({(port.device, port.name): (port.peer_device, port.peer_port) for port in ports}, legs)
