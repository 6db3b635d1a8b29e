"""The physical design: every device, rack position, port, cable and address of a Plan, in one document."""

from __future__ import annotations

from typing import Literal, NamedTuple

from kvplan.schema.base import Confidence, Record, Severity
from kvplan.schema.build import BuildOptions
from kvplan.schema.cabling import Connector, Medium
from kvplan.schema.plan import CatalogueLock
from kvplan.schema.roles import ROLE_NOUNS, Network, PortKind, Rail, Role

DESIGN_FORMAT_VERSION = "1.0"


class Device(Record):
    """One box: its place, its power, and how it is addressed.

    `number` counts within the role from 1 and decides name and addresses. `position_u` is the lowest unit it takes,
    1 being at the bottom. `pair` is the leaf pair it belongs to, `pod` that of a leaf or spine, `recovery_group`
    that of a storage node, each 0 for none. `management_address` is that of its controller, or of the switch itself.
    Power is at the wall [W]; `one_feed_w` is what the supplies on one of the two feeds carry, where their rating is
    known. `confidence` says how well power and weight are known.
    """

    name: str
    role: Role
    model: str
    number: int
    rack: str
    position_u: int
    rack_units: int
    pair: int = 0
    pod: int = 0
    recovery_group: int = 0
    rail: Rail = ""
    power_typical_w: float
    power_max_w: float
    psu_count: int
    psu_w: float | None = None
    one_feed_w: float | None = None
    inlet: str = ""
    weight_kg: float
    confidence: Confidence
    management_address: str
    loopback: str = ""
    asn: int | None = None

    @property
    def rank(self) -> tuple[int, int]:
        """Its place in a list by role, then by number."""
        return tuple(ROLE_NOUNS).index(self.role), self.number

    @property
    def units(self) -> range:
        """The units of its rack that it takes, the lowest first."""
        return range(self.position_u, self.position_u + self.rack_units)


class Rack(Record):
    """One rack: what it holds against what it may hold; either power feed must carry `power_max_w` alone."""

    name: str
    row: int
    column: int
    units: int
    used_units: int
    power_typical_w: float
    power_max_w: float
    power_limit_w: float
    weight_kg: float
    weight_limit_kg: float


class Port(Record):
    """One leg of a link at one of its two devices.

    `name` is the interface (`swp3s1`, `client1p0`, `bmc`), `cage` the connector it sits in (`swp3`, `client1p0`),
    `cage_legs` how many legs that cage is divided into, `lanes` the electrical lanes of the leg. It has one cable, or
    two fibres where an undivided leg takes both of its module.
    """

    device: str
    name: str
    cage: str
    cage_legs: int
    kind: PortKind
    lanes: int | None = None
    bits_per_s: float
    network: Network
    rail: Rail = ""
    peer_device: str
    peer_port: str
    cables: tuple[str, ...]
    address: str = ""


class CableEnd(Record):
    """One end of a cable: device, connector, the legs it carries, and the transceiver in it where there is one."""

    device: str
    cage: str
    ports: tuple[str, ...]
    connector: Connector
    transceiver: str = ""


class Cable(Record):
    """One cable as it is bought: family, part number and length; a breakout has several ends `b`.

    `needed_m` is the longest way that it must cover, `length_m` the length bought.
    """

    id: str
    family: str
    part_number: str
    medium: Medium
    length_m: float
    needed_m: float
    network: Network
    a: CableEnd
    b: tuple[CableEnd, ...]

    @property
    def is_open(self) -> bool:
        """Whether no family joins its ends: the link is planned, but there is no cable for it to be bought."""
        return not self.family


class AddressRange(Record):
    """A prefix and how much of it the design takes: links of a host prefix, addresses of the others.

    `used` are handed out; `reach` is the place of the last one, for room is left beside each machine and role.
    `option` is the build option that sets the prefix.
    """

    name: str
    option: str
    counts: Literal["links", "addresses"]
    prefix: str
    used: int
    reach: int
    capacity: int


StateName = Literal["normal", "drive", "node", "leaf", "spine", "feed"]


class FailureState(Record):
    """What is left with something lost: client bytes read and written [B/s], and as a share of the normal state."""

    name: StateName
    lost: str
    read_bytes_per_s: float
    write_bytes_per_s: float
    read_share: float
    binding_stage: str
    text: str = ""


class Finding(Record):
    """What a rule found: its id, how grave it is, where, and what to do about it."""

    id: str
    severity: Severity
    where: str
    text: str
    remedy: str = ""


class Switches(Record):
    """How many switches of each tier there are and how the tiers are joined; a cage is one physical port."""

    leaves: int
    spines: int
    super_spines: int
    management: int
    pairs: int
    pods: int
    cages_down_per_leaf: int
    uplinks_per_leaf: int
    cages_per_switch: int
    oversubscription: float


class Power(NamedTuple):
    """Power at the wall [W], on a usual day and at most."""

    typical: float
    most: float


class Design(Record):
    """A Plan as it is racked, cabled and addressed; equal Plan and options give an equal design."""

    format_version: str = DESIGN_FORMAT_VERSION
    plan_sha256: str
    options: BuildOptions
    catalogue: CatalogueLock
    switches: Switches
    devices: tuple[Device, ...]
    racks: tuple[Rack, ...]
    ports: tuple[Port, ...]
    cables: tuple[Cable, ...]
    addresses: tuple[AddressRange, ...]
    states: tuple[FailureState, ...]
    findings: tuple[Finding, ...]

    @property
    def power_w(self) -> Power:
        """What all racks draw together."""
        return Power(sum(rack.power_typical_w for rack in self.racks), sum(rack.power_max_w for rack in self.racks))

    @property
    def weight_kg(self) -> float:
        """What stands in all racks together, without the racks' own."""
        return sum(rack.weight_kg for rack in self.racks)

    @property
    def bought_cables(self) -> tuple[Cable, ...]:
        """The cables that there are to buy: all but those of links that no family joins."""
        return tuple(cable for cable in self.cables if not cable.is_open)

    def by_rack(self) -> dict[str, tuple[Device, ...]]:
        """List the devices of each rack, in the order of the design."""
        held: dict[str, list[Device]] = {rack.name: [] for rack in self.racks}
        for device in self.devices:
            held[device.rack].append(device)
        return {name: tuple(devices) for name, devices in held.items()}

    def state(self, name: StateName) -> FailureState:
        """Return what is left in a failure state."""
        return next(state for state in self.states if state.name == name)
