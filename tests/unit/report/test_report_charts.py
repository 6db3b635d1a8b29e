"""The charts, each on its own: golden drawings of small numbers, odd values, and words beside colours."""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING

import pytest
from reports import parsed, source_of

from kvplan.render.report.blocks import Pair
from kvplan.render.report.charts.bars import (
    Left,
    Load,
    Margin,
    Piece,
    left_chart,
    loads_chart,
    margins_chart,
    pieces_chart,
)
from kvplan.render.report.charts.boxes import Box, text_box
from kvplan.render.report.charts.curves import Curve, Point, Series, load_chart, retention_chart, storm_chart
from kvplan.render.report.charts.frame import BOTTOM
from kvplan.render.report.sections.capacity import capacity
from kvplan.render.report.sections.speed import speed
from kvplan.render.report.svg import WIDTH

if TYPE_CHECKING:
    from collections.abc import Callable
    from xml.etree import ElementTree as ET

    Golden = Callable[[str, str], None]

LINE = Curve(((1_000, 0.001), (100_000, 0.1)), "curve first", "load alone at 50 GB/s (derived)")
CHARTS: dict[str, str] = {
    "margins": margins_chart(
        "margins",
        "Margins",
        "two limits",
        [
            Margin("Capacity", "needs 1 TB, has 500 TB", 500, "x 500", holds=True),
            Margin("Nodes", "needs 10 nodes, has 8 nodes", 0.8, "-20 % short", holds=False),
        ],
    ),
    "stages": loads_chart(
        "stages", "Stages", "two stages", [Load("Drives", 0.1, 0.002, binds=False), Load("Leaf", 1.4, 0.7, binds=True)]
    ),
    "states": left_chart(
        "states", "States", "two states", [Left("A node lost", 0.55, "174 GB/s"), Left("A leaf lost", 0, "0 B/s")]
    ),
    "space": pieces_chart(
        "space",
        "Space",
        "one bar",
        [("10 TB raw", [Piece(0.7, "7 TB usable"), Piece(0.2, "parity"), Piece(0.1, "logs")])],
    ),
    "load": load_chart(
        "load",
        "Load",
        "a line and two points",
        [LINE],
        [Series((Point(1e4, 0.5, "0.5 s", "square", "second"), Point(1e5, 30, "30 s", "square", "second")), "cold")],
        3_700,
    ),
    "storm": storm_chart(
        "storm",
        "Storm",
        "one curve",
        [Curve(((0, 0.2), (4, 0.2), (128, 6.4)), "curve first", "as built")],
        [Point(128, 6.4, "6.4 s")],
    ),
    "retention": retention_chart(
        "retention",
        "Retention",
        "a line and a point",
        Curve(((1e9, 1e6), (1e11, 1e4)), "curve first", "beyond the rating"),
        [(Point(1e10, 1e5, "27.8 h", "diamond", "second"), "10 GB/s: demand")],
        5e9,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(CHARTS))
def test_each_chart_is_as_it_was(name: str, golden: Golden) -> None:
    golden(f"report/{name}.svg", CHARTS[name] + "\n")


@pytest.mark.parametrize("name", sorted(CHARTS))
def test_each_chart_stays_in_its_box(name: str) -> None:
    root = parsed(CHARTS[name])
    width, height = map(float, (root.get("viewBox") or "").split()[2:])
    assert width == WIDTH
    for element in root.iter():
        for key, limit in (("x", width), ("x1", width), ("x2", width), ("cx", width), ("y", height), ("cy", height)):
            value = element.get(key)
            assert value is None or -7 <= float(value) <= limit, (element.tag, element.attrib)
        if element.tag.endswith("rect") and element.get("x") and float(element.get("x") or 0) >= 0:
            assert float(element.get("x") or 0) + float(element.get("width") or 0) <= width + 1


@pytest.mark.parametrize("name", sorted(CHARTS))
def test_no_tick_is_cut(name: str) -> None:
    ticks = [item for item in parsed(CHARTS[name]).iter() if item.get("class") == "tick"]
    assert [item.text for item in ticks if not (_box(item).left >= -1 and _box(item).right <= WIDTH)] == []


def _label_boxes(drawing: str) -> list[tuple[str, Box]]:
    """Estimate the ground that the labels of a chart cover."""
    labels = [item for item in parsed(drawing).iter() if item.get("class") in {"value", "detail"}]
    return [(item.text or "", _box(item)) for item in labels]


def _box(item: ET.Element) -> Box:
    """Estimate the ground that a text covers."""
    x, y = float(item.get("x") or 0), float(item.get("y") or 0)
    return text_box(x, y, item.text or "", item.get("text-anchor", "start"))  # type: ignore[arg-type]


def _covering(drawing: str) -> list[tuple[str, str]]:
    """Name the labels that cover each other."""
    boxes = _label_boxes(drawing)
    return [(one, other) for (one, a), (other, b) in combinations(boxes, 2) if a.meets(b)]


@pytest.mark.parametrize("nodes", [4, 8, 16])
def test_no_label_of_a_curve_covers_another(nodes: int) -> None:
    source = source_of(nodes)
    figures = [figure for part in (speed(source), capacity(source)) for block in part.blocks
               if isinstance(block, Pair) for figure in block.figures]  # fmt: skip
    assert [_covering(figure.svg) for figure in figures] == [[]] * 4


@pytest.mark.parametrize("second", [1e10, 1.02e10, 1.1e10, 1.5e10])
@pytest.mark.parametrize("third", [1.01e10, 1.2e10, 4e10])
def test_labels_of_points_that_are_close_keep_apart(second: float, third: float) -> None:
    curve = Curve(((1e9, 1e6), (1e11, 1e4)), "curve first", "beyond the rating")
    points = [(Point(rate, 1e15 / rate, f"{1e15 / rate / 3600:.3g} h"), "") for rate in (1e10, second, third)]
    drawing = retention_chart("retention", "Retention", "", curve, points, 5e9)
    assert _covering(drawing) == []
    assert all(box.left >= 0 and box.right <= WIDTH and box.bottom <= BOTTOM for _, box in _label_boxes(drawing))


def test_a_bar_that_goes_on_beyond_the_scale_is_slit() -> None:
    assert CHARTS["margins"].count('class="slit"') == 1  # x 500 of a scale that ends at 64
    little = margins_chart("margins", "Margins", "", [Margin("Nodes", "", 0.1, "-90 % short", holds=False)])
    assert little.count('class="slit"') == 1


def test_a_point_left_of_the_curve_widens_the_axis() -> None:
    drawing = load_chart(
        "load", "Load", "", [LINE], [Series((Point(10, 0.5, "0.5 s"), Point(100, 1, "1 s")), "")], None
    )
    marks = sorted(float(item.get("cx") or 0) for item in parsed(drawing).iter() if item.tag.endswith("circle"))
    assert marks[-1] - marks[-2] > 20


@pytest.mark.parametrize("name", sorted(CHARTS))
def test_numbers_in_charts_have_units_or_stand_at_an_axis_that_names_them(name: str) -> None:
    root = parsed(CHARTS[name])
    texts = [item for item in root.iter() if item.tag.endswith("text")]
    assert texts
    ticked = any(item.get("class") == "title" and re.search("tokens|engines", item.text or "") for item in texts)
    for item in texts:
        bare = re.fullmatch(r"[\d,.]+", item.text or "")
        assert not bare or (ticked and item.get("class") == "tick"), item.text


def test_what_falls_short_is_hatched_and_says_so() -> None:
    assert CHARTS["margins"].count('class="hatching"') == 1
    assert "20 % short" in CHARTS["margins"]


def test_writes_are_told_from_reads_by_pattern_and_by_word() -> None:
    assert CHARTS["stages"].count('class="hatching"') == 3  # two bars and the legend
    assert "writes, share of what is planned" in CHARTS["stages"]


def test_little_is_not_nothing() -> None:
    assert "&lt; 1 %" in CHARTS["stages"]
    assert ">0 %<" in CHARTS["states"]


def test_a_stage_beyond_its_plan_passes_the_line() -> None:
    root = parsed(CHARTS["stages"])
    line = next(float(item.get("x1") or 0) for item in root.iter() if item.get("class") == "need")
    longest = max(float(item.get("width") or 0) for item in root.iter() if item.get("class") == "first")
    assert longest > line


def test_the_knee_of_a_storm_is_drawn_where_it_is() -> None:
    pair = r"([\d.]+) ([\d.]+)"
    found = re.search(rf'<path d="M{pair}L{pair}L{pair}" class="curve first"', CHARTS["storm"])
    assert found is not None
    start, level, knee, flat, end, top = map(float, found.groups())
    assert level == flat > top
    assert (knee - start) / (end - start) == pytest.approx(4 / 128, abs=0.001)


def test_a_break_even_outside_the_chart_is_not_drawn() -> None:
    assert "break-even 3,700 tokens" in CHARTS["load"]
    assert "break-even" not in load_chart("load", "Load", "a line", [LINE], [], 500_000)
