"""Time to the first token over time, with the shared tier and without it, as a drawing of its own."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final

from kvplan.render.report.charts.boxes import text_box
from kvplan.render.report.charts.frame import BOTTOM, LEFT, LEGEND_TOP, RIGHT, ROW, TOP, axes, legend, line_swatch
from kvplan.render.report.scales import Scale, log_ticks, nice_ticks
from kvplan.render.report.svg import line, path, text
from kvplan.render.simulate_view import seconds
from kvplan.render.standing import standing_chart
from kvplan.units import counted

if TYPE_CHECKING:
    from kvplan.schema.simulating import Moments, SimulationReport

_LINES: Final = (
    ("without_p99_s", "second mixed", "without the tier, 99 % of requests"),
    ("without_p50_s", "second dotted", "without the tier, half of them"),
    ("with_p99_s", "first dashed", "with the tier, 99 % of requests"),
    ("with_p50_s", "first", "with the tier, half of them"),
)
_ROOM: Final = 1.3
"""How far the axis reaches beyond the longest and the shortest time [1]."""
_LABEL: Final = 15.0
"""Height of a line of words above the curves."""


def ttft_svg(report: SimulationReport) -> str:
    """Draw the time to the first token over time.

    Parameters
    ----------
    report
        What came of a simulation.

    Returns
    -------
    str
        The SVG, ending in a newline.
    """
    times = [
        time for moments in report.timeline for name, _, _ in _LINES if (time := getattr(moments, name)) is not None
    ]
    x_ticks = nice_ticks(report.duration_s)
    x = Scale(0, report.duration_s, LEFT, RIGHT)
    events = _events(report, x)
    y = Scale(min(times) / _ROOM, max(times) * _ROOM, BOTTOM, TOP + _LABEL * len(events), log=True)
    frame = axes(
        x,
        y,
        [(value, f"{value:,g}") for value in x_ticks if value <= report.duration_s],
        [(value, f"{value:g} s") for value in log_ticks(y.low, y.high)],
        ("time, seconds", "time to first token, by powers of ten"),
    )
    drawn = [_curve(report.timeline, name, look, (x, y)) for name, look, _ in _LINES]
    entries = [(line_swatch(look), words) for _, look, words in _LINES]
    height = LEGEND_TOP + ROW * len(entries) - 8
    title = f"Time to first token: {counted(report.requests, 'request')}, {report.source}"
    content = (frame, *events, *drawn, legend(entries, LEGEND_TOP))
    return standing_chart("ttft", title, _words(report), height, content)


def _curve(timeline: tuple[Moments, ...], name: str, look: str, scales: tuple[Scale, Scale]) -> str:
    """Draw one line, broken where no request came."""
    x, y = scales
    parts = []
    for missing, group in groupby(timeline, key=lambda moments: getattr(moments, name) is None):
        if not missing:
            found = list(group)
            # A step over the whole span, so that a lone one shows too.
            corners = [
                (x.at(edge), y.at(getattr(moments, name)))
                for moments in found
                for edge in (moments.start_s, moments.end_s)
            ]
            parts.append(path(corners, look))
    return "".join(parts)


def _events(report: SimulationReport, x: Scale) -> list[str]:
    """Draw when something was lost or a crowd came, each with its words, one below the other."""
    events = [
        (failure.at_s, "repaired" if failure.lost == "nothing" else f"{failure.lost} lost")
        for failure in report.request.fails
    ]
    if report.request.burst is not None:
        events.append((report.request.burst.at_s, f"{report.request.burst.requests:,} at once"))
    drawn = []
    for place, (at_s, words) in enumerate(sorted(event for event in events if event[0] <= report.duration_s)):
        here, top = x.at(at_s), TOP + 4 + _LABEL * place
        after = text_box(here + 6, top, words).right < RIGHT
        label = text(here + 6 if after else here - 6, top, words, "detail", anchor="" if after else "end")
        drawn.append(line((here, TOP - 6), (here, BOTTOM), "need") + label)
    return drawn


def _words(report: SimulationReport) -> str:
    """Say what is drawn, for whoever does not see it."""
    warm, cold = report.with_tier.ttft, report.without_tier.ttft
    return (
        f"Half of the requests have their first token within {seconds(warm.p50_s)} with the tier and "
        f"{seconds(cold.p50_s)} without it, 99 % within {seconds(warm.p99_s)} and {seconds(cold.p99_s)}."
    )
