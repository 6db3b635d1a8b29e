"""The fabric diagram: tiers in rows, machines below their leaf pair, each bundle drawn once."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from kvplan.render.fabric.fabric_layout import BOX_HEIGHT, BOX_WIDTH, LABEL, MARGIN, lay_out
from kvplan.render.fabric.labels import box_lines, is_switch, routes, uplink_label
from kvplan.render.fabric.svg import drawing, text, text_width
from kvplan.render.fabric.topology import topology
from kvplan.render.fabric.words import counted_title
from kvplan.render.svg import element

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kvplan.render.fabric.fabric_layout import Frame, Layout, Spot
    from kvplan.render.fabric.labels import Route
    from kvplan.render.fabric.topology import Topology
    from kvplan.schema.design import Design
    from kvplan.schema.roles import Role

_SMALL = 10.5
_TINY = 10.0
_LINE = 13.0
_WIRES = {"a": "wire ra", "b": "wire rb", "": "wire"}


def fabric_svg(design: Design) -> str:
    """Draw the fabric: switches by tier, machines below their leaf pair, bundles with what they carry.

    Parameters
    ----------
    design
        The design.

    Returns
    -------
    str
        A self-contained SVG document; what is alike in a large fabric is drawn once with its count.
    """
    shown = topology(design)
    layout = lay_out(shown)
    sketch = _Sketch(shown, layout)
    return drawing(
        "kvd-fabric",
        "Fabric diagram",
        _description(design, shown),
        (layout.width, layout.height),
        text(_headline(design), MARGIN, 34, "h"),
        *map(_frame, layout.frames),
        *sketch.wires(),
        *(_box(spot) for spot in layout.spots.values()),
        *sketch.labels(),
        *_legend(layout.height - 20, has_core=bool(shown.super_spines)),
    )


def _headline(design: Design) -> str:
    """Name what is drawn."""
    switches = design.switches
    counts: dict[Role, int] = {
        "super-spine": switches.super_spines,
        "spine": switches.spines,
        "leaf": switches.leaves,
    }
    named = ", ".join(counted_title(count, role) for role, count in counts.items() if count)
    return f"Fabric: {named}, oversubscription {switches.oversubscription:.3g}:1"


def _description(design: Design, shown: Topology) -> str:
    """Say in words what the drawing shows."""
    titles = {box.id: ", ".join(box_lines(box)[:2]) for tier in shown.tiers() for box in tier}
    joined = "; ".join(
        f"{titles[item.lower]} to {titles[item.upper]}: {item.legs} legs in all" for item in shown.bundles
    )
    return f"{_headline(design)}. {joined}."


def _frame(frame: Frame) -> str:
    """Draw a frame with its title below."""
    return element("rect", class_="frame", x=frame.x, y=frame.y, width=frame.width, height=frame.height, rx=8) + text(
        frame.title, frame.x + 12, frame.y + frame.height - 8, "s", fit=frame.width - 24, size=_SMALL
    )


def _box(spot: Spot) -> str:
    """Draw a box; several devices show as a stack."""
    box = spot.box
    sheets = (6.0, 3.0, 0.0) if len(box.names) > 1 and (spot.groups > 1 or is_switch(box)) else (0.0,)
    rects = (
        element("rect", class_=box.role, x=spot.x + sheet, y=spot.y + sheet, width=BOX_WIDTH, height=BOX_HEIGHT, rx=6)
        for sheet in sheets
    )
    middle = spot.x + BOX_WIDTH / 2
    lines = zip(box_lines(box, spot.groups), ("t m", "s m", "s m"), (20, 36, 50), (12.5, _SMALL, _SMALL), strict=True)
    return "".join(
        (
            *rects,
            *(
                text(line, middle, spot.y + drop, style, fit=BOX_WIDTH - 12, size=size)
                for line, style, drop, size in lines
            ),
        )
    )


class _Sketch:
    """The routes between boxes that have their place, and where each route begins and ends."""

    def __init__(self, shown: Topology, layout: Layout) -> None:
        self._spots = layout.spots
        self._routes = routes(shown)
        self._below: dict[str, list[str]] = defaultdict(list)
        self._above: dict[str, list[str]] = defaultdict(list)
        for route in self._routes:
            self._below[route.upper.id].append(route.lower.id)
            self._above[route.lower.id].append(route.upper.id)

    def wires(self) -> Iterator[str]:
        """Draw each route once; below its label it runs straight down."""
        for route in self._routes:
            upper, lower = self._spots[route.upper.id], self._spots[route.lower.id]
            start = self._anchor(upper, self._below[route.upper.id], route.lower.id)
            path = f"M{start:g} {upper.bottom:g}L{self._end(route):g} {lower.y - LABEL:g}V{lower.y:g}"
            yield element("path", class_=_WIRES[route.rail], d=path)

    def labels(self) -> Iterator[str]:
        """Write what each route carries at its lower end; those of a switch share one label."""
        upwards: dict[str, list[Route]] = defaultdict(list)
        for route in self._routes:
            if is_switch(route.lower):
                upwards[route.lower.id].append(route)
            else:
                yield from _pill(route.label, self._end(route), self._spots[route.lower.id].y - 3)
        for lower, shared in upwards.items():
            bundles = [item for route in shared for item in route.bundles]
            label = uplink_label(bundles, shared[0].upper)
            yield from _pill([label], self._end(shared[0]), self._spots[lower].y - 3)

    def _end(self, route: Route) -> float:
        """Let the routes of a switch meet in one label, and give each route of machines its own."""
        spot = self._spots[route.lower.id]
        if is_switch(route.lower):
            return spot.x + BOX_WIDTH / 2
        return self._anchor(spot, self._above[route.lower.id], route.upper.id)

    def _anchor(self, spot: Spot, others: Iterable[str], other: str) -> float:
        """Spread routes along an edge of a box, in the order of what they lead to."""
        ordered = sorted(others, key=lambda name: self._spots[name].x)
        return spot.x + BOX_WIDTH * (ordered.index(other) + 0.5) / len(ordered)


def _pill(lines: Sequence[str], x: float, bottom: float) -> Iterator[str]:
    """Write lines on a patch that hides the wires behind it."""
    width = max(text_width(line, _TINY) for line in lines) + 4
    top = bottom - _LINE * len(lines) - 3
    yield element("rect", class_="pill", x=x - width / 2, y=top, width=width, height=bottom - top, rx=3)
    for index, line in enumerate(lines):
        yield text(line, x, top + _LINE * (index + 1) - 2, "b m")


def _legend(y: float, *, has_core: bool) -> Iterator[str]:
    """Explain the wires."""
    entries = (("a", "rail a"), ("b", "rail b"), *((("", "both rails"),) if has_core else ()))
    x = MARGIN
    for rail, title in entries:
        yield element("path", class_=_WIRES[rail], d=f"M{x:g} {y - 4:g}h34")
        yield text(title, x + 42, y, "s")
        x += 110
