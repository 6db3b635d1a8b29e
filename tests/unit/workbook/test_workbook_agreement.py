"""The sheets agree with each other, and with Plan, design and bill."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from designs import design_for, plan_of
from quotes import priced_bill, priced_cells
from workbook_dump import cells_of_lines, opened

from kvplan.api import design_inputs
from kvplan.bom.workbook import workbook
from kvplan.core.design.engine import design_of
from kvplan.schema.roles import SWITCH_ROLES

if TYPE_CHECKING:
    from openpyxl.workbook import Workbook

SIZES = [4, 8, pytest.param(16, marks=pytest.mark.slow), pytest.param(64, marks=pytest.mark.slow)]


def _table(book: Workbook, name: str, first: str, last: str = "") -> list[tuple[Any, ...]]:
    """Return the rows under the header that begins with a word, up to a blank or a last one."""
    rows = iter(book[name].iter_rows(values_only=True))
    next(row for row in rows if row[0] == first)
    found = []
    for row in rows:
        if row[0] in (None, "", last):
            break
        found.append(row)
    return found


@pytest.fixture(scope="module", params=SIZES)
def nodes(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(scope="module")
def book(nodes: int) -> Workbook:
    return priced_cells(nodes, values=True)


def test_storage_nodes_and_drives_are_those_of_the_plan(book: Workbook, nodes: int) -> None:
    profile, lines, cells = plan_of(nodes).profile, priced_bill(nodes).lines, cells_of_lines(book)
    major = next(line for line in lines if line.key.startswith("storage-node/"))
    drives = next(line for line in lines if line.key.startswith("drive/") and not line.spare_of)
    found = [cells[line.line]["Quantity"].value for line in (major, drives)]
    assert found == [profile.nodes, profile.nodes * profile.drives_per_node]


def test_each_cable_is_bought_laid_and_plugged_in_once(book: Workbook, nodes: int) -> None:
    design = design_for(nodes)
    laid = _table(book, "Cable schedule", "Cable")
    assert sum(row[1] or 0 for row in laid) == len(design.cables) == len({row[0] for row in laid})
    assert len(laid) == sum(len(cable.b) for cable in design.cables)
    by_part = Counter((cable.part_number, cable.length_m) for cable in design.cables)
    scheduled: Counter[tuple[str, float]] = Counter()
    for row in laid:
        scheduled[row[12] or "", row[10]] += row[1] or 0
    assert scheduled == by_part
    bought = [line for line in priced_bill(nodes).lines if line.key.startswith("cable/") and not line.spare_of]
    assert sum(line.quantity for line in bought) == len(design.cables)


def test_the_port_map_has_every_port_of_every_switch(book: Workbook, nodes: int) -> None:
    design = design_for(nodes)
    switches = {device.name for device in design.devices if device.role in SWITCH_ROLES}
    mapped = {(row[0], row[5]): (row[11], row[12]) for row in _table(book, "Port map", "Switch")}
    assert mapped == {
        (port.device, port.name): (port.peer_device or None, port.peer_port or None)
        for port in design.ports
        if port.device in switches
    }


def test_both_ends_in_the_schedule_are_ports_of_the_map(book: Workbook) -> None:
    mapped = {(row[0], row[5]): row[11] for row in _table(book, "Port map", "Switch")}
    for row in _table(book, "Cable schedule", "Cable"):
        for port in row[5].split(", "):
            assert mapped[row[3], port] == row[6]


def test_every_device_stands_in_the_elevation_once(book: Workbook, nodes: int) -> None:
    design = design_for(nodes)
    drawn = Counter(
        cell.value
        for row in book["Rack elevation"].iter_rows(min_row=4)
        for cell in row
        if isinstance(cell.value, str) and cell.fill.fgColor.rgb not in ("00000000", "FFE3EAF2")
    )
    names = {device.name for device in design.devices}
    assert {name: count for name, count in drawn.items() if name in names} == dict.fromkeys(names, 1)


def test_devices_are_drawn_in_the_units_that_they_take(book: Workbook, nodes: int) -> None:
    sheet, design = book["Rack elevation"], design_for(nodes)
    places = {cell.value: cell for row in sheet.iter_rows(min_row=4) for cell in row if cell.value}
    merged = {area.coord.split(":")[0]: area for area in sheet.merged_cells.ranges}
    for device in design.devices:
        cell = places[device.name]
        height = merged[cell.coordinate].size["rows"] if cell.coordinate in merged else 1
        assert height == device.rack_units
        assert sheet.cell(cell.row, 1).value == device.position_u + device.rack_units - 1
        assert _above(sheet, cell) == device.rack


def _above(sheet: Any, cell: Any) -> str:
    """Find the name of the rack over a cell."""
    row = cell.row
    while not str(sheet.cell(row, cell.column).value or "").startswith("rack-"):
        row -= 1
    return str(sheet.cell(row, cell.column).value)


def test_power_adds_up_by_kind_by_rack_and_in_the_design(book: Workbook, nodes: int) -> None:
    design = design_for(nodes)
    kinds = _table(book, "Power and heat", "Kind", "Total")
    racks = _table(book, "Power and heat", "Rack", "Total")
    assert sum(row[2] for row in kinds) == len(design.devices)
    assert {row[0]: (row[7], row[8], row[10], row[2]) for row in racks} == {
        rack.name: (
            pytest.approx(rack.power_typical_w),
            pytest.approx(rack.power_max_w),
            pytest.approx(rack.weight_kg),
            rack.used_units,
        )
        for rack in design.racks
    }
    assert sum(row[8] for row in kinds) == pytest.approx(sum(rack.power_max_w for rack in design.racks))
    assert [row[3] + row[4] for row in racks] == [pytest.approx(rack.power_max_w) for rack in design.racks]


@pytest.mark.parametrize(("supply_w", "holds"), [(1600, True), (1100, True), (1000, False)])
def test_sheet_and_design_agree_on_what_runs_on_one_feed(supply_w: int, holds: bool) -> None:  # noqa: FBT001
    """Supplies of 1,100 W carry 1,170 W at the wall: more than the 1,134 W of a node, whose load is less than both."""
    inputs = design_inputs(plan_of(8))
    model = inputs.plan.parts.server.id
    row = inputs.enclosures[model].model_copy(update={"psu_w": supply_w})
    design = design_of(replace(inputs, enclosures={**inputs.enclosures, model: row}))
    book = opened(workbook(plan_of(8), design, priced_bill()), values=True)
    kinds = {row[1]: row[6] for row in _table(book, "Power and heat", "Kind", "Total")}
    devices = {row[0]: row[6] for row in _table(book, "Power and heat", "Device")}
    found = {finding.where for finding in design.findings if finding.id == "psu-redundancy"}
    assert (kinds[model] == "holds") is holds
    assert {name for name, verdict in kinds.items() if verdict != "holds"} == found
    assert {name for name, verdict in devices.items() if verdict != "holds"} == {
        device.name for device in design.devices if device.model in found
    }


def test_an_odd_supply_is_on_feed_a() -> None:
    inputs = design_inputs(plan_of(8))
    model = inputs.plan.parts.server.id
    row = inputs.enclosures[model].model_copy(update={"psu_count": 3})
    design = design_of(replace(inputs, enclosures={**inputs.enclosures, model: row}))
    book = opened(workbook(plan_of(8), design, priced_bill()), values=True)
    node = next(row for row in _table(book, "Power and heat", "Device") if row[1] == model)
    assert node[11:13] == (2, 1)
    rack = _table(book, "Power and heat", "Rack", "Total")[0]
    assert rack[3] > rack[4] > 0


def test_switches_are_as_many_as_the_fabric_has(book: Workbook, nodes: int) -> None:
    counted = Counter(row[1] for row in _table(book, "Network", "Switch"))
    switches = design_for(nodes).switches
    found = (counted["leaf"], counted["spine"], counted["super-spine"], counted["management switch"])
    assert found == (switches.leaves, switches.spines, switches.super_spines, switches.management)


def test_the_budget_shows_the_use_that_the_plan_has(book: Workbook, nodes: int) -> None:
    stages = _table(book, "Network", "Stage", "What is left with something lost")
    assert {row[0]: row[6] for row in stages} == {
        stage.name: stage.utilisation for stage in plan_of(nodes).network.stages
    }


@pytest.mark.slow
def test_the_largest_build_has_all_of_it_too() -> None:
    design = design_for(256)
    book = priced_cells(256, values=True)
    laid = _table(book, "Cable schedule", "Cable")
    assert sum(row[1] or 0 for row in laid) == len(design.cables) > 4000
    assert len(book["Rack elevation"].row_breaks.brk) == -(-len(design.racks) // 10) - 1
