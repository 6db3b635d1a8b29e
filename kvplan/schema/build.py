"""How a Plan is to be built: racks, cabling, management, scope and address ranges, each with a default."""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from kvplan.schema.base import Record
from kvplan.schema.hardware import PositiveFloat, PositiveInt
from kvplan.schema.roles import Network

LEAST_FREE_UNITS = 10
"""Units that must be left beside the reserved ones: the largest server and a switch."""
MediumChoice = Literal["auto", "copper", "optics"]
ClientScope = Literal["servers", "adapters", "none"]
"""What of the client servers is quoted: whole servers, their adapters only, or nothing but cables."""


def _is_prefix(text: str) -> str:
    """Check an IPv4 prefix."""
    try:
        network = IPv4Network(text)
    except ValueError as error:
        message = f"{text!r} is no IPv4 prefix: {error}"
        raise ValueError(message) from error
    if network.is_multicast or network.is_loopback or network.is_link_local or network.is_reserved:
        message = f"{text!r} is set aside for something else"
        raise ValueError(message)
    return text


Prefix = Annotated[str, AfterValidator(_is_prefix)]
RackPair = Annotated[str, StringConstraints(pattern=r"^rack-\d{2,}/rack-\d{2,}$")]
"""Two racks by name, such as `rack-01/rack-03`."""


class RackOptions(Record):
    """The racks: size, limits and where they stand; power is what one feed carries, for either must carry all."""

    available: PositiveInt | None = None
    units: Annotated[int, Field(ge=12, le=60)] = 42
    reserved_units: Annotated[int, Field(ge=0, le=12)] = 2
    power_w: PositiveFloat = 17_000
    weight_kg: PositiveFloat = 1_000
    storage_nodes_per_rack: PositiveInt | None = None
    per_row: PositiveInt = 20
    pitch_m: PositiveFloat = 0.6
    row_pitch_m: PositiveFloat = 2.4
    quoted: bool = True

    @model_validator(mode="after")
    def _leaves_room(self) -> Self:
        if self.units - self.reserved_units < LEAST_FREE_UNITS:
            message = f"{self.reserved_units} reserved of {self.units} units leave no room for servers"
            raise ValueError(message)
        return self


class CablingOptions(Record):
    """How cables run: overhead tray, slack at the ends, distances measured on site, and families asked for.

    `distances_m` maps `rack-01/rack-03` to the length of the way between two racks. `families` maps a network
    (`storage-client`, `storage`, `client`, `uplink`, `super-uplink`, `management`) to the cable family used for it.
    """

    medium: MediumChoice = "auto"
    tray_m: Annotated[float, Field(ge=0, le=20)] = 0.5
    slack_m: Annotated[float, Field(ge=0, le=20)] = 0.5
    distances_m: dict[RackPair, PositiveFloat] = Field(default_factory=dict)
    families: dict[Network, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _ways_are_given_once(self) -> Self:
        for pair in self.distances_m:
            one, other = pair.split("/")
            if one == other or f"{other}/{one}" in self.distances_m:
                message = f"distances_m: {pair} is no pair of two racks, or is given twice"
                raise ValueError(message)
        return self


class FabricOptions(Record):
    """The switches: bandwidth down to up (the Plan's when absent), spines at least, and how uplinks run."""

    oversubscription: Annotated[float, Field(ge=1, le=16)] | None = None
    min_spines: Annotated[int, Field(ge=1, le=64)] = 1
    uplink_legs: Literal["2x400G", "1x800G"] = "2x400G"
    adaptive_routing: bool = False


class ManagementOptions(Record):
    """The out-of-band network: ports of a host beside its BMC, and uplinks of each switch to the site's network."""

    switch: str = "sn2201"
    host_ports: Annotated[int, Field(ge=0, le=2)] = 1
    uplinks_per_switch: Annotated[int, Field(ge=1, le=4)] = 2
    control_nodes: Annotated[int, Field(ge=0, le=9)] = 1


class AddressRanges(Record):
    """Prefixes and autonomous system numbers; a device's address follows from its own number alone."""

    storage_client_a: Prefix = "10.64.0.0/20"
    storage_client_b: Prefix = "10.65.0.0/20"
    storage_a: Prefix = "10.66.0.0/20"
    storage_b: Prefix = "10.67.0.0/20"
    client_a: Prefix = "10.68.0.0/15"
    client_b: Prefix = "10.70.0.0/15"
    switch_loopbacks: Prefix = "10.72.0.0/20"
    storage_loopbacks: Prefix = "10.72.16.0/20"
    client_loopbacks: Prefix = "10.73.0.0/16"
    management: Prefix = "172.24.0.0/14"
    spine_asn: Annotated[int, Field(ge=1, le=4_294_967_294)] = 4_200_000_000
    leaf_asn: Annotated[int, Field(ge=1, le=4_294_967_294)] = 4_200_001_000
    host_asn: Annotated[int, Field(ge=1, le=4_294_967_294)] = 4_200_100_000

    @model_validator(mode="after")
    def _prefixes_are_apart(self) -> Self:
        given: list[tuple[str, IPv4Network]] = [
            (name, IPv4Network(value)) for name, value in self if isinstance(value, str)
        ]
        for index, (name, prefix) in enumerate(given):
            for other, taken in given[:index]:
                if prefix.overlaps(taken):
                    message = f"{name} {prefix} overlaps {other} {taken}"
                    raise ValueError(message)
        return self


class BuildOptions(Record):
    """Everything that decides how a Plan is racked, cabled and addressed; the Plan says what, this says how."""

    format_version: Literal["1.0"] = "1.0"
    clients: ClientScope = "adapters"
    racks: RackOptions = RackOptions()
    cabling: CablingOptions = CablingOptions()
    fabric: FabricOptions = FabricOptions()
    management: ManagementOptions = ManagementOptions()
    addresses: AddressRanges = AddressRanges()
