"""The fabric diagram for Graphviz: a rank for each tier, bundles as edges with what they carry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.render.fabric.labels import box_lines, routes
from kvplan.render.fabric.palette import LIGHT
from kvplan.render.fabric.topology import topology

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.render.fabric.labels import Route
    from kvplan.render.fabric.topology import Box, Topology
    from kvplan.schema.design import Design

_STYLES = {"a": (LIGHT["rail-a"], "solid"), "b": (LIGHT["rail-b"], "dashed"), "": (LIGHT["core"], "bold")}


def fabric_dot(design: Design) -> str:
    """Write the fabric as an undirected graph.

    Parameters
    ----------
    design
        The design.

    Returns
    -------
    str
        A graph in the DOT language, to be laid out by `dot`.
    """
    shown = topology(design)
    return "\n".join(
        (
            "graph fabric {",
            '  graph [rankdir=TB, ordering=out, ranksep=1.1, nodesep=0.5, newrank=true, fontname="Helvetica"];',
            '  node [shape=box, style="rounded,filled", fontname="Helvetica", fontsize=11];',
            '  edge [fontname="Helvetica", fontsize=9, penwidth=1.6];',
            *(line for tier in shown.tiers() for line in _tier(shown, tier)),
            *(_edge(route) for route in routes(shown)),
            "}",
            "",
        )
    )


def quoted(text: str) -> str:
    r"""Write a DOT string.

    >>> print(quoted('a "b" c\\d'))
    "a \"b\" c\\d"
    """
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _tier(shown: Topology, boxes: tuple[Box, ...]) -> Iterator[str]:
    """Write the boxes of one tier on one rank."""
    if not boxes:
        return
    yield "  {"
    yield "    rank=same;"
    for box in boxes:
        label = quoted("\n".join(box_lines(box, shown.groups_of(box))))
        colours = f'fillcolor="{LIGHT[box.role]}", color="{LIGHT[f"{box.role}-edge"]}"'
        yield f"    {quoted(box.id)} [label={label}, {colours}];"
    yield "  }"


def _edge(route: Route) -> str:
    """Write one edge; the line style tells the rail, not the colour alone."""
    colour, style = _STYLES[route.rail]
    label = quoted("\n".join(route.label))
    ends = f"{quoted(route.upper.id)} -- {quoted(route.lower.id)}"
    return f'  {ends} [label={label}, color="{colour}", style={style}];'
