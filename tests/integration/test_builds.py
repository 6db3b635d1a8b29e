"""From a Plan to workbook, report and network files, for tiers of four to 256 nodes, as the verbs write them."""

from __future__ import annotations

import csv
import zipfile
from typing import TYPE_CHECKING

import pytest
from designs import SIZES, design_for, plan_of

from kvplan.__main__ import main
from kvplan.render.data import record_json

if TYPE_CHECKING:
    from pathlib import Path

KIB = 1024
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=sorted(SIZES), ids=lambda nodes: f"{nodes}-nodes")
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Path]:
    """Write everything of one tier into a directory."""
    nodes: int = request.param
    folder = tmp_path_factory.mktemp(f"tier-{nodes}")
    plan = folder / "plan.json"
    plan.write_text(record_json(plan_of(nodes)), encoding="utf-8")
    for verb in (
        ["bom", "--date", "2026-11-30", "-o", folder / "quote.xlsx"],
        ["bom", "--date", "2026-11-30", "-o", folder / "quote.csv"],
        ["report", "--date", "2026-11-30", "-o", folder / "report.html"],
        ["network", "--format", "svg", "-o", folder / "fabric.svg"],
        ["network", "--format", "svg", "--drawing", "racks", "-o", folder / "racks.svg"],
        ["network", "--format", "csv", "-o", folder / "cables.csv"],
        ["network", "--format", "ptm", "-o", folder / "topology.dot"],
        ["network", "--format", "netbox-csv", "-o", folder / "netbox"],
    ):
        name, *options = map(str, verb)
        assert main([name, str(plan), *options]) == 0
    return nodes, folder


def test_the_workbook_has_its_sheets(built: tuple[int, Path]) -> None:
    _, folder = built
    with zipfile.ZipFile(folder / "quote.xlsx") as book:
        sheets = [name for name in book.namelist() if name.startswith("xl/worksheets/sheet")]
    assert len(sheets) == 13


def test_the_quote_counts_what_stands_in_the_racks(built: tuple[int, Path]) -> None:
    nodes, folder = built
    with (folder / "quote.csv").open(encoding="utf-8", newline="") as file:
        quantity = {row["key"]: int(row["quantity"]) for row in csv.DictReader(file) if row["line"].endswith(".0")}
    assert quantity["storage-node/ASG-1115S-NE316R"] == nodes
    switches = design_for(nodes).switches
    assert quantity["fabric-switch/sn5600"] == switches.leaves + switches.spines
    assert quantity["management-switch/sn2201"] == switches.management


def test_the_page_is_small_and_needs_nothing(built: tuple[int, Path]) -> None:
    _, folder = built
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert len(page.encode()) < 300 * KIB
    assert "<script" not in page
    assert 'src="http' not in page


def test_every_leg_is_in_the_cabling_check(built: tuple[int, Path]) -> None:
    nodes, folder = built
    edges = (folder / "topology.dot").read_text(encoding="utf-8").count(" -- ")
    assert edges == sum(port.network != "management" for port in design_for(nodes).ports) // 2


def test_every_cable_is_in_the_schedule(built: tuple[int, Path]) -> None:
    nodes, folder = built
    with (folder / "cables.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(len(cable.b) for cable in design_for(nodes).cables)


def test_drawings_stay_small(built: tuple[int, Path]) -> None:
    _, folder = built
    for name in ("fabric.svg", "racks.svg"):
        assert (folder / name).stat().st_size < 60 * KIB
