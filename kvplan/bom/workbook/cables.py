"""The cable schedule: every cable with both ends, a row for each far end, as the person who lays it reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.bom.workbook.sheet import Column, Styled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.bom.workbook.quote import Quote
    from kvplan.bom.workbook.sheet import Cell
    from kvplan.schema.design import Cable, CableEnd, Device

_PRINTED = (
    Column("Cable", 18, ("text", "strong")),
    Column("Pieces", 7, ("count",)),
    Column("Network", 15, ("text",)),
    Column("A device", 13, ("text",)),
    Column("A place", 13, ("text",)),
    Column("A ports", 15),
    Column("B device", 13, ("text",)),
    Column("B place", 13, ("text",)),
    Column("B ports", 13),
    Column("Needed [m]", 8, ("one",)),
    Column("Length [m]", 8, ("one",)),
    Column("Medium", 15, ("text",)),
    Column("Part number", 19, ("text",)),
    Column("A transceiver", 15, ("text", "muted")),
    Column("B transceiver", 16, ("text", "muted")),
)
_FURTHER = (
    Column("Family", 16, ("text", "muted")),
    Column("A cage", 12, ("text", "muted")),
    Column("A connector", 14, ("text", "muted")),
    Column("B cage", 12, ("text", "muted")),
    Column("B connector", 14, ("text", "muted")),
    Column("Label", 44, ("text", "muted")),
)
_COLUMNS = (*_PRINTED, *_FURTHER)


def cables_sheet(quote: Quote) -> None:
    """Write the sheet."""
    design = quote.design
    sheet = quote.sheet("Cable schedule", [column.width for column in _COLUMNS], len(_PRINTED))
    sheet.title(
        "Cable schedule",
        f"{len(design.cables):,} cables. A breakout has a row for each far end and is counted in the first. Families, "
        "connectors and texts for labels stand to the right of what is printed.",
    )
    places = {device.name: device for device in design.devices}
    body = sheet.table(_COLUMNS, (row for cable in design.cables for row in _rows(cable, places)), filtered=True)
    sheet.freeze(body.start, 1)
    sheet.finish(quote.bom.plan_sha256)


def _rows(cable: Cable, places: dict[str, Device]) -> Iterator[tuple[Cell, ...]]:
    """List the far ends of one cable."""
    near = cable.a
    for index, end in enumerate(cable.b):
        yield (
            Styled(cable.id, () if index == 0 else ("muted",)),
            1 if index == 0 else None,
            cable.network,
            near.device,
            _place(near, places),
            ", ".join(near.ports) if len(cable.b) == 1 else _near_ports(cable, index),
            end.device,
            _place(end, places),
            ", ".join(end.ports),
            cable.needed_m,
            cable.length_m,
            cable.medium,
            cable.part_number,
            near.transceiver,
            end.transceiver,
            cable.family,
            near.cage,
            near.connector,
            end.cage,
            end.connector,
            f"{cable.id} - {end.device}:{end.cage}",
        )


def _near_ports(cable: Cable, index: int) -> str:
    """Name the ports at the near end that lead to one far end: they are in the order of the far ends."""
    before = sum(len(end.ports) for end in cable.b[:index])
    return ", ".join(cable.a.ports[before : before + len(cable.b[index].ports)])


def _place(end: CableEnd, places: dict[str, Device]) -> str:
    """Say where the device at an end stands; what is not ours to rack has no place."""
    device = places.get(end.device)
    return f"{device.rack} U{device.position_u}" if device else ""
