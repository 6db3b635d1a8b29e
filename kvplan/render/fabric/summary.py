"""A Design at a glance: what there is, what is wrong with it, what is left in a failure, and what it is made of."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kvplan.core.design.inventory import cable_lots, cages_used, modules_fitted
from kvplan.render.fabric.racks_alike import by_load
from kvplan.render.fabric.tables import ADDRESSES, FINDINGS, STATES, TABLES
from kvplan.render.fabric.words import MEDIUM_TITLES, NO_CABLE, OUTWARDS, UP, counted_title, spans
from kvplan.render.view import Grid, Section, View
from kvplan.schema.base import gravest_first
from kvplan.schema.roles import FABRIC_ROLES, SWITCH_ROLES
from kvplan.units import BTU_PER_WATT_HOUR, counted, format_power

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvplan.schema.design import Design, Finding, Port
    from kvplan.schema.roles import Role

_MOST_RANGES = 3
"""Ranges of names that a row of the summary shows; the tables have them all."""
_NOUNS = {"error": "error", "warning": "warning", "info": "note"}


def network_view(design: Design, *, next_command: str = "") -> View:
    """Arrange a Design in the order in which a person asks about it.

    Parameters
    ----------
    design
        The design.
    next_command
        How to see a whole table, shown last.

    Returns
    -------
    View
        Sections for the terminal or Markdown.
    """
    sections = (
        _answer(design),
        _findings(design.findings),
        _states(design),
        _racks(design),
        _cables(design),
        _cages(design),
        Section(ADDRESSES.title, grid=ADDRESSES.brief(design)),
    )
    if not next_command:
        return sections
    return (*sections, Section("More", (f"a whole table: {next_command}", f"tables: {', '.join(TABLES)}")))


def table_view(design: Design, name: str) -> View:
    """Show one table: its main columns, or findings as prose.

    Parameters
    ----------
    design
        The design.
    name
        One of `TABLES`.

    Returns
    -------
    View
        One section.
    """
    table = TABLES[name]
    if table is FINDINGS:
        return (_findings(design.findings),)
    grid = table.brief(design)
    return (Section(table.title, grid=grid) if grid.rows else Section(table.title, ("none",)),)


def _answer(design: Design) -> Section:
    """Say how many switches, machines and racks there are, and what they draw and weigh."""
    counts = Counter(device.role for device in design.devices)
    switches = design.switches
    named = [(role, counted_title(counts[role], role)) for role in OUTWARDS if counts[role]]
    typical, most = design.power_w
    cables, modules = len(design.bought_cables), len(modules_fitted(design.cables))
    open_ = len(design.cables) - cables
    return Section(
        f"{', '.join(title for role, title in named if role in FABRIC_ROLES)} in {counted(len(design.racks), 'rack')}",
        (
            ", ".join(title for role, title in named if role not in FABRIC_ROLES),
            (
                f"{switches.cages_down_per_leaf} of {switches.cages_per_switch} cages of a leaf go down, "
                f"{switches.uplinks_per_leaf} up: oversubscription {switches.oversubscription:.3g}:1"
                f"{f', {switches.pods} pods' if switches.pods > 1 else ''}"
            ),
            (
                f"{format_power(typical)} typical, {format_power(most)} at most "
                f"({most * BTU_PER_WATT_HOUR:,.0f} BTU/h), {design.weight_kg:,.0f} kg"
            ),
            f"{counted(cables, 'cable')}, {counted(modules, 'transceiver')}"
            + (f", {counted(open_, 'link')} without a cable" if open_ else ""),
        ),
    )


def _findings(findings: tuple[Finding, ...]) -> Section:
    """List what the rules found, the gravest first."""
    counts = Counter[str](finding.severity for finding in findings)
    title = ", ".join(counted(counts[name], noun) for name, noun in _NOUNS.items() if counts[name])
    return Section(f"Findings: {title or 'none'}", tuple(map(finding_text, gravest_first(findings))))


def finding_text(finding: Finding) -> str:
    """Write a finding on one line: how grave, which rule, where, what, and what to do."""
    where = f" at {finding.where}" if finding.where else ""
    remedy = f". Remedy: {finding.remedy}" if finding.remedy else ""
    return f"{finding.severity} {finding.id}{where}: {finding.text.rstrip('.')}{remedy}"


def _states(design: Design) -> Section:
    """Show what is left when something fails, and why."""
    reasons = tuple(f"{state.lost}: {state.text}" for state in design.states if state.text)
    return Section("What is left when something fails", grid=STATES.brief(design), below=reasons)


def _racks(design: Design) -> Section:
    """Show the racks, those with equal figures together."""
    rows = tuple(
        (
            spans((rack.name for rack in racks), _MOST_RANGES), f"{len(racks):,}",
            load.units, load.typical, load.power, load.weight,
        )
        for load, racks in by_load(design.racks).items()
    )  # fmt: skip
    return Section("Racks", grid=Grid(("Rack", "Racks", "Units", "Typical", "At most", "Weight"), rows, "lrrrrr"))


def _cables(design: Design) -> Section:
    """Count the cables by family and length, and the transceivers."""
    rows = tuple(
        (lot.family, lot.part_number, MEDIUM_TITLES[lot.medium], f"{lot.length_m:g} m", f"{count:,}")
        for lot, count in cable_lots(design.bought_cables).items()
    )
    open_ = len(design.cables) - len(design.bought_cables)
    rows += ((NO_CABLE, "", "", "", f"{open_:,}"),) if open_ else ()
    modules = Counter(module.transceiver for module in modules_fitted(design.cables))
    below = tuple(f"{count:,} x {name}" for name, count in sorted(modules.items()))
    return Section(
        "Cables", grid=Grid(("Family", "Part number", "Medium", "Length", "Count"), rows, "lllrr"), below=below
    )


def _cages(design: Design) -> Section:
    """Show how the cages of the switches are used, switches with equal use together."""
    roles = {device.name: device.role for device in design.devices}
    used = cages_used(design)
    managed = Counter(port.device for port in design.ports if port.network == "management")
    up = Counter(name for name, _ in {(port.device, port.cage) for port in design.ports if _rises(port, roles)})
    groups: dict[tuple[int, tuple[str, str, str]], list[str]] = {}
    for name, role in roles.items():
        if role in FABRIC_ROLES:
            total = len(used.get(name, ()))
            use = f"{total - up[name]}", f"{up[name]}", f"{design.switches.cages_per_switch - total}"
        elif role in SWITCH_ROLES:
            use = f"{managed[name]}", "", ""
        else:
            continue
        groups.setdefault((OUTWARDS.index(role), use), []).append(name)
    rows = tuple((spans(names, _MOST_RANGES), f"{len(names):,}", *use) for (_, use), names in sorted(groups.items()))
    return Section("Cages in use", grid=Grid(("Switch", "Switches", "Down", "Up", "Free"), rows, "lrrrr"))


def _rises(port: Port, roles: Mapping[str, Role]) -> bool:
    """Tell whether a port leads towards the core."""
    return port.network == UP.get(roles[port.device])
