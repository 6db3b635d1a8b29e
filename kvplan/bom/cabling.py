"""Cables and optics of a design: by family and length, and each transceiver once a cage."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from kvplan.bom.draft import Draft

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvplan.bom.scope import Tables
    from kvplan.schema.cabling import CableFamily, Medium
    from kvplan.schema.design import Design

Kind = Literal["copper", "fibre", "patch"]
_KINDS: Mapping[Medium, Kind] = {
    "passive-copper": "copper",
    "active-copper": "copper",
    "multimode": "fibre",
    "single-mode": "fibre",
    "twisted-pair": "patch",
}
_TITLES: Mapping[Kind, str] = {
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
    yield from _cables(design, tables, "copper")
    yield from _optics(design, tables)
    yield from _cables(design, tables, "fibre")
    yield from _cables(design, tables, "patch")


def _cables(design: Design, tables: Tables, kind: Kind) -> Iterator[Draft]:
    """Yield the lot of one kind of cable."""
    counts: Counter[tuple[str, float, str]] = Counter(
        (cable.family, cable.length_m, cable.part_number) for cable in design.cables if _KINDS[cable.medium] == kind
    )
    minors = tuple(
        _cable(tables.cables.get(family), family, length_m, part_number, count, kind)
        for (family, length_m, part_number), count in sorted(counts.items())
    )
    yield from _lot(f"cables/{kind}", _TITLES[kind], minors)


def _cable(row: CableFamily | None, family: str, length_m: float, part_number: str, count: int, kind: Kind) -> Draft:
    """Make the line of one family and length."""
    vendor = row.vendor if row and row.vendor != "any" else ""
    return Draft(
        key=f"cable/{family}/{length_m:g}m",
        group="cabling",
        description=f"{row.title if row else family}, {length_m:g} m",
        quantity=count,
        basis=f"{count:,} in the cable schedule",
        source=row.source if row else "design: cables",
        confidence=row.confidence if row else "derived",
        kind=kind,
        vendor=vendor,
        part_number=part_number,
        note=row.note if row else "",
    )


def _optics(design: Design, tables: Tables) -> Iterator[Draft]:
    """Yield the lot of transceivers: one a cage, however many fibres end in it."""
    fitted = {
        (end.device, end.cage): end.transceiver
        for cable in design.cables
        for end in (cable.a, *cable.b)
        if end.transceiver
    }
    minors = tuple(_transceiver(tables, name, count) for name, count in sorted(Counter(fitted.values()).items()))
    yield from _lot("optics", "Transceivers", minors)


def _transceiver(tables: Tables, name: str, count: int) -> Draft:
    """Make the line of one transceiver."""
    row = tables.transceivers.get(name)
    return Draft(
        key=f"transceiver/{name}",
        group="cabling",
        description=row.title if row else name,
        quantity=count,
        basis=f"{count:,} cages in the cable schedule",
        source=row.source if row else "design: cables",
        confidence=row.confidence if row else "derived",
        kind="transceiver",
        vendor=row.vendor if row else "",
        part_number=row.part_number if row else "",
        note=row.note if row else "",
    )


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
            kind="lot",
            unit="lot",
            minors=minors,
        )
