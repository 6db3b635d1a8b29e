"""What is shown, apart from how: sections of lines and grids that text, Markdown and CSV are all made from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: headers, rows of texts, columns aligned left (`l`) or right (`r`), and the row that is marked."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    align: str
    marked: int | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """A titled part of a result: lines of prose first, then a grid, then lines below it."""

    title: str
    lines: tuple[str, ...] = ()
    grid: Grid | None = None
    below: tuple[str, ...] = ()


View = tuple[Section, ...]
