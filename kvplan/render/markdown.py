"""A view as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kvplan.render.view import Grid, View

_RULES = {"l": ":--", "r": "--:"}


def view_markdown(view: View, *, title: str = "") -> str:
    """Write a view as a Markdown document.

    Parameters
    ----------
    view
        The sections; each becomes a second-level heading.
    title
        First-level heading, if any.

    Returns
    -------
    str
        The document, ending in a newline.
    """
    parts = [f"# {title}"] if title else []
    for section in view:
        parts.append(f"## {section.title}")
        if section.lines:
            parts.append("\n".join(f"- {_escaped(line)}" for line in section.lines))
        if section.grid is not None:
            parts.append(_table(section.grid))
        if section.below:
            parts.append("\n".join(f"- {_escaped(line)}" for line in section.below))
    return "\n\n".join(parts) + "\n"


def _table(grid: Grid) -> str:
    """Write a grid as a Markdown table; the marked row is bold."""
    lines = [_row(grid.headers), _row(tuple(_RULES[side] for side in grid.align))]
    for index, cells in enumerate(grid.rows):
        texts = tuple(_escaped(cell) for cell in cells)
        lines.append(_row(tuple(f"**{text}**" if text else "" for text in texts) if index == grid.marked else texts))
    return "\n".join(lines)


def _row(cells: tuple[str, ...]) -> str:
    """Join the cells of one row."""
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    """Keep a text from being read as markup."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
