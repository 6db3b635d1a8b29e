"""The fabric diagram for Mermaid, as Markdown viewers draw it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.render.fabric.labels import box_lines, routes
from kvplan.render.fabric.palette import LIGHT
from kvplan.render.fabric.topology import topology

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvplan.schema.design import Design
    from kvplan.schema.roles import Role

_LINKS = {"a": ("--", "---"), "b": ("-.", ".-"), "": ("==", "===")}


def fabric_mermaid(design: Design) -> str:
    """Write the fabric as a flowchart from the core down.

    Parameters
    ----------
    design
        The design.

    Returns
    -------
    str
        Mermaid text; rail a is a plain line, rail b a dotted one.
    """
    shown = topology(design)
    boxes = [box for tier in shown.tiers() for box in tier]
    names = {box.id: f"n{number}" for number, box in enumerate(boxes, start=1)}
    lines = ["flowchart TB"]
    lines += [
        f'  {names[box.id]}["{_text(box_lines(box, shown.groups_of(box)))}"]:::{_style(box.role)}' for box in boxes
    ]
    for route in routes(shown):
        opening, closing = _LINKS[route.rail]
        ends = names[route.upper.id], names[route.lower.id]
        lines.append(f'  {ends[0]} {opening} "{_text(route.label)}" {closing} {ends[1]}')
    for role in dict.fromkeys(box.role for box in boxes):
        lines.append(
            f"  classDef {_style(role)} fill:{LIGHT[role]},stroke:{LIGHT[f'{role}-edge']},color:{LIGHT['ink']}"
        )
    return "\n".join(lines) + "\n"


def _style(role: Role) -> str:
    """Name the style of a role; a hyphen could be read as part of a link."""
    return role.replace("-", "_")


def _text(lines: Iterable[str]) -> str:
    """Write lines as a label; what Mermaid would read as markup is written as entities.

    >>> _text(["a <b>", 'c "d"'])
    'a #lt;b#gt;<br/>c #quot;d#quot;'
    """
    marks = {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;"}
    return "<br/>".join("".join(marks.get(char, char) for char in line) for line in lines)
