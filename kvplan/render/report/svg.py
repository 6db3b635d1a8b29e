"""The shapes that charts are drawn from: texts, bars, lines, points, textures, and the chart round them."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from kvplan.render.report.typeset import typeset
from kvplan.render.svg import element, hatching, value_text

if TYPE_CHECKING:
    from collections.abc import Iterable

WIDTH = 480
"""Width of every chart in its own units: near the width of a column on a screen, so that text keeps its size."""
HATCH, DOTS = "hatch", "dots"
_HATCH_STEP, _DOT_STEP = 8, 6


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


def rect(x: float, y: float, width: float, height: float, kind: str) -> str:
    """Draw a rectangle."""
    return element("rect", x=x, y=y, width=max(width, 0), height=height, class_=kind)


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


def texture(name: str, x: float, y: float, width: float, height: float) -> str:
    """Draw the texture of a rectangle, by which bars are told apart without their colours.

    >>> texture(HATCH, 0, 0, 16, 8)
    '<path class="hatching" d="M0 8L8 0M8 8L16 0"/>'
    >>> texture(DOTS, 0, 0, 60, 9)
    '<path class="dotting" d="M3 3h54M3 9h54"/>'
    """
    if name == HATCH:
        return element("path", class_="hatching", d=hatching(x, y, width, height, step=_HATCH_STEP))
    rows = range(int(height - _DOT_STEP / 2) // _DOT_STEP + 1)
    left = x + _DOT_STEP / 2
    along = value_text(max(width - _DOT_STEP, 0.0))
    drawn = "".join(f"M{value_text(left)} {value_text(y + _DOT_STEP * (row + 0.5))}h{along}" for row in rows)
    return element("path", class_="dotting", d=drawn)


def drawing(chart: str, title: str, words: str, height: float, content: Iterable[str]) -> str:
    """Wrap a chart: its box, and title and description for whoever hears it."""
    return element(
        "svg",
        element("title", escape(title, quote=False), id=f"{chart}-title"),
        element("desc", escape(words, quote=False), id=f"{chart}-text"),
        *content,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {value_text(height)}",
        role="img",
        aria_labelledby=f"{chart}-title {chart}-text",
        class_="chart",
    )
