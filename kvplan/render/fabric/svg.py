"""The drawings of a design as SVG: their style sheet, their frame, and how wide a text is."""

from __future__ import annotations

from html import escape

from kvplan.render.fabric.palette import STYLE
from kvplan.render.svg import element, value_text

TEXT_WIDTH_EM = 0.6
"""Width of a character of a sans-serif text on average, in parts of its size."""


def text(content: str, x: float, y: float, class_: str, *, fit: float | None = None, size: float = 11) -> str:
    """Write a text at a place, escaped, and cut where it is wider than `fit`."""
    return element("text", escape(cut(content, fit, size), quote=False), x=x, y=y, class_=class_)


def cut(content: str, width: float | None, size: float) -> str:
    """Cut a text to a width.

    >>> cut("storage-001 to storage-252", 80, 10), cut("short", 80, 10), cut("any", None, 10)
    ('storage-001 …', 'short', 'any')
    """
    most = len(content) if width is None else int(width / (size * TEXT_WIDTH_EM))
    return content if len(content) <= most else f"{content[: most - 1]}…"


def text_width(content: str, size: float) -> float:
    """Estimate how wide a text is."""
    return len(content) * size * TEXT_WIDTH_EM


def drawing(id_: str, title: str, description: str, size: tuple[float, float], *children: str) -> str:
    """Write a whole drawing with its title, description and style, in a size that shrinks with its page.

    Parameters
    ----------
    id_
        What its ids begin with, so that two drawings can stand in one page.
    title
        What it shows, in a few words.
    description
        What it says, for those who cannot see it.
    size
        Width and height.
    *children
        Its elements.

    Returns
    -------
    str
        The SVG document, ending in a newline.
    """
    width, height = size
    svg = element(
        "svg",
        element("title", escape(title, quote=False), id=f"{id_}-title"),
        element("desc", escape(description, quote=False), id=f"{id_}-desc"),
        element("style", STYLE),
        element("rect", class_="paper", width=width, height=height, rx=8),
        *children,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {value_text(width)} {value_text(height)}",
        width=width,
        height=height,
        class_="kvd",
        role="img",
        aria_labelledby=f"{id_}-title {id_}-desc",
    )
    return f"{svg}\n"
