"""How the tier is built: the fabric, and the racks with their power."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from kvplan.render.fabric.fabric_svg import fabric_svg
from kvplan.render.fabric.racks_alike import by_load
from kvplan.render.fabric.racks_svg import racks_svgs
from kvplan.render.fabric.words import NETWORK_TITLES, NO_CABLE, counted_title, medium_of, spans
from kvplan.render.report.blocks import Fact, Facts, Figure, Fold, Part, Prose, Table
from kvplan.render.view import Grid
from kvplan.units import counted, format_percent, format_power

if TYPE_CHECKING:
    from kvplan.render.report.source import Source
    from kvplan.schema.design import Design, Rack
    from kvplan.schema.roles import Network


def fabric(source: Source) -> Part:
    """Draw the fabric, and count switches, cables and addresses."""
    design = source.design
    switches = design.switches
    text = (
        f"{counted_title(switches.leaves, 'leaf')} in {counted(switches.pairs, 'pair')}, "
        f"{counted_title(switches.spines, 'spine')}"
        + (f", {counted_title(switches.super_spines, 'super-spine')}" if switches.super_spines else "")
        + f"; {switches.uplinks_per_leaf} uplink cages a leaf, {switches.oversubscription:.3g} to 1 down to up."
    )
    return Part(
        "fabric",
        "Fabric",
        (
            Figure("fabric-drawing", "Fabric diagram", fabric_svg(design), text, wide=True),
            Table("Cables", _cables(design)),
            Fold(Table("Address ranges", _addresses(design))),
            Prose(("Port map and cable schedule are not on this page: `kvplan network plan.json --format csv`.",)),
        ),
    )


def _cables(design: Design) -> Grid:
    """Count cables by network and family, with how many there are of each length."""
    lengths: dict[tuple[Network, str, str], Counter[float]] = defaultdict(Counter)
    for cable in design.cables:
        lengths[cable.network, cable.family, medium_of(cable)][cable.length_m] += 1
    rows = tuple(
        (
            NETWORK_TITLES[network],
            family or NO_CABLE,
            medium,
            ", ".join(f"{count:,} x {length:g} m" for length, count in sorted(counts.items())) if family else "",
            f"{counts.total():,}",
        )
        for (network, family, medium), counts in lengths.items()
    )
    return Grid(("Network", "Family", "Medium", "Lengths", "Number"), rows, "llllr")


def _addresses(design: Design) -> Grid:
    """Show how much of each address range is used."""
    rows = tuple((item.name, item.prefix, f"{item.used:,}", f"{item.capacity:,}") for item in design.addresses)
    return Grid(("Range", "Prefix", "Used", "Room for"), rows, "llrr")


def racks(source: Source) -> Part:
    """Draw the racks, and give power and weight against their limits."""
    found, (typical, most), known = source.design.racks, source.design.power_w, source.power_known
    facts = (
        Fact("Racks", counted(len(found), "rack"), f"{sum(rack.used_units for rack in found):,} rack units used"),
        Fact("Power at most", format_power(most), "either feed must carry a rack's share alone", known),
        Fact("Typical power", format_power(typical), "and as much heat to cool", known),
        Fact("Weight", f"{source.design.weight_kg:,.0f} kg", "without the racks' own", known),
    )
    text = f"{counted(len(found), 'rack')} as seen from the front; power is what one feed must carry alone."
    drawings = racks_svgs(source.design)
    return Part(
        "racks",
        "Racks and power",
        (
            Facts("All racks together", facts),
            _rack_table(found),
            *(
                Figure(
                    f"racks-drawing-{number}",
                    "Rack elevation" if number == 1 else f"Rack elevation, part {number} of {len(drawings)}",
                    drawn,
                    text if number == 1 else "",
                    wide=True,
                )
                for number, drawn in enumerate(drawings, start=1)
            ),
        ),
    )


def _rack_table(found: tuple[Rack, ...]) -> Table:
    """Show racks against their limits, those that are alike in one row."""
    rows = tuple(
        (
            spans((rack.name for rack in racks), 2), f"{len(racks):,}",
            f"{load.units} U", load.typical, load.most, load.limit,
            format_percent(racks[0].power_max_w / racks[0].power_limit_w, 0), load.weight,
        )
        for load, racks in by_load(found).items()
    )  # fmt: skip
    headers = ("Racks", "Number", "Space", "Typical", "At most", "Limit of a feed", "Of the limit", "Weight")
    return Table("Racks against their limits, each", Grid(headers, rows, "lrrrrrrr"))
