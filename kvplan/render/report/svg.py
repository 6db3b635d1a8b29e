"""The shapes that charts are drawn from: texts, bars, lines, points, patterns, and the chart round them."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from kvplan.render.report.typeset import typeset
from kvplan.render.svg import element, value_text

if TYPE_CHECKING:
    from collections.abc import Iterable

WIDTH = 480
"""Width of every chart in its own units: near the width of a column on a screen, so that text keeps its size."""
HATCH, DOTS = "hatch", "dots"


def text(x: float, y: float, words: str, kind: str = "", *, anchor: str = "") -> str:
    """Write a text, escaped.

    >>> text(1, 2, "a < b", "value")
    '<text x="1" y="2" class="value">a &lt; b</text>'
    """
    attributes: dict[str, str | float] = {"x": x, "y": y}
    if kind:
        attributes["class_"] = kind
    if anchor:
        attributes["text_anchor"] = anchor
    return element("text", escape(typeset(words), quote=False), **attributes)


def rect(x: float, y: float, width: float, height: float, kind: str, *, fill: str = "") -> str:
    """Draw a rectangle, with a pattern as its filling where one is named."""
    attributes: dict[str, str | float] = {"x": x, "y": y, "width": max(width, 0), "height": height, "class_": kind}
    return element("rect", **attributes, **({"fill": fill} if fill else {}))


def line(start: tuple[float, float], end: tuple[float, float], kind: str) -> str:
    """Draw a line between two points."""
    return element("line", x1=start[0], y1=start[1], x2=end[0], y2=end[1], class_=kind)


def path(points: Iterable[tuple[float, float]], kind: str) -> str:
    """Draw a line through points."""
    joined = "L".join(f"{value_text(x)} {value_text(y)}" for x, y in points)
    return element("path", d=f"M{joined}", class_=kind)


def mark(shape: str, x: float, y: float, kind: str) -> str:
    """Draw a point: disc, ring, square or diamond.

    >>> mark("diamond", 10, 10, "second")
    '<path d="M10 4.5L15.5 10L10 15.5L4.5 10Z" class="second"/>'
    """
    if shape in {"disc", "ring"}:
        return element("circle", cx=x, cy=y, r=4.5, class_=kind)
    if shape == "square":
        return element("rect", x=x - 4.5, y=y - 4.5, width=9, height=9, class_=kind)
    corners = ((x, y - 5.5), (x + 5.5, y), (x, y + 5.5), (x - 5.5, y))
    joined = "L".join(f"{value_text(px)} {value_text(py)}" for px, py in corners)
    return element("path", d=f"M{joined}Z", class_=kind)


def patterns(chart: str) -> str:
    """Define hatching and dots, under names that belong to one chart."""
    hatch = element("path", d="M-2 2L2 -2M0 8L8 0M6 10L10 6", class_="hatching")
    dots = element("circle", cx=3, cy=3, r=1.3, class_="dotting")
    return element("defs", _pattern(f"{chart}-{HATCH}", 8, hatch), _pattern(f"{chart}-{DOTS}", 6, dots))


def _pattern(name: str, size: int, drawn: str) -> str:
    """Define one pattern."""
    return element("pattern", drawn, id=name, width=size, height=size, patternUnits="userSpaceOnUse")


def drawing(chart: str, title: str, words: str, height: float, content: Iterable[str]) -> str:
    """Wrap a chart: its box, and title and description for whoever hears it."""
    return element(
        "svg",
        element("title", escape(title, quote=False), id=f"{chart}-title"),
        element("desc", escape(words, quote=False), id=f"{chart}-text"),
        patterns(chart),
        *content,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {value_text(height)}",
        role="img",
        aria_labelledby=f"{chart}-title {chart}-text",
        class_="chart",
    )
