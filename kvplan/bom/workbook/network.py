"""The network: switches, cages left, what each stage carries, what is left after a failure, address ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.bom.workbook.sheet import Column, Formula, Styled
from kvplan.units import GB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.bom.workbook.quote import Quote
    from kvplan.bom.workbook.sheet import Cell, Plain, Sheet
    from kvplan.schema.design import Switches
    from kvplan.schema.network import Stage

_WIDTHS = (24, 13, 15, 15, 14, 18, 11, 17, 46)


def network_sheet(quote: Quote) -> None:
    """Write the sheet."""
    sheet = quote.sheet("Network", _WIDTHS)
    switches = quote.design.switches
    sheet.title(
        "Network",
        f"{_switches(switches)}; {switches.oversubscription:.3g} to 1 of bandwidth down to up. "
        f"The {quote.plan.network.binding_stage} stage binds.",
    )
    sheet.freeze(1)
    _budget(quote, sheet)
    _states(quote, sheet)
    sheet.breaks.append(sheet.row)
    _addresses(quote, sheet)
    _cages(quote, sheet)
    sheet.finish(quote.bom.plan_sha256)


def _switches(switches: Switches) -> str:
    """Count the switches by tier."""
    tiers = (
        (switches.leaves, "leaf switch", "leaf switches"),
        (switches.spines, "spine", "spines"),
        (switches.super_spines, "super-spine", "super-spines"),
        (switches.management, "management switch", "management switches"),
    )
    return ", ".join(f"{count:,} {one if count == 1 else many}" for count, one, many in tiers if count)


def _budget(quote: Quote, sheet: Sheet) -> None:
    """Show every stage with what is planned and used, the binding one marked."""
    sheet.caption("Network budget, nothing lost")
    rates = ("Line rate [GB/s]", "Planned [GB/s]", "Reads [GB/s]", "Writes [GB/s]")
    columns = (
        Column("Stage", 24),
        Column("Instances", 12, ("count",)),
        *(Column(title, 14, ("one",)) for title in rates),
        Column("Used [%]", 12, ("percent1",)),
        Column("Both at once [%]", 17, ("percent1",)),
        Column("Note", 46, ("wrap", "muted", "small")),
    )
    sheet.head(columns)
    binding = quote.plan.network.binding_stage
    for stage in quote.plan.network.stages:
        sheet.line(columns, _stage(stage, sheet.row + 1, stage.name == binding))


def _stage(stage: Stage, row: int, binds: bool) -> tuple[Cell, ...]:  # noqa: FBT001 - one row
    """Give the row of one stage; what is used is worked out in the sheet."""
    planned_writes = stage.planned_write_bytes_per_s
    writes = f"{planned_writes / GB!r}" if planned_writes else f"D{row}"
    note = "; ".join(filter(None, ("binds" if binds else "", stage.note)))
    return (
        Styled(stage.name, ("chosen",) if binds else ()),
        stage.count,
        stage.capacity_bytes_per_s / GB,
        stage.planned_bytes_per_s / GB,
        stage.load_bytes_per_s / GB,
        stage.write_load_bytes_per_s / GB,
        Formula(f"=MAX(E{row}/D{row},F{row}/{writes})", stage.utilisation),
        stage.combined_utilisation,
        note,
    )


def _states(quote: Quote, sheet: Sheet) -> None:
    """Show what is left with something lost."""
    sheet.caption("What is left with something lost")
    columns = (
        Column("State", 24),
        Column("Lost", 13),
        Column("Reads [GB/s]", 14, ("one",)),
        Column("Writes [GB/s]", 14, ("one",)),
        Column("Reads left [%]", 14, ("percent1",)),
        Column("Binding stage", 18),
    )
    sheet.wide_head(columns, "What it means")
    first = sheet.row + 1
    for state in quote.design.states:
        share = Formula(f"=C{sheet.row + 1}/C${first}", state.read_share)
        rates = (state.read_bytes_per_s / GB, state.write_bytes_per_s / GB)
        values: tuple[Plain, ...] = (state.name, state.lost, *rates, share, state.binding_stage)
        looks = [column.style for column in columns]
        styled = [Styled(value, look) for value, look in zip(values, looks, strict=True)]
        sheet.wide_line((*styled, state.text), len(columns))


def _cages(quote: Quote, sheet: Sheet) -> None:
    """Count cages used and free of every switch."""
    sheet.caption("Cages of each switch; a cage is one physical port")
    columns = (
        Column("Switch", 24),
        Column("Role", 12),
        Column("Rack", 14),
        Column("Cages", 14, ("count",)),
        Column("Used", 14, ("count",)),
        Column("Free", 14, ("count",)),
        Column("Pair", 12, ("count",)),
        Column("Rail", 12, ("text",)),
        Column("Model", 46),
    )
    sheet.repeat(sheet.row)
    sheet.table(columns, _cage_rows(quote, sheet))


def _cage_rows(quote: Quote, sheet: Sheet) -> Iterator[tuple[Cell, ...]]:
    """Count per switch; how many cages there are in all is known of the fabric's switches."""
    used: dict[tuple[str, bool], set[str]] = {}
    for port in quote.design.ports:
        used.setdefault((port.device, port.network == "management"), set()).add(port.cage)
    for device in quote.design.devices:
        if device.role not in {"leaf", "spine", "super-spine", "management-switch"}:
            continue
        fabric = device.role != "management-switch"
        cages = quote.design.switches.cages_per_switch
        # The management port of a fabric switch is none of its cages.
        taken, row = len(used.get((device.name, not fabric), ())), sheet.row + 1
        free = Formula(f"=D{row}-E{row}", cages - taken) if fabric else None
        role = device.role.removesuffix("-switch")
        total = cages if fabric else None
        yield device.name, role, device.rack, total, taken, free, device.pair or None, device.rail, device.model


def _addresses(quote: Quote, sheet: Sheet) -> None:
    """Show how far each address range is used."""
    sheet.caption("Address ranges")
    columns = (
        Column("Range", 24),
        Column("", 12),
        Column("Prefix", 14, ("text",)),
        Column("Used", 14, ("count",)),
        Column("There is room for", 14, ("count",)),
        Column("Used [%]", 14, ("percent1",)),
    )
    sheet.head(columns)
    for item in quote.design.addresses:
        row = sheet.row + 1
        share = Formula(f"=D{row}/E{row}", item.used / item.capacity if item.capacity else 0)
        sheet.line(columns, (item.name, None, item.prefix, item.used, item.capacity, share))
