"""Paths of values inside a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kvplan.errors import Problem

Loc = tuple[str | int, ...]
"""The path of a value: keys of mappings and indices of lists."""


def key_path(loc: Loc) -> str:
    """Write a path as people do.

    Parameters
    ----------
    loc
        The path.

    Returns
    -------
    str
        Keys joined by dots, indices in brackets; empty for the whole document.

    Examples
    --------
    >>> key_path(("nodes", 1, "ram_gb")), key_path((3, "value")), key_path(())
    ('nodes[1].ram_gb', '[3].value', '')
    """
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).removeprefix(".")


def place_of(text: str, offset: int, name: str) -> str:
    """Write an offset in a text as a place.

    Parameters
    ----------
    text
        The whole text.
    offset
        Characters before the place.
    name
        Name of the file.

    Returns
    -------
    str
        `file:line:column`, both counted from 1.

    Examples
    --------
    >>> place_of("one line", 4, "f.yaml")
    'f.yaml:1:5'
    """
    line = text.count("\n", 0, offset) + 1
    return f"{name}:{line}:{offset - text.rfind(chr(10), 0, offset)}"


def line_and_column(problem: Problem) -> tuple[int, ...]:
    """Order problems as they stand in a file: the key of a sort.

    Parameters
    ----------
    problem
        A problem whose place is `file:line:column`.

    Returns
    -------
    tuple of int
        Line and column; empty where the place is none.
    """
    return tuple(int(part) for part in problem.where.split(":")[-2:] if part.isdigit())
