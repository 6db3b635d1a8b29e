"""What charts share: a frame with ticks and titles, and a legend whose every entry has a shape and a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.render.report.charts.boxes import text_box
from kvplan.render.report.svg import WIDTH, line, mark, path, rect, text, texture

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kvplan.render.report.scales import Scale

LEFT, RIGHT, TOP, BOTTOM = 58.0, WIDTH - 14.0, 30.0, 236.0
"""The plot within a chart of two axes."""
ROW = 19.0
LEGEND_TOP = BOTTOM + 56.0
_SWATCH = 14.0

Tick = tuple[float, str]


def axes(x: Scale, y: Scale, x_ticks: Iterable[Tick], y_ticks: Iterable[Tick], titles: tuple[str, str]) -> str:
    """Draw the frame of a chart of two axes: grid lines, ticks, and what the axes count, with the unit."""
    rows = "".join(
        line((LEFT, y.at(value)), (RIGHT, y.at(value)), "grid")
        + text(LEFT - 8, y.at(value) + 4, label, "tick", anchor="end")
        for value, label in y_ticks
    )
    columns = "".join(
        line((x.at(value), BOTTOM), (x.at(value), BOTTOM + 5), "axis") + _x_label(x.at(value), label)
        for value, label in x_ticks
    )
    named = text(0, 13, titles[1], "title") + text(RIGHT, BOTTOM + 38, titles[0], "title", anchor="end")
    return rows + columns + line((LEFT, BOTTOM), (RIGHT, BOTTOM), "axis") + named


def _x_label(x: float, label: str) -> str:
    """Write the label of a tick under it, or against the edge of the chart where it would be cut."""
    if text_box(x, 0, label, "middle").right <= WIDTH:
        return text(x, BOTTOM + 19, label, "tick", anchor="middle")
    return text(WIDTH, BOTTOM + 19, label, "tick", anchor="end")


def legend(entries: Sequence[tuple[str, str]], top: float) -> str:
    """Write the legend, one entry a row: its swatch, drawn at 0, and its words."""
    return "".join(
        f'<g transform="translate(0 {top + ROW * index:g})">{swatch}</g>'
        + text(_SWATCH + 16, top + ROW * index + 4, words, "entry")
        for index, (swatch, words) in enumerate(entries)
    )


def line_swatch(kind: str) -> str:
    """Draw the swatch of a line."""
    return path(((0, 0), (22, 0)), kind)


def mark_swatch(shape: str, kind: str) -> str:
    """Draw the swatch of a point."""
    return mark(shape, 11, 0, kind)


def bar_swatch(kind: str, textured: str = "") -> str:
    """Draw the swatch of a bar, with its texture if it has one."""
    plain = rect(0, -6, 22, 12, kind)
    return plain + texture(textured, 0, -6, 22, 12) if textured else plain
