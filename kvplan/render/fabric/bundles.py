"""Bundles: all legs between two boxes of a drawing, with what each device of them has."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kvplan.render.fabric.links import devices_by_name, legs
from kvplan.render.fabric.words import OUTWARDS, bundle

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kvplan.schema.design import Design
    from kvplan.schema.roles import Network, Rail

_ORDER = {role: depth for depth, role in enumerate(OUTWARDS)}
Range = tuple[int, int]
"""The fewest and the most of something."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """All legs of a network, rail and rate between two boxes, the upper nearer to the core.

    `joint` counts the legs between two devices that are joined, `upper_legs` those of one device of the upper box,
    `reach` the devices of the upper box that one of the lower box is joined to.
    """

    upper: str
    lower: str
    network: Network
    rail: Rail
    bits_per_s: float
    legs: int
    joint: Range
    upper_legs: Range
    reach: Range


def bundles_between(design: Design, box_of: Mapping[str, str]) -> tuple[Bundle, ...]:
    """Gather the legs between boxes.

    Parameters
    ----------
    design
        The design.
    box_of
        Box of each device that is drawn; legs of other devices are left out.

    Returns
    -------
    tuple[Bundle, ...]
        The bundles, in the order of their first cable.
    """
    devices = devices_by_name(design)
    gathered: dict[tuple[str, str, Network, Rail, float], Counter[tuple[str, str]]] = defaultdict(Counter)
    for leg in legs(design):
        upper, lower = sorted((leg.a.device, leg.b.device), key=lambda name: _ORDER[devices[name].role])
        if upper in box_of and lower in box_of:
            key = (box_of[upper], box_of[lower], leg.a.network, leg.a.rail, leg.a.bits_per_s)
            gathered[key][upper, lower] += 1
    return tuple(_bundle(key, joints) for key, joints in gathered.items())


def _bundle(key: tuple[str, str, Network, Rail, float], joints: Counter[tuple[str, str]]) -> Bundle:
    """Count the legs between the devices of two boxes."""
    upper_legs: Counter[str] = Counter()
    reach: Counter[str] = Counter()
    for (upper, lower), count in joints.items():
        upper_legs[upper] += count
        reach[lower] += 1
    return Bundle(*key, joints.total(), spread(joints.values()), spread(upper_legs.values()), spread(reach.values()))


def spread(counts: Iterable[int]) -> Range:
    """Return the fewest and the most."""
    found = list(counts)
    return min(found), max(found)


def ranged(counts: Range) -> str:
    """Write a range of counts.

    >>> ranged((3, 3)), ranged((3, 12))
    ('3', '3-12')
    """
    fewest, most = counts
    return str(fewest) if fewest == most else f"{fewest}-{most}"


def legs_text(counts: Range, bits_per_s: float) -> str:
    """Write how many legs of a rate there are.

    >>> legs_text((8, 8), 400e9), legs_text((6, 8), 200e9)
    ('8 x 400G', '6-8 x 200G')
    """
    fewest, most = counts
    return bundle(most, bits_per_s) if fewest == most else f"{fewest}-{bundle(most, bits_per_s)}"
