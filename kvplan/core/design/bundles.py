"""Switch cages and what is plugged into them: one bundle a cage, with each leg's two ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from kvplan.schema.cabling import Connector
    from kvplan.schema.roles import Network, PortKind, Rail


CAGE_LANES: Final = 8
"""Electrical lanes of an OSFP or QSFP-DD cage."""


class Far(NamedTuple):
    """The far end of a leg: device, cage, port, connector, and whose port it is."""

    device: str
    cage: str
    port: str
    connector: Connector
    kind: PortKind = "fabric"


class Leg(NamedTuple):
    """One leg of a cage: the switch port, its far end, how the far cage is divided, and the leg's addresses."""

    port: str
    far: Far
    far_legs: int = 1
    near_address: str = ""
    far_address: str = ""


class Bundle(NamedTuple):
    """One cage of a switch: how many legs it is broken out into, which are used, and at which rate [bit/s].

    `shared` tells that another cage has legs in the same far cage, so that neither can plug a cable of its own there.
    """

    device: str
    cage: str
    connector: Connector
    breakout: int
    lanes: int
    bits_per_s: float
    network: Network
    rail: Rail
    legs: tuple[Leg, ...]
    shared: bool = False

    @property
    def far_cages(self) -> tuple[tuple[str, str], ...]:
        """Device and cage of each far end, once each, in the order of the legs."""
        return tuple(dict.fromkeys((leg.far.device, leg.far.cage) for leg in self.legs))
