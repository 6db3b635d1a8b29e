"""Cables and optics of a design: by family and length, and each transceiver once a cage."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kvplan.bom.draft import Draft
from kvplan.core.design.inventory import cable_lots, modules_fitted
from kvplan.schema.hardware import Row

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvplan.bom.scope import Tables
    from kvplan.core.design.inventory import CableLot
    from kvplan.schema.cabling import Medium
    from kvplan.schema.design import Design
    from kvplan.schema.kit import PartKind

_KINDS: Mapping[Medium, PartKind] = {
    "passive-copper": "copper",
    "active-copper": "copper",
    "multimode": "fibre",
    "single-mode": "fibre",
    "twisted-pair": "patch",
}
_TITLES: Mapping[PartKind, str] = {
    "copper": "Copper cables of the fabric",
    "fibre": "Fibre",
    "patch": "Patch cables of the management network",
}


def cabling_lines(design: Design, tables: Tables) -> Iterator[Draft]:
    """Make a line for each kind of cable and for the transceivers, with types and lengths as minor lines.

    Parameters
    ----------
    design
        Its cables, each with family, part number and length, and the transceivers at their ends.
    tables
        Titles and sources of families and transceivers.

    Yields
    ------
    Draft
        Copper, transceivers, fibre, patch cables; what there is none of falls away.
    """
    lots = cable_lots(design.bought_cables)
    modules = Counter(module.transceiver for module in modules_fitted(design.cables))
    yield from _cables(lots, tables, "copper")
    yield from _lot(
        "optics", "Transceivers", tuple(_transceiver(tables, name, count) for name, count in sorted(modules.items()))
    )
    yield from _cables(lots, tables, "fibre")
    yield from _cables(lots, tables, "patch")


def _cables(lots: Mapping[CableLot, int], tables: Tables, kind: PartKind) -> Iterator[Draft]:
    """Yield the lot of one kind of cable."""
    minors = tuple(_cable(lot, count, tables, kind) for lot, count in lots.items() if _KINDS[lot.medium] == kind)
    yield from _lot(f"cables/{kind}", _TITLES[kind], minors)


def _cable(lot: CableLot, count: int, tables: Tables, kind: PartKind) -> Draft:
    """Make the line of one family and length."""
    row = tables.cables.get(lot.family) or _of_design(lot.family)
    return Draft.of(
        row,
        key=f"cable/{lot.family}/{lot.length_m:g}m",
        group="cabling",
        quantity=count,
        basis=f"{count:,} in the cable schedule",
        kind=kind,
        description=f"{row.title or row.id}, {lot.length_m:g} m",
        part_number=lot.part_number,
    )


def _transceiver(tables: Tables, name: str, count: int) -> Draft:
    """Make the line of one transceiver."""
    return Draft.of(
        tables.transceivers.get(name) or _of_design(name),
        key=f"transceiver/{name}",
        group="cabling",
        quantity=count,
        basis=f"{count:,} cages in the cable schedule",
        kind="transceiver",
    )


def _of_design(name: str) -> Row:
    """Stand in for a row that the catalogue of today no longer has."""
    return Row(id=name, source="design: cables", confidence="derived")


def _lot(key: str, title: str, minors: tuple[Draft, ...]) -> Iterator[Draft]:
    """Yield a major line for parts that belong together, if there are any."""
    if minors:
        yield Draft(
            key=key,
            group="cabling",
            description=title,
            quantity=1,
            basis="as the cable schedule has them",
            source="design: cables",
            confidence="derived",
            kind="heading",
            unit="lot",
            minors=minors,
        )
