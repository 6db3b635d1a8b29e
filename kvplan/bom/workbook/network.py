"""The network: switches, cages left, what each stage carries, what is left after a failure, address ranges."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kvplan.bom.workbook.cells import Column, Formula, Styled, TableRef
from kvplan.core.design.inventory import cages_used
from kvplan.schema.roles import FABRIC_ROLES, ROLE_NOUNS, SWITCH_ROLES
from kvplan.units import GB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.bom.workbook.cells import Cell, Plain
    from kvplan.bom.workbook.context import Context
    from kvplan.bom.workbook.sheet import Sheet
    from kvplan.schema.network import Stage

_WIDTHS = (24, 18, 15, 15, 14, 18, 11, 17, 46)
_BUDGET = (
    Column("Stage"),
    Column("Instances", ("count",)),
    Column("Line rate [GB/s]", ("one",)),
    Column("Planned [GB/s]", ("one",)),
    Column("Reads [GB/s]", ("one",)),
    Column("Writes [GB/s]", ("one",)),
    Column("Used [%]", ("percent1",)),
    Column("Both at once [%]", ("percent1",)),
    Column("Note", ("wrap", "muted", "small")),
)
_STATES = (
    Column("State"),
    Column("Lost"),
    Column("Reads [GB/s]", ("one",)),
    Column("Writes [GB/s]", ("one",)),
    Column("Reads left [%]", ("percent1",)),
    Column("Binding stage"),
)
_CAGES = (
    Column("Switch"),
    Column("Role", ("text",)),
    Column("Rack"),
    Column("Cages", ("count",)),
    Column("Used", ("count",)),
    Column("Free", ("count",)),
    Column("Pair", ("count",)),
    Column("Rail", ("text",)),
    Column("Model"),
)
_ADDRESSES = (
    Column("Range"),
    Column("Counted in", ("text",)),
    Column("Prefix", ("text",)),
    Column("Used", ("count",)),
    Column("There is room for", ("count",)),
    Column("Used [%]", ("percent1",)),
)


def network_sheet(context: Context) -> None:
    """Write the sheet."""
    sheet = context.sheet("Network", _WIDTHS)
    sheet.title(
        "Network",
        f"{context.switches()}; {context.design.switches.oversubscription:.3g} to 1 of bandwidth down to up. "
        f"The {context.plan.network.binding_stage} stage binds.",
    )
    sheet.freeze(1)
    _budget(context, sheet)
    _states(context, sheet)
    sheet.breaks.append(sheet.row)
    _addresses(context, sheet)
    sheet.caption("Cages of each switch; a cage is one physical port")
    sheet.repeat(sheet.row)
    sheet.table(_CAGES, _cages(context, sheet))
    sheet.finish(context.bom.plan_sha256)


def _budget(context: Context, sheet: Sheet) -> None:
    """Show every stage with what is planned and used, the binding one marked."""
    sheet.caption("Network budget, nothing lost")
    sheet.head(_BUDGET)
    binding = context.plan.network.binding_stage
    for stage in context.plan.network.stages:
        sheet.line(_BUDGET, _stage(stage, sheet.row, stage.name == binding))


def _stage(stage: Stage, row: int, binds: bool) -> tuple[Cell, ...]:  # noqa: FBT001 - one row
    """Give the row of one stage; what is used is worked out in the sheet."""
    table = TableRef.of(_BUDGET)
    reads, writes, planned = (table.cell(title, row) for title in ("Reads [GB/s]", "Writes [GB/s]", "Planned [GB/s]"))
    planned_writes = stage.planned_write_bytes_per_s
    most_writes = f"{planned_writes / GB!r}" if planned_writes else planned
    note = "; ".join(filter(None, ("binds" if binds else "", stage.note)))
    return (
        Styled(stage.name, ("chosen",) if binds else ()),
        stage.count,
        stage.capacity_bytes_per_s / GB,
        stage.planned_bytes_per_s / GB,
        stage.load_bytes_per_s / GB,
        stage.write_load_bytes_per_s / GB,
        Formula(f"=MAX({reads}/{planned},{writes}/{most_writes})", stage.utilisation),
        stage.combined_utilisation,
        note,
    )


def _states(context: Context, sheet: Sheet) -> None:
    """Show what is left with something lost."""
    sheet.caption("What is left with something lost")
    sheet.wide_head(_STATES, "What it means")
    table = TableRef.of(_STATES)
    states = context.design.states
    normal = table.fixed("Reads [GB/s]", range(sheet.row, sheet.row + 1)).partition(":")[0]
    for state in states:
        share = Formula(f"={table.cell('Reads [GB/s]', sheet.row)}/{normal}", state.read_share)
        rates = (state.read_bytes_per_s / GB, state.write_bytes_per_s / GB)
        values: tuple[Plain, ...] = (state.name, state.lost, *rates, share, state.binding_stage)
        styled = [Styled(value, column.style) for value, column in zip(values, _STATES, strict=True)]
        sheet.wide_line((*styled, state.text), len(_STATES))


def _cages(context: Context, sheet: Sheet) -> Iterator[tuple[Cell, ...]]:
    """Count cages used and free per switch; how many there are in all is known of the fabric's switches."""
    table, fitted = TableRef.of(_CAGES), cages_used(context.design)
    management = Counter(port.device for port in context.design.ports if port.network == "management")
    cages = context.design.switches.cages_per_switch
    for device in context.design.devices:
        if device.role not in SWITCH_ROLES:
            continue
        # The management port of a fabric switch is none of its cages, and a management switch has no other ports.
        fabric = device.role in FABRIC_ROLES
        taken = len(fitted.get(device.name, ())) if fabric else management[device.name]
        free = Formula(f"={table.cell('Cages', sheet.row)}-{table.cell('Used', sheet.row)}", cages - taken)
        role, total = ROLE_NOUNS[device.role][0], cages if fabric else None
        left = free if fabric else None
        yield device.name, role, device.rack, total, taken, left, device.pair or None, device.rail, device.model


def _addresses(context: Context, sheet: Sheet) -> None:
    """Show how far each address range is used."""
    sheet.caption("Address ranges")
    sheet.head(_ADDRESSES)
    table = TableRef.of(_ADDRESSES)
    for item in context.design.addresses:
        used, room = (table.cell(title, sheet.row) for title in ("Used", "There is room for"))
        share = Formula(f"={used}/{room}", item.used / item.capacity if item.capacity else 0)
        sheet.line(_ADDRESSES, (item.name, item.counts, item.prefix, item.used, item.capacity, share))
