"""Rows of the tables that racking and cabling need: enclosures, cables, transceivers."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from kvplan.schema.hardware import PartNumberKnown, PositiveFloat, PositiveInt, Row

Connector = Literal[
    "OSFP-twin", "QSFP-DD", "QSFP28", "RJ45", "OSFP", "QSFP112", "QSFP56", "SFP28", "MPO-12", "LC-duplex",
]  # fmt: skip
"""What either end of a cable has; `OSFP` is the flat-top single port of a network adapter."""
Medium = Literal["passive-copper", "active-copper", "multimode", "single-mode", "twisted-pair"]
FIBRE: Final[frozenset[Medium]] = frozenset({"multimode", "single-mode"})
"""Media that need a transceiver at each end."""
Inlet = Literal["C14", "C20"]
"""Mains inlet of a power supply, which decides the lead."""


class Enclosure(Row):
    """What racking and powering a device asks; its id is that of the server or switch.

    `base_power_w` is the load of the box itself (processors, memory, fans), without drives, adapters, GPUs and
    optics; absent for a switch, whose row has its power. Supplies turn `psu_efficiency` of what they draw into load,
    and `typical_share` of the highest draw is what the box takes on a usual day.
    """

    weight_kg: PositiveFloat
    depth_mm: PositiveInt | None = None
    base_power_w: PositiveFloat | None = None
    psu_efficiency: Annotated[float, Field(gt=0, le=1)] = 0.94
    typical_share: Annotated[float, Field(gt=0, le=1)] = 0.8
    psu_count: PositiveInt = 2
    psu_w: PositiveFloat | None = None
    inlet: Inlet
    atx_headers: int = Field(default=0, ge=0)


class CableFamily(Row):
    """A cable family: what it joins, at which rate, how far, and the part number of each length.

    A cable has one end `a` and `b_ends` ends `b`, each carrying `legs_per_end` legs of `leg_bits_per_s`. Fibre
    (`MPO-12` or `LC-duplex` at both ends) needs a transceiver at each end and carries whatever they carry.
    """

    vendor: str
    medium: Medium
    a_connector: Connector
    b_connector: Connector
    b_ends: PositiveInt = 1
    legs_per_end: PositiveInt = 1
    leg_bits_per_s: PositiveFloat | None = None
    lengths_m: Annotated[dict[float, str], Field(min_length=1)]
    part_number_known: PartNumberKnown = "confirmed"

    @property
    def is_fibre(self) -> bool:
        """Whether the cable needs transceivers at its ends."""
        return self.medium in FIBRE

    @property
    def max_length_m(self) -> float:
        """The longest length there is [m]."""
        return max(self.lengths_m)


class Transceiver(Row):
    """An optical module: the cage it fits, its fibre ports, the connector of each, and how far it reaches.

    A twin-port module has two `ports`; each carries `port_bits_per_s` and may be split by a 1:2 fibre.
    """

    vendor: str
    part_number: str = ""
    part_number_known: PartNumberKnown = "confirmed"
    connector: Connector
    medium: Medium
    fibre: Literal["MPO-12", "LC-duplex"] = "MPO-12"
    ports: PositiveInt = 1
    port_bits_per_s: PositiveFloat
    reach_m: PositiveFloat
    power_w: PositiveFloat
