"""Graphviz, Mermaid and the cabling topology: balanced, quoted, and complete."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from designs import design_for

from kvplan.render.fabric.dot import fabric_dot
from kvplan.render.fabric.labels import routes
from kvplan.render.fabric.mermaid import fabric_mermaid
from kvplan.render.fabric.ptm import cabling_ptm
from kvplan.render.fabric.topology import topology

if TYPE_CHECKING:
    from collections.abc import Callable

    from kvplan.schema.design import Design

SIZES = pytest.mark.parametrize("nodes", [4, 16, 64, 256])
STRING = r'"(?:[^"\\]|\\.)*"'
EDGE = re.compile(rf"({STRING}):({STRING}) -- ({STRING}):({STRING})")


def unquoted(text: str) -> str:
    """Leave out the strings of a DOT text."""
    return re.sub(STRING, "", text)


@SIZES
@pytest.mark.parametrize("write", [fabric_dot, cabling_ptm])
def test_a_graph_is_balanced(nodes: int, write: Callable[[Design], str]) -> None:
    text = unquoted(write(design_for(nodes)))
    assert '"' not in text
    assert text.startswith("graph ")
    assert "->" not in text
    for opening, closing in ("{}", "[]"):
        depth = 0
        for char in text:
            depth += (char == opening) - (char == closing)
            assert depth >= 0
        assert depth == 0


@SIZES
def test_the_cabling_holds_every_leg_of_the_fabric_once(nodes: int) -> None:
    design = design_for(nodes)
    found = Counter(
        frozenset(((a.strip('"'), b.strip('"')), (c.strip('"'), d.strip('"'))))
        for a, b, c, d in EDGE.findall(cabling_ptm(design))
    )
    meant = {
        frozenset(((port.device, port.name), (port.peer_device, port.peer_port)))
        for port in design.ports
        if port.network != "management"
    }
    assert set(found) == meant
    assert set(found.values()) == {1}


def test_the_cabling_names_the_role_of_every_switch() -> None:
    design = design_for(64)
    roles = dict(
        re.findall(r'^  "([\w-]+)" \[label="\1" role="(\w+)" os="cumulus"\]$', cabling_ptm(design), re.MULTILINE)
    )
    assert roles == {device.name: device.role for device in design.devices if device.role in {"leaf", "spine"}}


def test_super_spines_are_spelled_as_the_tool_wants() -> None:
    devices = tuple(
        device.model_copy(update={"role": "super-spine"}) if device.role == "spine" else device
        for device in design_for(8).devices
    )
    assert 'role="super_spine"' in cabling_ptm(design_for(8).model_copy(update={"devices": devices}))


@SIZES
def test_a_drawing_has_an_edge_for_each_route_and_a_node_for_each_box(nodes: int) -> None:
    design = design_for(nodes)
    shown = topology(design)
    boxes = [box for tier in shown.tiers() for box in tier]
    dot, mermaid = fabric_dot(design), fabric_mermaid(design)
    assert unquoted(dot).count(" -- ") == len(routes(shown))
    assert unquoted(dot).count("rank=same") == sum(bool(tier) for tier in shown.tiers())
    assert len(re.findall(r"^  n\d+\[", mermaid, re.MULTILINE)) == len(boxes)
    assert len(re.findall(r"^  n\d+ .* n\d+$", mermaid, re.MULTILINE)) == len(routes(shown))
    assert [box.id for box in boxes if f'"{box.id}" [' not in dot] == []
    assert len(dot) < 20_000
    assert len(mermaid) < 20_000


def test_a_name_cannot_break_out() -> None:
    model = 'x"]; evil <b>#'
    devices = tuple(device.model_copy(update={"model": model}) for device in design_for(8).devices)
    altered = design_for(8).model_copy(update={"devices": devices})
    assert "evil" not in unquoted(fabric_dot(altered))
    assert "evil" in fabric_dot(altered)
    assert '"]; evil' not in fabric_mermaid(altered)
    assert "#quot;]; evil #lt;b#gt;#35;" in fabric_mermaid(altered)
