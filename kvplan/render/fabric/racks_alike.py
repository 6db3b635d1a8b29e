"""Racks that are alike: by their figures in tables; in an elevation, where there are many, by what stands in them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from kvplan.schema.roles import ROLE_NOUNS
from kvplan.units import format_power

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from kvplan.schema.design import Design, Device, Rack

MOST_RACKS = 20
"""Elevations that are drawn at most."""


@dataclass(frozen=True, slots=True)
class Elevation:
    """A rack to be drawn, for itself or for several that are alike."""

    rack: Rack
    devices: tuple[Device, ...]
    names: tuple[str, ...]

    @property
    def count(self) -> int:
        """How many racks it stands for."""
        return len(self.names)

    @property
    def title(self) -> str:
        """The rack's name, and how many are like it."""
        return self.names[0] if self.count == 1 else f"{self.names[0]} and {self.count - 1:,} more"

    def label(self, device: Device) -> str:
        """Name a device; where the drawing stands for several racks, by its role only."""
        return device.name if self.count == 1 else ROLE_NOUNS[device.role][0]


class Load(NamedTuple):
    """What a rack carries against what it may, as texts."""

    units: str
    typical: str
    most: str
    limit: str
    weight: str

    @property
    def power(self) -> str:
        """Power at most against what a feed may carry."""
        return f"{self.most} of {self.limit}"


def load_of(rack: Rack) -> Load:
    """Write what a rack carries."""
    return Load(
        f"{rack.used_units} of {rack.units}",
        format_power(rack.power_typical_w),
        format_power(rack.power_max_w),
        format_power(rack.power_limit_w),
        f"{rack.weight_kg:,.0f} of {rack.weight_limit_kg:,.0f} kg",
    )


def by_load(racks: Iterable[Rack]) -> Mapping[Load, list[Rack]]:
    """Put racks with equal figures together."""
    alike: dict[Load, list[Rack]] = defaultdict(list)
    for rack in racks:
        alike[load_of(rack)].append(rack)
    return alike


def elevations(design: Design) -> tuple[list[Elevation], int]:
    """Choose what is drawn, and count the racks that are left out for want of room."""
    inside = design.by_rack()
    many = len(design.racks) > MOST_RACKS
    groups: dict[Hashable, list[Rack]] = defaultdict(list)
    for rack in design.racks:
        groups[_kind(rack, inside[rack.name]) if many else rack.name].append(rack)
    drawn = [
        Elevation(racks[0], inside[racks[0].name], tuple(rack.name for rack in racks)) for racks in groups.values()
    ]
    return drawn[:MOST_RACKS], sum(item.count for item in drawn[MOST_RACKS:])


def _kind(rack: Rack, devices: tuple[Device, ...]) -> Hashable:
    """Tell racks apart by what stands where in them, and by their figures as tables show them."""
    return load_of(rack), tuple(sorted((device.position_u, device.rack_units, device.role) for device in devices))
