"""What the reference system looks like in every format, held byte by byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from designs import design_for

from kvplan.render.data import rows_csv
from kvplan.render.fabric.dot import fabric_dot
from kvplan.render.fabric.fabric_svg import fabric_svg
from kvplan.render.fabric.mermaid import fabric_mermaid
from kvplan.render.fabric.netbox import Maker, netbox_files
from kvplan.render.fabric.ptm import cabling_ptm
from kvplan.render.fabric.racks_svg import racks_svg
from kvplan.render.fabric.summary import network_view, table_view
from kvplan.render.fabric.tables import TABLES
from kvplan.render.markdown import view_markdown
from kvplan.render.text import view_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from kvplan.schema.design import Design

WRITERS: dict[str, Callable[[Design], str]] = {
    "summary.txt": lambda design: view_text(network_view(design, next_command="kvplan network plan.json")),
    "summary.md": lambda design: view_markdown(network_view(design), title="Network"),
    "fabric.dot": fabric_dot,
    "fabric.mmd": fabric_mermaid,
    "topology.dot": cabling_ptm,
    "fabric.svg": fabric_svg,
    "racks.svg": racks_svg,
}
MAKERS = {"sn5600": Maker("NVIDIA", "920-9N42F-00RI-7C0"), "sn2201": Maker("NVIDIA")}


@pytest.mark.parametrize("name", WRITERS)
def test_format(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"network/{name}", WRITERS[name](design_for(8)))


@pytest.mark.parametrize("name", TABLES)
def test_table(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"network/{name}.csv", rows_csv(*TABLES[name].whole(design_for(8))))


def test_devices_on_screen(golden: Callable[[str, str], None]) -> None:
    golden("network/devices.txt", view_text(table_view(design_for(8), "devices")))


def test_netbox(golden: Callable[[str, str], None]) -> None:
    for name, text in netbox_files(design_for(8), MAKERS, site="site-1").items():
        golden(f"network/netbox/{name}", text)


@pytest.mark.parametrize("nodes", [64, 256])
def test_larger_drawings(nodes: int, golden: Callable[[str, str], None]) -> None:
    golden(f"network/fabric-{nodes}.svg", fabric_svg(design_for(nodes)))
    golden(f"network/fabric-{nodes}.dot", fabric_dot(design_for(nodes)))
