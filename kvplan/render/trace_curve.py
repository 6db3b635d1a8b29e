"""The hit-ratio curve of a trace as a drawing of its own, in light and dark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.render.report.charts.boxes import text_box
from kvplan.render.report.charts.frame import BOTTOM, LEFT, LEGEND_TOP, RIGHT, ROW, TOP, axes, legend, line_swatch
from kvplan.render.report.scales import Scale, log_ticks, nice_ticks
from kvplan.render.report.svg import line, path, text
from kvplan.render.standing import standing_chart
from kvplan.units import format_bytes, format_percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.schema.tracing import CurvePoint, TraceReport


def curve_svg(report: TraceReport) -> str:
    """Draw token hits over the size of the cache.

    Parameters
    ----------
    report
        A report on a trace with block ids.

    Returns
    -------
    str
        The drawing, as a file of its own, ending in a newline.
    """
    sizes = [_size(point) for point in report.curve]
    x = Scale(sizes[0], sizes[-1] if len(sizes) > 1 else sizes[0] * 10, LEFT, RIGHT, log=True)
    warm = report.warm.curve if report.warm else ()
    highest = max(point.token_hit_ratio for point in (*report.curve, *warm, *report.belady))
    y_ticks = nice_ticks(max(highest, 0.01))
    y = Scale(0, y_ticks[-1], BOTTOM, TOP)
    in_bytes = report.kv is not None
    frame = axes(
        x,
        y,
        [(value, _label(value, in_bytes=in_bytes)) for value in log_ticks(x.low, x.high)],
        [(value, format_percent(value, 0)) for value in y_ticks],
        (f"cache, {'bytes' if in_bytes else 'tokens'}, by powers of ten", "share of prompt tokens that are hit"),
    )
    lines = _lines(report)
    drawn = [
        path([(x.at(_size(point)), y.at(point.token_hit_ratio)) for point in points], look) for points, look, _ in lines
    ]
    entries = [(line_swatch(look), words) for _, look, words in lines]
    height = LEGEND_TOP + ROW * len(entries) - 8
    content = (frame, _target(report, x), *drawn, legend(entries, LEGEND_TOP))
    title = f"Hit ratio over cache size: {report.trace.name}"
    return standing_chart("curve", title, _words(report), height, content)


def _lines(report: TraceReport) -> list[tuple[Sequence[CurvePoint], str, str]]:
    """List the lines, each with its look and its words."""
    lines: list[tuple[Sequence[CurvePoint], str, str]] = [(report.curve, "first", "LRU, whole trace")]
    if report.warm:
        lines.append(
            (report.warm.curve, "second dashed", f"LRU, last {report.warm.requests:,} requests (cache filled)")
        )
    if report.belady:
        lines.append((report.belady, "third dotted", "no policy hits more (Belady), whole trace"))
    return lines


def _target(report: TraceReport, x: Scale) -> str:
    """Draw where the target is met."""
    found = report.capacity_for_target
    if found is None or not found.tokens:
        return ""
    size = found.tokens if found.bytes is None else found.bytes
    here = x.at(size)
    words = f"{format_percent(found.target, 0)} of all hits: {_label(size, in_bytes=found.bytes is not None)}"
    before = text_box(here - 6, BOTTOM - 8, words, "end").left > LEFT
    label = text(here - 6 if before else here + 6, BOTTOM - 8, words, "detail", anchor="end" if before else "")
    return line((here, TOP), (here, BOTTOM), "need") + label


def _words(report: TraceReport) -> str:
    """Say what is drawn, for whoever does not see it."""
    last = report.curve[-1]
    return (
        f"Token hit ratio of an LRU cache from {_label(_size(report.curve[0]), in_bytes=report.kv is not None)} to "
        f"{_label(_size(last), in_bytes=report.kv is not None)}, where it reaches "
        f"{format_percent(last.token_hit_ratio)}."
    )


def _size(point: CurvePoint) -> float:
    """Return the size of a cache in what the axis counts."""
    return float(point.tokens if point.bytes is None else point.bytes)


def _label(value: float, *, in_bytes: bool) -> str:
    """Write a size at a tick."""
    if in_bytes:
        return format_bytes(value, digits=3)
    unit, size = next(((unit, size) for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)) if value >= size), ("", 1))
    return f"{value / size:,.3g}{unit}"
