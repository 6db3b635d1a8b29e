"""Tables of a design: every cable and port once, whole in CSV, in brief for people, harmless in a spreadsheet."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from designs import design_for, plan_of

from kvplan.api import design as design_plan
from kvplan.render.data import rows_csv
from kvplan.render.fabric.links import far_ends, optics
from kvplan.render.fabric.racks_alike import by_load, load_of
from kvplan.render.fabric.summary import network_view, table_view
from kvplan.render.fabric.tables import TABLES
from kvplan.render.markdown import view_markdown
from kvplan.render.text import view_text
from kvplan.schema.base import SEVERITIES

if TYPE_CHECKING:
    from kvplan.schema.design import Design

SIZES = pytest.mark.parametrize("nodes", [4, 16, 64, 256])


def read(design: Design, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(rows_csv(*TABLES[name].whole(design)))))


@SIZES
def test_every_far_end_of_every_cable_is_one_row(nodes: int) -> None:
    design = design_for(nodes)
    rows = Counter(row["cable"] for row in read(design, "cables"))
    assert rows == {cable.id: len(cable.b) for cable in design.cables}


@SIZES
def test_the_schedule_names_both_ends_as_they_stand(nodes: int) -> None:
    design = design_for(nodes)
    places = {device.name: device.rack for device in design.devices}
    ports = {(port.device, port.name): port for port in design.ports}
    for row in read(design, "cables"):
        assert (places[row["a_device"]], places[row["b_device"]]) == (row["a_rack"], row["b_rack"])
        for near, far in zip(row["a_ports"].split(), row["b_ports"].split(), strict=True):
            port = ports[row["b_device"], far]
            assert (port.peer_device, port.peer_port) == (row["a_device"], near)
            assert row["cable"] in port.cables


@SIZES
def test_every_port_is_one_row_and_no_port_is_used_twice(nodes: int) -> None:
    rows = read(design_for(nodes), "ports")
    assert len({(row["device"], row["port"]) for row in rows}) == len(rows) == len(design_for(nodes).ports)
    assert {(row["peer_device"], row["peer_port"]) for row in rows} == {(row["device"], row["port"]) for row in rows}


@SIZES
def test_the_legs_of_a_cable_are_those_of_its_near_end(nodes: int) -> None:
    design = design_for(nodes)
    near = Counter[str]()
    for end in far_ends(design):
        near[end.cable.id] += len(end.legs)
    assert near == {cable.id: len(cable.a.ports) for cable in design.cables}


def test_a_transceiver_with_two_fibres_counts_once() -> None:
    design = design_plan(plan_of(8, 128))
    cages = {(end.device, end.cage) for cable in design.cables for end in (cable.a, *cable.b) if end.transceiver}
    ends = sum(bool(end.transceiver) for cable in design.cables for end in (cable.a, *cable.b))
    assert sum(optic.count for optic in optics(design)) == len(cages) < ends


def test_findings_come_gravest_first_in_the_table_and_in_the_summary() -> None:
    backwards = design_for(8).model_copy(update={"findings": tuple(reversed(design_for(8).findings))})
    ranks = [SEVERITIES.index(row["severity"]) for row in read(backwards, "findings")]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) > 1
    text = view_text(network_view(backwards))
    assert text.index("  warning ") < text.index("  info ")


def test_every_table_has_named_columns_and_a_title() -> None:
    for table in TABLES.values():
        headers, rows = table.whole(design_for(8))
        assert all(header.replace("_", "").isalnum() for header in headers), headers
        assert len(set(headers)) == len(headers)
        assert all(len(row) == len(headers) for row in rows)
        assert table.title


@pytest.mark.parametrize("column", ["part_number", "family", "id"])
@pytest.mark.parametrize("text", ["=1+1", "+cmd", "-cmd", "@SUM(A1)", "\t=1"])
def test_a_formula_stays_text(column: str, text: str) -> None:
    cable, *rest = design_for(8).cables
    altered = design_for(8).model_copy(update={"cables": (cable.model_copy(update={column: text}), *rest)})
    cells = [cell for row in csv.reader(io.StringIO(rows_csv(*TABLES["cables"].whole(altered)))) for cell in row]
    assert f"'{text}" in cells
    assert text not in cells


@pytest.mark.parametrize("width", [40, 60, 80])
@pytest.mark.parametrize("nodes", [8, 256])
def test_the_summary_fits_its_width(width: int, nodes: int) -> None:
    text = view_text(network_view(design_for(nodes), next_command="kvplan network plan.json"), width=width)
    assert max(map(len, text.splitlines())) <= width
    assert "\x1b" not in text


@pytest.mark.parametrize("nodes", [8, 256])
@pytest.mark.parametrize("name", TABLES)
def test_a_table_fits_a_terminal_with_every_name_whole(name: str, nodes: int) -> None:
    design = design_for(nodes)
    text = view_text(table_view(design, name))
    assert max(map(len, text.splitlines())) <= 80
    names = {
        "cables": [cable.id for cable in design.cables],
        "ports": [word for port in design.ports for word in (port.device, port.name, port.address)],
        "devices": [word for device in design.devices for word in (device.name, device.model, device.loopback)],
        "racks": [rack.name for rack in design.racks],
        "addresses": [word for item in design.addresses for word in (item.name, item.prefix)],
        "findings": [finding.id for finding in design.findings],
    }
    words = set(text.split())
    assert [word for word in names.get(name, ()) if word and word not in words] == []


def test_large_figures_are_written_as_people_read_them() -> None:
    text = view_text(network_view(design_for(256)))
    assert re.findall(r"\de\+\d", text) == []
    assert "MW typical" in text
    assert re.findall(r"\d{4,}", view_text(table_view(design_for(256), "addresses"))) == []
    assert re.findall(r"\s\d{4,}\s", view_text(table_view(design_for(256), "racks"))) == []


def test_long_lists_of_racks_and_switches_are_folded() -> None:
    racks, cages = (
        section.grid for section in network_view(design_for(256)) if section.title in {"Racks", "Cages in use"}
    )
    assert racks
    assert cages
    for grid, noun in ((racks, "rack-"), (cages, "oob-")):
        assert any("more" in row[0] for row in grid.rows)
        assert all(row[0].count(noun) <= 6 for row in grid.rows)
    assert sum(int(row[1].replace(",", "")) for row in racks.rows) == len(design_for(256).racks)


@SIZES
def test_the_cages_of_a_switch_add_up(nodes: int) -> None:
    design = design_for(nodes)
    (grid,) = (section.grid for section in network_view(design) if section.title == "Cages in use")
    assert grid
    fabric = [row for row in grid.rows if row[4]]
    assert sum(int(row[1]) for row in fabric) == design.switches.leaves + design.switches.spines
    for _, _, down, up, free in fabric:
        assert int(down) + int(up) + int(free) == design.switches.cages_per_switch
        assert int(free) >= 0
    leaves = [row for row in fabric if row[0].startswith("leaf-")]
    assert {int(row[3]) for row in leaves} == {design.switches.uplinks_per_leaf}


def test_the_summary_says_what_is_wrong_and_how_to_put_it_right() -> None:
    text = " ".join(view_text(network_view(design_for(8)), width=200).split())
    for finding in design_for(8).findings:
        assert f"{finding.severity} {finding.id}" in text
        assert " ".join(finding.remedy.split())[:40] in text
    for state in design_for(8).states:
        assert state.lost in text


def test_a_design_without_findings_says_so() -> None:
    assert "Findings: none" in view_text(network_view(design_for(8).model_copy(update={"findings": ()})))


def test_markdown_has_the_same_figures() -> None:
    view = network_view(design_for(8))
    text = view_markdown(view, title="Network")
    cells = [cell for section in view if section.grid for row in section.grid.rows for cell in row]
    assert cells
    assert [cell for cell in cells if cell.replace("|", "\\|") not in text] == []


@SIZES
def test_a_design_adds_up_and_finds_its_parts(nodes: int) -> None:
    design = design_for(nodes)
    held = design.by_rack()
    assert list(held) == [rack.name for rack in design.racks]
    assert Counter(device.name for devices in held.values() for device in devices) == {
        device.name: 1 for device in design.devices
    }
    for rack in design.racks:
        units = [unit for device in held[rack.name] for unit in device.units]
        assert len(units) == len(set(units)) == rack.used_units
    assert design.power_w.most == pytest.approx(sum(device.power_max_w for device in design.devices))
    assert design.power_w.typical == pytest.approx(sum(device.power_typical_w for device in design.devices))
    assert design.weight_kg == pytest.approx(sum(device.weight_kg for device in design.devices))
    assert design.bought_cables == design.cables
    assert [design.state(state.name) for state in design.states] == list(design.states)


@SIZES
def test_racks_that_are_alike_are_put_together_once(nodes: int) -> None:
    racks = design_for(nodes).racks
    groups = by_load(racks)
    assert sorted(rack.name for group in groups.values() for rack in group) == sorted(rack.name for rack in racks)
    assert all({load_of(rack) for rack in group} == {load} for load, group in groups.items())
