"""Charts of curves: load time over length, a storm over engines, retention over write rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from kvplan.render.report.charts.frame import (
    BOTTOM,
    LEFT,
    LEGEND_TOP,
    RIGHT,
    ROW,
    TOP,
    axes,
    legend,
    line_swatch,
    mark_swatch,
)
from kvplan.render.report.scales import Scale, decades, log_ticks, nice_ticks
from kvplan.render.report.svg import DOTS, drawing, line, mark, path, rect, text
from kvplan.units import format_rate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.render.report.charts.frame import Tick

_MIDDLE = (LEFT + RIGHT) / 2
Side = Literal["above", "below", "under"]


@dataclass(frozen=True, slots=True)
class Point:
    """One point that is marked: where it is, its label, its shape and colour, and on which side the label stands."""

    x: float
    y: float
    label: str
    shape: str = "disc"
    look: str = "first"
    side: Side = "above"


@dataclass(frozen=True, slots=True)
class Curve:
    """One curve: its points, how it is drawn, and its words in the legend."""

    points: tuple[tuple[float, float], ...]
    look: str
    words: str


@dataclass(frozen=True, slots=True)
class Series:
    """Points that belong together, with their words in the legend if they have an entry; a dotted line joins them."""

    points: tuple[Point, ...]
    words: str


def load_chart(
    chart: str, title: str, words: str, curve: Curve, series: Sequence[Series], break_even: float | None
) -> str:
    """Draw load time over length of the prefix, both by powers of ten, with what was published beside it."""
    points = [(point.x, point.y) for group in series for point in group.points]
    x_low = curve.points[0][0]
    x = Scale(x_low, 1.4 * max(curve.points[-1][0], *(px for px, _ in points), 0), LEFT, RIGHT, log=True)
    low, high = decades(min(y for _, y in curve.points), max([curve.points[-1][1], *(py for _, py in points)]))
    y = Scale(low, high, BOTTOM, TOP, log=True)
    frame = axes(
        x,
        y,
        [(value, f"{value:,.0f}") for value in log_ticks(x.low, x.high)],
        [(value, _time(value)) for value in log_ticks(low, high)],
        ("cached prefix, tokens", "time, by powers of ten"),
    )
    drawn = [frame, _break_even(x, break_even) if break_even else "", _curve(curve, x, y)]
    drawn += [_series(group, x, y) for group in series]
    entries = [(line_swatch(curve.look), curve.words)]
    entries += [
        (mark_swatch(group.points[0].shape, group.points[0].look), group.words) for group in series if group.words
    ]
    return drawing(chart, title, words, LEGEND_TOP + ROW * len(entries) - 8, (*drawn, legend(entries, LEGEND_TOP)))


def storm_chart(chart: str, title: str, words: str, curves: Sequence[Curve], points: Sequence[Point]) -> str:
    """Draw the time until all are served over the engines that ask at once, from zero on both axes."""
    x_ticks = nice_ticks(max(point.x for point in points))
    y_ticks = nice_ticks(max(point.y for point in points))
    x, y = Scale(0, x_ticks[-1], LEFT, RIGHT), Scale(0, y_ticks[-1], BOTTOM, TOP)
    fleet = max(point.x for point in points)
    frame = axes(
        x,
        y,
        [(value, f"{value:,.0f}") for value in x_ticks if value % 1 == 0],
        [(value, _time(value)) for value in y_ticks],
        ("engines that ask at once", "time until all are served"),
    )
    guide = line((x.at(fleet), TOP), (x.at(fleet), BOTTOM), "need") + text(
        x.at(fleet) - 6, BOTTOM - 8, "whole fleet", "detail", anchor="end"
    )
    drawn = [frame, guide, *(_curve(curve, x, y) for curve in curves), *(_point(point, x, y) for point in points)]
    entries = [(line_swatch(curve.look), curve.words) for curve in curves]
    return drawing(chart, title, words, LEGEND_TOP + ROW * len(entries) - 8, (*drawn, legend(entries, LEGEND_TOP)))


def retention_chart(
    chart: str, title: str, words: str, curve: Curve, points: Sequence[tuple[Point, str]], rated_bytes_per_s: float
) -> str:
    """Draw how long data stays over the write rate; beyond what the drives are rated for the ground is dotted."""
    x = Scale(curve.points[0][0], curve.points[-1][0], LEFT, RIGHT, log=True)
    y = Scale(curve.points[-1][1] / 1.3, curve.points[0][1] * 1.1, BOTTOM, TOP, log=True)
    worn = x.at(rated_bytes_per_s)
    ground = rect(worn, TOP, RIGHT - worn, BOTTOM - TOP, "pattern", fill=f"url(#{chart}-{DOTS})")
    frame = axes(
        x,
        y,
        [(value, format_rate(value)) for value in log_ticks(x.low, x.high)],
        [(seconds, name) for seconds, name in _SPANS if y.low <= seconds <= y.high],
        ("sustained writes, by powers of ten", "data stays for"),
    )
    drawn = [ground, frame, _curve(curve, x, y), *(_point(point, x, y) for point, _ in points)]
    entries = [(mark_swatch(point.shape, point.look), entry) for point, entry in points]
    entries.append((rect(0, -6, 22, 12, "pattern framed", fill=f"url(#{chart}-{DOTS})"), curve.words))
    return drawing(chart, title, words, LEGEND_TOP + ROW * len(entries) - 8, (*drawn, legend(entries, LEGEND_TOP)))


def _curve(curve: Curve, x: Scale, y: Scale) -> str:
    """Draw one curve."""
    return path([(x.at(px), y.at(py)) for px, py in curve.points], curve.look)


def _point(point: Point, x: Scale, y: Scale) -> str:
    """Draw one point with its label: to its right in the left half, to its left in the right one, or under it."""
    px, py = x.at(point.x), y.at(point.y)
    base = py - 7 if point.side == "above" else py + 17
    drawn = mark(point.shape, px, py, point.look)
    if point.side == "under":
        return drawn + text(px, base + 4, point.label, "value", anchor="middle")
    if px < _MIDDLE:
        return drawn + text(px + 9, base, point.label, "value")
    return drawn + text(px - 9, base, point.label, "value", anchor="end")


def _series(group: Series, x: Scale, y: Scale) -> str:
    """Draw points that belong together, joined by a dotted line."""
    joined = path([(x.at(point.x), y.at(point.y)) for point in group.points], f"{group.points[0].look} joined")
    return joined + "".join(_point(point, x, y) for point in group.points)


def _break_even(x: Scale, tokens: float) -> str:
    """Mark the length from which reading back beats computing anew."""
    if not x.low < tokens < x.high:
        return ""
    here = x.at(tokens)
    label = text(here + 6, BOTTOM - 8, f"break-even {tokens:,.0f} tokens", "detail")
    return line((here, TOP), (here, BOTTOM), "need") + label


def _time(seconds: float) -> str:
    """Write the time at a tick."""
    return f"{seconds * 1000:g} ms" if 0 < seconds < 1 else f"{seconds:,g} s"


_SPANS: tuple[Tick, ...] = (
    (1, "1 s"), (10, "10 s"), (60, "1 min"), (600, "10 min"), (3_600, "1 h"), (21_600, "6 h"), (86_400, "1 day"),
    (604_800, "1 week"), (2_592_000, "30 days"), (31_536_000, "1 year"), (315_360_000, "10 years"),
)  # fmt: skip
