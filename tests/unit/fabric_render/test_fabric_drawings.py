"""Drawings: well formed, self-contained, small, with nothing that overlaps or is cut off."""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree as ET

import pytest
from designs import design_for, plan_of

from kvplan.api import design as design_plan
from kvplan.render.fabric.fabric_svg import fabric_svg
from kvplan.render.fabric.palette import LIGHT
from kvplan.render.fabric.racks_alike import MOST_RACKS, elevations, load_of
from kvplan.render.fabric.racks_svg import racks_svg
from kvplan.render.fabric.topology import topology

if TYPE_CHECKING:
    from collections.abc import Callable

    from kvplan.schema.design import Design

SVG = "{http://www.w3.org/2000/svg}"
ALL = pytest.mark.parametrize("nodes", [4, 8, 16, 64, 256])
DRAWINGS = pytest.mark.parametrize("draw", [fabric_svg, racks_svg])
MACHINES_AND_SWITCHES = {"storage", "client", "control", "leaf", "spine", "super-spine", "management-switch"}


class Area(NamedTuple):
    x: float
    y: float
    width: float
    height: float

    def overlaps(self, other: Area) -> bool:
        apart_x = self.x >= other.x + other.width or other.x >= self.x + self.width
        apart_y = self.y >= other.y + other.height or other.y >= self.y + self.height
        return not (apart_x or apart_y)


def root(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314 - our own text


def areas(svg: str, classes: set[str]) -> list[Area]:
    return [
        Area(*(float(rect.get(name, "0")) for name in ("x", "y", "width", "height")))
        for rect in root(svg).iter(f"{SVG}rect")
        if rect.get("class") in classes
    ]


@ALL
@DRAWINGS
def test_it_stands_alone(nodes: int, draw: Callable[[Design], str]) -> None:
    svg = draw(design_for(nodes))
    drawing = root(svg)
    identifiers = [element.get("id") for element in drawing.iter() if element.get("id")]
    assert len(set(identifiers)) == len(identifiers)
    assert set((drawing.get("aria-labelledby") or "").split()) <= set(identifiers)
    assert drawing.get("role") == "img"
    assert [drawing.findtext(f"{SVG}{name}") for name in ("title", "desc")] != [None, None]
    assert {element.tag.removeprefix(SVG) for element in drawing.iter()} <= {
        "svg", "title", "desc", "style", "rect", "path", "text", "tspan", "g", "defs", "pattern",
    }  # fmt: skip
    outside = svg.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert re.findall(r"https?:|href|<script|@import|\son\w+=", outside) == []
    assert {name.strip("#") for name in re.findall(r"url\((#[\w-]+)\)", svg)} <= set(identifiers)
    assert len(svg.encode()) < 60 * 1024
    assert svg == draw(design_for(nodes))


@DRAWINGS
def test_its_rules_hold_in_it_alone(draw: Callable[[Design], str]) -> None:
    style = root(draw(design_for(8))).findtext(f"{SVG}style") or ""
    selectors = re.findall(r"(?:^|[{}])\s*([^{}@]+)\{", style)
    assert len(selectors) > 10
    assert [part for selector in selectors for part in selector.split(",") if not part.strip().startswith(".kvd")] == []


def test_two_drawings_share_a_page() -> None:
    page = fabric_svg(design_for(8)) + racks_svg(design_for(8))
    identifiers = re.findall(r'\sid="([^"]+)"', page)
    assert len(set(identifiers)) == len(identifiers) == 4


@DRAWINGS
def test_light_and_dark_define_the_same_colours(draw: Callable[[Design], str]) -> None:
    style = root(draw(design_for(8))).findtext(f"{SVG}style") or ""
    light, dark = style.split("prefers-color-scheme:dark")
    names = set(re.findall(r"--([\w-]+):", light))
    assert names == set(re.findall(r"--([\w-]+):", dark.split("}}")[0])) == set(LIGHT)
    assert set(re.findall(r"var\(--([\w-]+)\)", style)) <= names


@ALL
def test_no_box_or_label_covers_another(nodes: int) -> None:
    svg = fabric_svg(design_for(nodes))
    labels, boxes = areas(svg, {"pill"}), areas(svg, MACHINES_AND_SWITCHES)
    assert labels
    assert [pair for pair in combinations(labels, 2) if pair[0].overlaps(pair[1])] == []
    assert [(label, box) for label in labels for box in boxes if label.overlaps(box)] == []


@ALL
@DRAWINGS
def test_everything_lies_inside(nodes: int, draw: Callable[[Design], str]) -> None:
    drawing = root(draw(design_for(nodes)))
    width, height = float(drawing.get("width", "0")), float(drawing.get("height", "0"))
    for group, (left, top) in _placed(drawing):
        for rect in group.findall(f"{SVG}rect"):
            x, y, w, h = (float(rect.get(name, "0")) for name in ("x", "y", "width", "height"))
            assert 0 <= left + x <= left + x + w <= width
            assert 0 <= top + y <= top + y + h <= height
        for text in group.findall(f"{SVG}text"):
            x, y = left + float(text.get("x", "0")), top + float(text.get("y", "0"))
            half = "m" in (text.get("class") or "").split()
            span = len(text.text or "") * 5.4 * (0.5 if half else 1)
            assert (x - span if half else x) >= 0
            assert x + span <= width, text.text
            assert 0 < y < height


def _placed(drawing: ET.Element) -> list[tuple[ET.Element, tuple[float, float]]]:
    moved = [(drawing, (0.0, 0.0))]
    for group in drawing.findall(f"{SVG}g"):
        left, top = map(float, re.findall(r"-?[\d.]+", group.get("transform", "")))
        moved.append((group, (left, top)))
    return moved


@ALL
def test_every_device_is_in_one_box(nodes: int) -> None:
    design = design_for(nodes)
    shown = topology(design)
    names = [name for tier in (*shown.tiers(), shown.apart) for box in tier for name in box.names]
    assert sorted(names) == sorted(device.name for device in design.devices)


@ALL
def test_the_bundles_hold_every_leg_of_the_fabric(nodes: int) -> None:
    design = design_for(nodes)
    fabric = sum(port.network != "management" for port in design.ports)
    assert sum(bundle.legs for bundle in topology(design).bundles) * 2 == fabric


def test_the_published_fabric_is_drawn_as_published() -> None:
    svg = fabric_svg(design_for(8))
    for words in (
        "8 storage nodes",
        "4 GPU servers",
        "12 x 400G to the spine",
        "8 x 200G client",
        "4 x 400G storage",
    ):
        assert words in svg


def test_a_large_fabric_is_drawn_once_for_what_is_alike() -> None:
    design = design_for(256)
    svg = fabric_svg(design)
    assert design.switches.leaves > 8
    assert len(areas(svg, MACHINES_AND_SWITCHES)) < 40
    assert f"to each of {design.switches.spines} spines" in svg
    assert "one shown" in svg


def test_rails_differ_by_dashes_too() -> None:
    svg = fabric_svg(design_for(8))
    assert svg.count('class="wire ra"') == svg.count('class="wire rb"') > 2
    assert re.search(r"\.rb\{[^}]*stroke-dasharray", svg)
    assert not re.search(r"\.ra\{[^}]*stroke-dasharray", svg)


@ALL
def test_racks_show_each_device_or_say_how_many_are_alike(nodes: int) -> None:
    design = design_for(nodes)
    shown, left_out = elevations(design)
    assert sum(item.count for item in shown) + left_out == len(design.racks)
    assert len(shown) <= MOST_RACKS
    svg = racks_svg(design)
    alone = [device.name for item in shown if item.count == 1 for device in item.devices]
    assert alone
    assert [name for name in alone if f">{name}<" not in svg] == []


def test_racks_that_a_table_tells_apart_are_not_drawn_as_one() -> None:
    design = design_for(256)
    shown, _ = elevations(design)
    figures = {rack.name: load_of(rack) for rack in design.racks}
    assert any(item.count > 1 for item in shown)
    assert all(len({figures[name] for name in item.names}) == 1 for item in shown)


def test_a_rack_beyond_its_limit_says_so() -> None:
    heavy = design_for(8).racks[0].model_copy(update={"weight_kg": 1200.0})
    svg = racks_svg(design_for(8).model_copy(update={"racks": (heavy, *design_for(8).racks[1:])}))
    assert "1,200 of 1,000 kg: over" in svg
    assert ": over" not in racks_svg(design_for(8))


def test_names_are_escaped() -> None:
    model = '<b>&"x"</b>'
    devices = tuple(device.model_copy(update={"model": model}) for device in design_for(8).devices)
    svg = fabric_svg(design_for(8).model_copy(update={"devices": devices}))
    assert model in [text.text for text in root(svg).iter(f"{SVG}text")]
    assert "<b>" not in svg


@pytest.mark.slow
def test_three_tiers_are_drawn_pod_by_pod() -> None:
    design = design_plan(plan_of(256, 20_480))
    shown = topology(design)
    svg = fabric_svg(design)
    assert design.switches.pods == sum(len(pod.numbers) for pod in shown.pods) > 1
    assert shown.super_spines
    assert "in each pod, one shown" in svg
    assert len(svg.encode()) < 60 * 1024
    assert len(racks_svg(design).encode()) < 60 * 1024
    labels = areas(svg, {"pill"})
    assert [pair for pair in combinations(labels, 2) if pair[0].overlaps(pair[1])] == []
