"""Tables of a design: every cable and port once, whole in CSV, in brief for people, harmless in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from designs import design_for, plan_of

from kvplan.api import design as design_plan
from kvplan.render.data import rows_csv
from kvplan.render.fabric.links import cages_used, far_ends, optics
from kvplan.render.fabric.summary import network_view, table_view
from kvplan.render.fabric.tables import SEVERITIES, TABLES, by_gravity
from kvplan.render.markdown import view_markdown
from kvplan.render.text import view_text

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
            assert (port.peer_device, port.peer_port, port.cable) == (row["a_device"], near, row["cable"])


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


@SIZES
def test_no_switch_uses_more_cages_than_it_has(nodes: int) -> None:
    design = design_for(nodes)
    fabric = {device.name for device in design.devices if device.role in {"leaf", "spine", "super-spine"}}
    used = {name: counts.total() - counts["management"] for name, counts in cages_used(design).items()}
    assert all(0 < used[name] <= design.switches.cages_per_switch for name in fabric)


def test_a_transceiver_with_two_fibres_counts_once() -> None:
    design = design_plan(plan_of(8, 128))
    cages = {(end.device, end.cage) for cable in design.cables for end in (cable.a, *cable.b) if end.transceiver}
    ends = sum(bool(end.transceiver) for cable in design.cables for end in (cable.a, *cable.b))
    assert sum(optic.count for optic in optics(design)) == len(cages) < ends


def test_findings_come_gravest_first_and_keep_their_order() -> None:
    ordered = by_gravity(tuple(reversed(design_for(8).findings)))
    ranks = [SEVERITIES.index(finding.severity) for finding in ordered]
    assert ranks == sorted(ranks)
    assert Counter(ordered) == Counter(design_for(8).findings)


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


@pytest.mark.parametrize("name", TABLES)
def test_a_table_fits_a_terminal_with_every_name_whole(name: str) -> None:
    text = view_text(table_view(design_for(8), name))
    assert max(map(len, text.splitlines())) <= 80
    names = {
        "cables": [cable.id for cable in design_for(8).cables],
        "ports": [port.name for port in design_for(8).ports],
        "devices": [device.name for device in design_for(8).devices],
        "racks": [rack.name for rack in design_for(8).racks],
        "findings": [finding.id for finding in design_for(8).findings],
    }
    assert [word for word in names.get(name, ()) if word not in text] == []


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
