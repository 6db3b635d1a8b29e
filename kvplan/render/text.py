"""A view as text for a terminal, readable without colour."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

if TYPE_CHECKING:
    from kvplan.render.view import Grid, View

DEFAULT_WIDTH = 80
MARK = ">"


def view_text(view: View, *, width: int = DEFAULT_WIDTH, color: bool = False) -> str:
    """Lay a view out in so many columns.

    Parameters
    ----------
    view
        The sections.
    width
        Columns of the terminal; lines are wrapped to it.
    color
        Whether to add ANSI colours.

    Returns
    -------
    str
        The text, ending in a newline.
    """
    console = text_console(width, color=color)
    for position, section in enumerate(view):
        if position:
            console.print()
        console.print(f"[bold]{escape(section.title)}[/bold]")
        for line in section.lines:
            console.print(Padding(escape(line), (0, 0, 0, 2)))
        if section.grid is not None:
            console.print(_table(section.grid))
        for line in section.below:
            console.print(Padding(escape(line), (0, 0, 0, 2)))
    return captured(console)


def text_console(width: int = DEFAULT_WIDTH, *, color: bool = False) -> Console:
    """Return a console that writes to memory, also for renderers that lay out something else than a view."""
    return Console(
        file=io.StringIO(),
        width=max(width, 40),
        force_terminal=color,
        color_system="standard" if color else None,
        no_color=not color,
        highlight=False,
        emoji=False,
        legacy_windows=False,
    )


def captured(console: Console) -> str:
    """Return what was written to a console in memory, without trailing blanks."""
    written = console.file.getvalue() if isinstance(console.file, io.StringIO) else ""
    return "\n".join(line.rstrip() for line in written.splitlines()) + "\n"


def _table(grid: Grid) -> Table:
    """Build the terminal's table of a grid; the marked row carries a sign, not only a colour."""
    table = Table(
        box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="", padding=(0, 1), collapse_padding=True
    )
    has_mark = grid.marked is not None
    if has_mark:
        table.add_column("", width=1, no_wrap=True)
    for header, side in zip(grid.headers, grid.align, strict=True):
        table.add_column(escape(header), justify="right" if side == "r" else "left", overflow="fold")
    for index, row in enumerate(grid.rows):
        # The mark is a sign and not only a style, so that it survives pipes and colour-blind eyes.
        is_marked = index == grid.marked
        cells = [escape(cell) for cell in row]
        table.add_row(*([MARK if is_marked else ""] if has_mark else []), *cells, style="bold" if is_marked else None)
    return table
