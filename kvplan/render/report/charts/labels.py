"""Where the labels of points stand, so that none covers another or a point, nor a line if it can be helped."""

from __future__ import annotations

from itertools import pairwise
from math import ceil, hypot
from typing import TYPE_CHECKING

from kvplan.render.report.charts.boxes import Box, text_box
from kvplan.render.report.charts.frame import BOTTOM, LEFT, RIGHT
from kvplan.render.report.svg import WIDTH

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kvplan.render.report.charts.boxes import Anchor

Place = tuple[float, float]
_MARK = 6.0
_STEP = 3.0
_OFF, _COVERS, _CROSSES = 100, 10, 1
"""How bad it is for a label to leave the chart, to cover something, to cross a line."""
_RIGHT: tuple[tuple[float, float, Anchor], ...] = ((9, -7, "start"), (9, 17, "start"))
_LEFT: tuple[tuple[float, float, Anchor], ...] = ((-9, -7, "end"), (-9, 17, "end"))
_FAR: tuple[tuple[float, float, Anchor], ...] = (
    (0, 21, "middle"), (0, -12, "middle"), (9, -23, "start"), (-9, -23, "end"), (9, 33, "start"), (-9, 33, "end"),
)  # fmt: skip


def placed(
    points: Sequence[tuple[Place, str]], lines: Iterable[Sequence[Place]], taken: Iterable[Box] = ()
) -> tuple[tuple[float, float, Anchor], ...]:
    """Choose the place of each label, one after the other, beside its point or a little above or below.

    Parameters
    ----------
    points
        Each point with its label.
    lines
        What is drawn through the chart.
    taken
        Ground that no label may cover.

    Returns
    -------
    tuple of tuple
        Where the text of each label begins, is centred or ends.
    """
    marks = [Box(x - _MARK, y - _MARK, x + _MARK, y + _MARK) for (x, y), _ in points]
    dots = [dot for line in lines for dot in _dots(line)]
    covered = [*taken, *marks]
    found: list[tuple[float, float, Anchor]] = []
    for (x, y), label in points:
        near = (*_RIGHT, *_LEFT) if x < (LEFT + RIGHT) / 2 else (*_LEFT, *_RIGHT)
        choices = [(x + right, y + down, anchor) for right, down, anchor in (*near, *_FAR)]
        best = min(choices, key=lambda choice: _cost(text_box(choice[0], choice[1], label, choice[2]), covered, dots))
        covered.append(text_box(best[0], best[1], label, best[2]))
        found.append(best)
    return tuple(found)


def _cost(box: Box, covered: Sequence[Box], dots: Sequence[Place]) -> int:
    """Weigh what is wrong with a place."""
    off = box.left < 0 or box.right > WIDTH or box.top < 0 or box.bottom > BOTTOM
    crosses = any(box.left < x < box.right and box.top < y < box.bottom for x, y in dots)
    return _OFF * off + _COVERS * sum(map(box.meets, covered)) + _CROSSES * crosses


def _dots(line: Sequence[Place]) -> Iterable[Place]:
    """Yield places along a line, so close that no label lies between them."""
    for (x, y), (to_x, to_y) in pairwise(line):
        count = max(ceil(hypot(to_x - x, to_y - y) / _STEP), 1)
        yield from ((x + (to_x - x) * at / count, y + (to_y - y) * at / count) for at in range(count + 1))
