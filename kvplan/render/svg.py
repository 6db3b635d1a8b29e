"""SVG as text: elements with everything escaped."""

from __future__ import annotations

from html import escape
from math import ceil


def element(name: str, *children: str, **attributes: object) -> str:
    """Write an element; attributes are named with `_` for `-`, and `class_` for class.

    >>> element("text", "a < b", x=1.25, class_="t")
    '<text x="1.2" class="t">a < b</text>'
    >>> element("rect", width=10.0)
    '<rect width="10"/>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value_text(value))}"' for key, value in attributes.items()
    )
    inner = "".join(children)
    return f"<{name}{written}>{inner}</{name}>" if inner else f"<{name}{written}/>"


def value_text(value: object) -> str:
    """Write an attribute's value; a tenth of a pixel is enough.

    >>> value_text(1.25), value_text(10.0), value_text("a")
    ('1.2', '10', 'a')
    """
    return f"{round(value, 1):g}" if isinstance(value, float) else str(value)


def hatching(x: float, y: float, width: float, height: float, *, step: int) -> str:
    """Return the path of hatching within a rectangle: rising lines, each a step from the next.

    A pattern would be shorter, but printers are sent a picture of it, many times the size of everything else.

    >>> hatching(0, 0, 8, 4, step=4)
    'M0 4L4 0M4 4L8 0'
    """
    right, bottom = x + width, y + height
    lines = []
    for total in range(ceil((x + y) / step) * step, ceil(right + bottom), step):
        start, end = max(x, total - bottom), min(right, total - y)
        if end > start:
            ends = (start, total - start, end, total - end)
            lines.append("M{} {}L{} {}".format(*(value_text(float(value)) for value in ends)))
    return "".join(lines)
