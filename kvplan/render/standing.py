"""A chart as a file of its own: with a ground to stand on, a margin, and its colours in light and dark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.render.report.palette import DARK, LIGHT
from kvplan.render.report.svg import WIDTH, drawing
from kvplan.render.svg import element

if TYPE_CHECKING:
    from collections.abc import Iterable

_MARGIN: Final = 16
_FONT: Final = 'system-ui, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", Arial, sans-serif'
_RULES: Final = (
    "svg{overflow:visible}"  # round ends of lines reach into the margin
    f"text{{font:500 12.5px {_FONT};fill:var(--text)}}"
    ".tick,.title,.detail,.entry{fill:var(--muted);font-weight:400}"
    ".ground{fill:var(--page)}.grid{stroke:var(--line)}.axis{stroke:var(--quiet)}"
    ".need{stroke:var(--quiet);stroke-width:1.5;stroke-dasharray:2 3}"
    "path{fill:none;stroke-width:2.5;stroke-linejoin:round;stroke-linecap:round}"
    ".first{stroke:var(--first)}.second{stroke:var(--second)}.third{stroke:var(--third)}"
    ".dashed{stroke-width:1.5;stroke-dasharray:6 4}.dotted{stroke-dasharray:1 5}"
    ".mixed{stroke-width:1.5;stroke-dasharray:8 4 1 4}"
)


def standing_chart(chart: str, title: str, words: str, height: float, content: Iterable[str]) -> str:
    """Wrap a chart that stands alone.

    Parameters
    ----------
    chart
        What its ids begin with.
    title
        What it shows.
    words
        What it says, for whoever does not see it.
    height
        Its height; its width is that of every chart.
    content
        Its shapes.

    Returns
    -------
    str
        The SVG, ending in a newline.
    """
    # An SVG within another needs its place and size; the chart of a page takes them from the page.
    place = f'<svg x="{_MARGIN}" y="{_MARGIN}" width="{WIDTH}" height="{height:g}" '
    framed = element(
        "svg",
        _style(),
        element("rect", width="100%", height="100%", class_="ground"),
        drawing(chart, title, words, height, content).replace("<svg ", place, 1),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH + 2 * _MARGIN} {height + 2 * _MARGIN:g}",
        class_="chart",
    )
    return framed + "\n"


def _style() -> str:
    """Write the style: colours in light and dark, and how each kind of line and text looks."""
    light, dark = (";".join(f"--{name}:{color}" for name, color in tones.items()) for tones in (LIGHT, DARK))
    return f"<style>.chart{{{light}}}@media (prefers-color-scheme:dark){{.chart{{{dark}}}}}{_RULES}</style>"
