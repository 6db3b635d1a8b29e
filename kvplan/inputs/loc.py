"""Paths of values inside a document."""

from __future__ import annotations

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
