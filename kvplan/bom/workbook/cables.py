"""The cable schedule: every cable with both ends, a row for each far end, as the person who lays it reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.bom import headings
from kvplan.bom.workbook.cells import Column, Styled, widths_of
from kvplan.render.fabric.links import far_ends
from kvplan.render.fabric.words import NO_CABLE, length_of, medium_of, unit

if TYPE_CHECKING:
    from kvplan.bom.workbook.cells import Cell
    from kvplan.bom.workbook.context import Context
    from kvplan.render.fabric.links import FarEnd
    from kvplan.schema.design import Device

_PRINTED = (
    Column("Cable", ("text", "strong"), 18),
    Column("Pieces", ("count",), 7),
    Column("Network", ("text",), 15),
    Column("A device", ("text",), 13),
    Column("A place", ("text",), 14),
    Column("A ports", width=15),
    Column("B device", ("text",), 13),
    Column("B place", ("text",), 14),
    Column("B ports", width=13),
    Column("Needed [m]", ("one",), 8),
    Column("Length [m]", ("one",), 8),
    Column("Medium", ("text",), 17),
    Column(headings.PART_NUMBER, ("text",), 19),
    Column("A transceiver", ("text", "muted"), 15),
    Column("B transceiver", ("text", "muted"), 16),
)
_FURTHER = (
    Column("Family", ("text", "muted"), 16),
    Column("A cage", ("text", "muted"), 12),
    Column("A connector", ("text", "muted"), 14),
    Column("B cage", ("text", "muted"), 12),
    Column("B connector", ("text", "muted"), 14),
    Column("Label", ("text", "muted"), 44),
)
_COLUMNS = (*_PRINTED, *_FURTHER)


def cables_sheet(context: Context) -> None:
    """Write the sheet."""
    design = context.design
    sheet = context.sheet("Cable schedule", widths_of(_COLUMNS), len(_PRINTED))
    sheet.title(
        "Cable schedule",
        f"{len(design.bought_cables):,} cables. A breakout has a row for each far end and is counted in the first. "
        "Families, connectors and texts for labels stand to the right of what is printed.",
    )
    body = sheet.table(_COLUMNS, map(_row, far_ends(design)), filtered=True)
    sheet.freeze(body.start, 1)
    sheet.finish(context.bom.plan_sha256)


def _row(end: FarEnd) -> tuple[Cell, ...]:
    """Give the row of one far end; the first of a cable counts it, if there is such a cable."""
    cable, a, b = end.cable, end.cable.a, end.b
    first = end.number == 1
    return (
        Styled(cable.id, () if first else ("muted",)),
        1 if first and not cable.is_open else None,
        cable.network,
        a.device,
        _place(end.a_device),
        ", ".join(port.name for port in end.legs),
        b.device,
        _place(end.b_device),
        ", ".join(port.name for port in end.far_legs),
        cable.needed_m,
        length_of(cable),
        medium_of(cable),
        cable.part_number,
        a.transceiver,
        b.transceiver,
        cable.family or NO_CABLE,
        a.cage,
        a.connector,
        b.cage,
        b.connector,
        f"{cable.id} - {b.device}:{b.cage}",
    )


def _place(device: Device) -> str:
    """Say where a device stands."""
    return f"{device.rack} {unit(device)}"
