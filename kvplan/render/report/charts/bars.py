"""Charts of bars: margins over limits, use of each stage, what is left with something lost, space by use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kvplan.render.report.charts.frame import ROW, bar_swatch, legend
from kvplan.render.report.scales import Scale
from kvplan.render.report.svg import DOTS, HATCH, WIDTH, drawing, line, path, rect, text, texture

if TYPE_CHECKING:
    from collections.abc import Sequence

_END = WIDTH - 84.0
"""Where bars end at most, so that their value has room behind them."""
_THICK, _THIN = 14.0, 10.0
_LOOKS = (("first", ""), ("second", HATCH), ("quiet", DOTS))
"""Colour and texture of the first, second and third piece of a bar."""
_MARGIN_TICKS = ((0.25, "1/4 of need"), (1, "need"), (4, "4 x"), (16, "16 x"), (64, "64 x"))


@dataclass(frozen=True, slots=True)
class Margin:
    """One limit: have over need, written out, and whether it holds."""

    name: str
    detail: str
    ratio: float
    label: str
    holds: bool


@dataclass(frozen=True, slots=True)
class Load:
    """One stage: the share of its planned rate that reads and that writes take, and whether it binds."""

    name: str
    reads: float
    writes: float
    binds: bool


@dataclass(frozen=True, slots=True)
class Left:
    """One state: the share of reads that is left, and what it comes to."""

    name: str
    share: float
    detail: str


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of a bar: its share of the whole, and its words."""

    share: float
    words: str


def margins_chart(chart: str, title: str, words: str, margins: Sequence[Margin]) -> str:
    """Draw have over need, limit by limit, by powers of four: right of the line is room, left of it is lack."""
    scale = Scale(0.25, 64, 0, _END, log=True)
    pitch, top = 46.0, 34.0
    bottom = top + pitch * len(margins) - 8
    ticks = "".join(
        text(scale.at(value), 14, label, "tick", anchor="start" if index == 0 else "middle")
        for index, (value, label) in enumerate(_MARGIN_TICKS)
    )
    rows = "".join(_margin(scale, item, top + pitch * index) for index, item in enumerate(margins))
    return drawing(chart, title, words, bottom + 6, (ticks, rows))


def _margin(scale: Scale, item: Margin, top: float) -> str:
    """Draw one limit: its name and numbers above, the bar from the line of need below."""
    need, have = scale.at(1), scale.at(item.ratio)
    kind = "first" if item.holds else "bad"
    ticks = "".join(
        line((scale.at(value), top + 14), (scale.at(value), top + 14 + _THICK), "grid") for value, _ in _MARGIN_TICKS
    )
    zero = line((need, top + 11), (need, top + 17 + _THICK), "axis")
    bar = rect(min(need, have), top + 14, max(abs(have - need), 2), _THICK, kind)
    if not item.holds:
        bar += texture(HATCH, min(need, have), top + 14, abs(have - need), _THICK)
    if not scale.low <= item.ratio <= scale.high:
        bar += _slit(have, top + 14)
    value = text(max(need, have) + 8, top + 25, item.label, "value")
    head = text(0, top + 8, item.name) + text(WIDTH, top + 8, item.detail, "detail", anchor="end")
    return head + ticks + bar + zero + value


def _slit(end: float, top: float) -> str:
    """Cut through a bar near that end of the scale, left or right, beyond which it goes on."""
    at = end - 22 if end else 14.0
    return path(((at, top + _THICK + 2), (at + 8, top - 2)), "slit")


def loads_chart(chart: str, title: str, words: str, loads: Sequence[Load]) -> str:
    """Draw the share of each stage's planned rate that reads and writes take; the line is all of it."""
    pitch, top = 45.0, 14.0
    most = max(1.0, *(max(load.reads, load.writes) for load in loads))
    scale = Scale(0, most, 0, _END)
    bottom = top + pitch * len(loads)
    full = line((scale.at(1), 20), (scale.at(1), bottom), "need") + text(
        scale.at(1), 13, "100 % of planned", "tick", anchor="end"
    )
    rows = "".join(_load(scale, load, top + pitch * index) for index, load in enumerate(loads))
    entries = (
        (bar_swatch("first"), "reads, share of what is planned"),
        (bar_swatch("second", HATCH), "writes, share of what is planned"),
    )
    return drawing(chart, title, words, bottom + 18 + ROW * len(entries), (full, rows, legend(entries, bottom + 20)))


def _load(scale: Scale, load: Load, top: float) -> str:
    """Draw one stage: name, reads above writes, and the word where it binds."""
    reads, writes = scale.at(load.reads), scale.at(load.writes)
    name = f"{load.name}: binding" if load.binds else load.name
    return (
        text(0, top + 12, name, "strong" if load.binds else "")
        + rect(0, top + 18, max(reads, 1), _THIN, "first")
        + text(reads + 6, top + 27, _percent(load.reads), "value")
        + rect(0, top + 29, max(writes, 1), _THIN, "second")
        + texture(HATCH, 0, top + 29, max(writes, 1), _THIN)
        + text(writes + 6, top + 38.5, _percent(load.writes), "value")
    )


def left_chart(chart: str, title: str, words: str, states: Sequence[Left]) -> str:
    """Draw the share of the normal read rate that is left in each state."""
    pitch = 42.0
    scale = Scale(0, 1, 0, _END)
    rows = "".join(_left(scale, state, pitch * index) for index, state in enumerate(states))
    return drawing(chart, title, words, pitch * len(states) + 2, (rows,))


def _left(scale: Scale, state: Left, top: float) -> str:
    """Draw one state: what is lost, the bar over an outline of the normal rate, and the share."""
    return (
        text(0, top + 13, state.name)
        + text(WIDTH, top + 13, state.detail, "detail", anchor="end")
        + rect(0, top + 20, _END, _THICK, "outline")
        + rect(0, top + 20, scale.at(state.share), _THICK, "first")
        + text(_END + 8, top + 31, _percent(state.share), "value")
    )


def pieces_chart(chart: str, title: str, words: str, bars: Sequence[tuple[str, Sequence[Piece]]]) -> str:
    """Draw bars that are each a whole, parted into pieces; the words of the pieces stand under their bar."""
    drawn: list[str] = []
    top = 0.0
    for name, pieces in bars:
        drawn.append(text(0, top + 13, name, "strong"))
        drawn.append(_pieces(pieces, top + 22))
        entries = [(bar_swatch(*look), piece.words) for look, piece in zip(_LOOKS, pieces, strict=False)]
        drawn.append(legend(entries, top + 66))
        top += 66 + ROW * len(pieces) + 12
    return drawing(chart, title, words, top - 14, drawn)


def _pieces(pieces: Sequence[Piece], top: float) -> str:
    """Draw the pieces of one bar, each in its colour and pattern."""
    drawn, start = [], 0.0
    for piece, (kind, textured) in zip(pieces, _LOOKS, strict=False):
        width = piece.share * WIDTH
        drawn.append(rect(start, top, width, 26, kind))
        if textured:
            drawn.append(texture(textured, start, top, width, 26))
        start += width
    return "".join(drawn)


def _percent(share: float) -> str:
    """Write a share; what is little but not nothing is no 0 %."""
    return "< 1 %" if 0 < share < 0.005 else f"{100 * share:.0f} %"  # noqa: PLR2004 - what would round to 0 %
