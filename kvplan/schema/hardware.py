"""Rows of the hardware tables: what a vendor's data sheet says about a part, as far as sizing asks."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from kvplan.schema.base import Sourced

CageConnector = Literal["OSFP-twin", "QSFP-DD", "QSFP28", "RJ45"]
"""What a switch port takes; `OSFP-twin` is the finned twin-port cage of Spectrum-4 switches."""
PositiveInt = Annotated[int, Field(ge=1)]
PositiveFloat = Annotated[float, Field(gt=0)]


class Row(Sourced):
    """One catalogue row: a stable id, other names it answers to, and a note for whoever reads the table."""

    id: str = Field(min_length=1)
    aliases: tuple[str, ...] = ()
    title: str = ""
    note: str = ""

    def __hash__(self) -> int:
        """Hash the id alone: rows are the keys of many caches, and equal rows have equal ids."""
        return hash(self.id)


PartNumberKnown = Literal["confirmed", "listing", "pattern"]
"""How a part number is known: by its maker's page, by a public listing, or by the pattern of its family."""
UNSURE: Final[frozenset[PartNumberKnown]] = frozenset({"listing", "pattern"})
"""Part numbers to be confirmed before they are ordered by."""
ANY_VENDOR: Final = "any"
"""Vendor of a row that stands for any make."""


class Gpu(Row):
    """A GPU as it is sold in a server: memory, bandwidth, bus, and the network of the server around it.

    `pcie_generation` is the GPU's own, `host_pcie_generation` that of the server's slots, which hold its NICs too.
    The FLOPS are dense peaks, absent where nobody says; a GPU without an fp8 rate computes fp8 weights in bf16.
    `link_bytes_per_s` is what a GPU sends to its neighbours in the server: NVLink, or the bus.
    """

    vendor: str
    memory_bytes: PositiveInt
    memory_bandwidth_bytes_per_s: PositiveFloat
    bf16_flops_per_s: PositiveFloat | None = None
    fp8_flops_per_s: PositiveFloat | None = None
    link_bytes_per_s: PositiveFloat | None = None
    pcie_generation: Literal[3, 4, 5, 6]
    pcie_lanes: PositiveInt
    host_pcie_generation: Literal[3, 4, 5, 6] = 5
    gpus_per_server: PositiveInt
    server: str = ""
    nic: str
    nics_per_server: PositiveInt
    power_w: PositiveFloat | None = None


class Server(Row):
    """A storage or client chassis, or that of a control node; one without a make may stand for servers not named."""

    vendor: str
    role: Literal["storage", "client", "control"]
    rack_units: PositiveInt
    drive_bays: int = Field(ge=0)
    drive_form_factor: str = ""
    drive_pcie_generation: Literal[4, 5, 6] = 5
    drive_pcie_lanes: int = Field(default=0, ge=0)
    network_pcie_lanes: int = Field(default=0, ge=0)
    full_height_slots: int = Field(default=0, ge=0)
    ocp_slots: int = Field(default=0, ge=0)
    stands_for_unknown: bool = False
    cpu_sockets: PositiveInt = 1


class Drive(Row):
    """An NVMe drive; speeds are sequential, endurance is rated."""

    vendor: str
    capacity_bytes: PositiveInt
    form_factors: tuple[str, ...] = ()
    pcie_generation: Literal[3, 4, 5, 6]
    pcie_lanes: PositiveInt = 4
    read_bytes_per_s: PositiveFloat
    write_bytes_per_s: PositiveFloat
    drive_writes_per_day: PositiveFloat
    power_w: PositiveFloat | None = None


class Nic(Row):
    """A network adapter; `management_port` tells that the card has a management controller with a port of its own."""

    vendor: str
    part_number: str = ""
    part_number_known: PartNumberKnown = "confirmed"
    ports: PositiveInt
    port_bits_per_s: PositiveFloat
    connector: Literal["QSFP112", "OSFP", "QSFP56", "QSFP28", "SFP28"]
    pcie_generation: Literal[3, 4, 5, 6]
    pcie_lanes: PositiveInt
    form_factor: str = ""
    power_w: PositiveFloat | None = None
    needs_atx_lead: bool = False
    management_port: bool = False

    @property
    def is_ocp(self) -> bool:
        """Whether the card goes into an OCP bay instead of a slot."""
        return self.form_factor.startswith("OCP")


class Switch(Row):
    """An Ethernet switch; a cage is one physical port, `breakout_legs` its breakouts as ports per cage by speed.

    `max_ports` is how many ports the switch carries in all, however its cages are broken out.
    """

    vendor: str
    part_number: str = ""
    part_number_known: PartNumberKnown = "confirmed"
    cages: PositiveInt
    cage_bits_per_s: PositiveFloat
    connector: CageConnector = "OSFP-twin"
    breakout_legs: dict[str, int]
    max_ports: PositiveInt | None = None
    rack_units: PositiveInt
    power_typical_w: PositiveFloat | None = None
    power_max_w: PositiveFloat | None = None
    role: Literal["fabric", "management"] = "fabric"
