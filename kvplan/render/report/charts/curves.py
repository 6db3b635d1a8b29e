"""Charts of curves: time to the first token over length, a storm over engines, retention over write rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kvplan.render.report.charts.boxes import text_box
from kvplan.render.report.charts.frame import (
    BOTTOM,
    LEFT,
    LEGEND_TOP,
    RIGHT,
    ROW,
    TOP,
    axes,
    bar_swatch,
    legend,
    line_swatch,
    mark_swatch,
)
from kvplan.render.report.charts.labels import placed
from kvplan.render.report.scales import Scale, decades, log_ticks, nice_ticks
from kvplan.render.report.svg import DOTS, drawing, line, mark, path, text, texture
from kvplan.units import format_rate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kvplan.render.report.charts.boxes import Box
    from kvplan.render.report.charts.frame import Tick


@dataclass(frozen=True, slots=True)
class Point:
    """One point that is marked: where it is, its label, its shape and colour."""

    x: float
    y: float
    label: str
    shape: str = "disc"
    look: str = "first"


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
    chart: str, title: str, words: str, curves: Sequence[Curve], series: Sequence[Series], break_even: float | None
) -> str:
    """Draw times to the first token over the prompt, both by powers of ten, with what was published beside it."""
    marked = [point for group in series for point in group.points]
    ends = [end for curve in curves for end in (curve.points[0], curve.points[-1])]
    lengths = [*(tokens for tokens, _ in ends), *(point.x for point in marked)]
    times = [*(seconds for _, seconds in ends), *(point.y for point in marked)]
    x = Scale(min(lengths), 1.4 * max(lengths), LEFT, RIGHT, log=True)
    low, high = decades(min(times), max(times))
    y = Scale(low, high, BOTTOM, TOP, log=True)
    frame = axes(
        x,
        y,
        [(value, f"{value:,.0f}") for value in log_ticks(x.low, x.high)],
        [(value, _time(value)) for value in log_ticks(low, high)],
        ("prompt, tokens", "time, by powers of ten"),
    )
    shown = break_even if break_even and x.low < break_even < x.high else None
    guide, taken = _guide(x.at(shown), f"break-even {shown:,.0f} tokens", after=True) if shown else ("", ())
    joined = [[(point.x, point.y) for point in group.points] for group in series]
    drawn = [frame, guide, *(_curve(curve, x, y) for curve in curves)]
    drawn += [
        path([(x.at(px), y.at(py)) for px, py in line], f"{group.points[0].look} joined")
        for line, group in zip(joined, series, strict=True)
        if len(line) > 1
    ]
    drawn.append(_points(marked, (*(curve.points for curve in curves), *joined), (x, y), taken))
    entries = [(line_swatch(curve.look), curve.words) for curve in curves]
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
    guide, taken = _guide(x.at(fleet), "whole fleet", after=False)
    labels = _points(points, [curve.points for curve in curves], (x, y), taken)
    drawn = [frame, guide, *(_curve(curve, x, y) for curve in curves), labels]
    entries = [(line_swatch(curve.look), curve.words) for curve in curves]
    return drawing(chart, title, words, LEGEND_TOP + ROW * len(entries) - 8, (*drawn, legend(entries, LEGEND_TOP)))


def retention_chart(
    chart: str, title: str, words: str, curve: Curve, points: Sequence[tuple[Point, str]], rated_bytes_per_s: float
) -> str:
    """Draw how long data stays over the write rate; beyond what the drives are rated for the ground is dotted."""
    x = Scale(curve.points[0][0], curve.points[-1][0], LEFT, RIGHT, log=True)
    y = Scale(curve.points[-1][1] / 1.3, curve.points[0][1] * 1.1, BOTTOM, TOP, log=True)
    worn = x.at(rated_bytes_per_s)
    ground = texture(DOTS, worn, TOP, RIGHT - worn, BOTTOM - TOP)
    frame = axes(
        x,
        y,
        [(value, format_rate(value)) for value in log_ticks(x.low, x.high)],
        [(seconds, name) for seconds, name in _SPANS if y.low <= seconds <= y.high],
        ("sustained writes, by powers of ten", "data stays for"),
    )
    labels = _points([point for point, _ in points], [curve.points], (x, y))
    drawn = [ground, frame, _curve(curve, x, y), labels]
    entries = [(mark_swatch(point.shape, point.look), entry) for point, entry in points]
    entries.append((bar_swatch("framed", DOTS), curve.words))
    return drawing(chart, title, words, LEGEND_TOP + ROW * len(entries) - 8, (*drawn, legend(entries, LEGEND_TOP)))


def _curve(curve: Curve, x: Scale, y: Scale) -> str:
    """Draw one curve."""
    return path([(x.at(px), y.at(py)) for px, py in curve.points], curve.look)


def _points(
    points: Sequence[Point],
    lines: Iterable[Sequence[tuple[float, float]]],
    scales: tuple[Scale, Scale],
    taken: tuple[Box, ...] = (),
) -> str:
    """Draw points with their labels, which keep clear of each other, of all points, and of lines where they can."""
    x, y = scales
    at = [(x.at(point.x), y.at(point.y)) for point in points]
    drawn = [[(x.at(px), y.at(py)) for px, py in line] for line in lines]
    labels = placed(list(zip(at, (point.label for point in points), strict=True)), drawn, taken)
    return "".join(
        mark(point.shape, px, py, point.look)
        + text(lx, ly, point.label, "value", anchor="" if anchor == "start" else anchor)
        for point, (px, py), (lx, ly, anchor) in zip(points, at, labels, strict=True)
    )


def _guide(here: float, words: str, *, after: bool) -> tuple[str, tuple[Box, ...]]:
    """Draw an upright line with its words at its foot, and give the ground that they cover."""
    begin = here + 6 if after else here - 6
    covered = text_box(begin, BOTTOM - 8, words, "start" if after else "end")
    label = text(begin, BOTTOM - 8, words, "detail", anchor="" if after else "end")
    return line((here, TOP), (here, BOTTOM), "need") + label, (covered,)


def _time(seconds: float) -> str:
    """Write the time at a tick."""
    return f"{seconds * 1000:g} ms" if 0 < seconds < 1 else f"{seconds:,g} s"


_SPANS: tuple[Tick, ...] = (
    (1, "1 s"), (10, "10 s"), (60, "1 min"), (600, "10 min"), (3_600, "1 h"), (21_600, "6 h"), (86_400, "1 day"),
    (604_800, "1 week"), (2_592_000, "30 days"), (31_536_000, "1 year"), (315_360_000, "10 years"),
)  # fmt: skip
