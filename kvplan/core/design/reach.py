"""How long a cable must be between two places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.core.design.names import rack_name
from kvplan.core.design.racks import place_in_room

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvplan.core.design.racks import Place
    from kvplan.schema.build import BuildOptions

UNIT_M: Final = 0.04445
"""Height of a rack unit: EIA-310."""


class Reach:
    """Distances between devices, from where they stand.

    Parameters
    ----------
    options
        Racks and cabling.
    places
        Where each device stands, by name.
    """

    def __init__(self, options: BuildOptions, places: Mapping[str, Place]) -> None:
        self._options = options
        self._places = places
        # Thousands of cables run between few pairs of racks.
        self._ways: dict[tuple[int, int], float] = {}

    def needed_m(self, one: str, other: str) -> float:
        """Measure the cable that joins two devices.

        length = units between x 44.45 mm + slack within a rack; else up to the tray, along, and down again + slack

        Parameters
        ----------
        one
            Name of a device.
        other
            Name of the other.

        Returns
        -------
        float
            Length to be covered [m], in whole centimetres.

        References
        ----------
        EIA-310 for the height of a unit; otherwise derived.

        Examples
        --------
        >>> from kvplan.core.design.engine import design_of
        >>> from kvplan.reference import INPUTS
        >>> design = design_of(INPUTS)
        >>> next(cable.needed_m for cable in design.cables if cable.network == "storage") > 0.5
        True
        """
        a, b = self._places[one], self._places[other]
        racks, cabling = self._options.racks, self._options.cabling
        if a.rack == b.rack:
            return round(abs(a.unit - b.unit) * UNIT_M + cabling.slack_m, 2)
        climbs = sum((racks.units - place.unit) * UNIT_M for place in (a, b))
        if (a.rack, b.rack) not in self._ways:
            self._ways[a.rack, b.rack] = self.way_m(a.rack, b.rack)
        return round(climbs + self._ways[a.rack, b.rack] + cabling.slack_m, 2)

    def way_m(self, one: int, other: int) -> float:
        """Measure the way from the top of one rack to the top of another.

        way = 2 x tray + columns x pitch + rows x row pitch, or as measured on site

        Parameters
        ----------
        one
            Number of a rack, from 1 [1].
        other
            Number of the other [1].

        Returns
        -------
        float
            Length of the way [m].

        References
        ----------
        Derived for overhead trays along and across the rows.

        Examples
        --------
        >>> from kvplan.schema.build import BuildOptions
        >>> Reach(BuildOptions(), {}).way_m(1, 3)
        2.2
        """
        racks, cabling = self._options.racks, self._options.cabling
        names = rack_name(one), rack_name(other)
        for key in ("/".join(names), "/".join(reversed(names))):
            if key in cabling.distances_m:
                return cabling.distances_m[key]
        here, there = place_in_room(racks, one), place_in_room(racks, other)
        rows, columns = (abs(near - far) for near, far in zip(here, there, strict=True))
        return 2 * cabling.tray_m + columns * racks.pitch_m + rows * racks.row_pitch_m
