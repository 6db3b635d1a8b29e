"""Paths of values in a Plan: keys joined by dots, list elements in brackets by their name, else by their place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

CONSTANTS = "constants."
"""What paths of catalogue constants begin with."""

_STEP = re.compile(r"([^.\[\]]+)|\[([^\]]*)\]")
_NAMES = ("name", "id", "erasure_code")


def scalars(data: Any, path: str = "", *, skip: Collection[str] = ()) -> Iterator[tuple[str, Any]]:
    """Yield path and value of everything that is neither a list nor a record.

    Parameters
    ----------
    data
        Plain data.
    path
        Path of the data; empty for the whole.
    skip
        Keys at the top that are left out.

    Yields
    ------
    tuple of str and Any
        Path and value.

    References
    ----------
    Definition; `value_at` is its inverse.

    Examples
    --------
    >>> list(scalars({"a": 1, "b": [{"name": "x", "c": None}, 2]}))
    [('a', 1), ('b[x].name', 'x'), ('b[x].c', None), ('b[1]', 2)]
    """
    if isinstance(data, dict):
        for key, value in data.items():
            # Only at the top: a field of that name further down is data like any other.
            if path or key not in skip:
                yield from scalars(value, f"{path}.{key}" if path else str(key))
    elif isinstance(data, list | tuple):
        for name, value in zip(element_names(data), data, strict=True):
            yield from scalars(value, f"{path}[{name}]")
    else:
        yield path, data


def section_of(path: str) -> str:
    """Return the outermost field that a path lies in.

    Parameters
    ----------
    path
        Path of a value.

    Returns
    -------
    str
        Name of the field.

    References
    ----------
    Definition.

    Examples
    --------
    >>> section_of("network.stages[uplink].utilisation"), section_of("warnings[0]"), section_of("reason")
    ('network', 'warnings', 'reason')
    """
    return path.partition(".")[0].partition("[")[0]


def is_below(path: str, field: str) -> bool:
    """Tell whether a path leads into a field.

    Parameters
    ----------
    path
        Path of a value.
    field
        Path of what may hold it.

    Returns
    -------
    bool
        False for the field itself.

    References
    ----------
    Definition.

    Examples
    --------
    >>> is_below("kv.accounting", "kv"), is_below("kv[0]", "kv"), is_below("kv", "kv"), is_below("kvs.a", "kv")
    (True, True, False, False)
    """
    return path.startswith((f"{field}.", f"{field}["))


def is_numeric(value: Any) -> bool:
    """Tell whether a value is a number.

    Parameters
    ----------
    value
        Plain data.

    Returns
    -------
    bool
        False for a boolean, and for a text that reads like a number.

    References
    ----------
    Definition.

    Examples
    --------
    >>> [is_numeric(value) for value in (1, 0.5, True, "1", None)]
    [True, True, False, False, False]
    """
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def element_names(items: Collection[Any]) -> list[str]:
    """Name the elements of a list: by their own name, numbered where it comes again, else by their place.

    Parameters
    ----------
    items
        The elements.

    Returns
    -------
    list of str
        A name for each, no two alike as long as no name is a number.

    References
    ----------
    Definition.

    Examples
    --------
    >>> element_names([{"name": "x"}, {"id": "y"}, {"name": "x"}, 5])
    ['x', 'y', 'x#2', '3']
    """
    seen: dict[str, int] = {}
    names = []
    for place, item in enumerate(items):
        own = next((str(item[key]) for key in _NAMES if item.get(key)), "") if isinstance(item, dict) else ""
        seen[own] = seen.get(own, 0) + 1
        numbered = own if seen[own] == 1 else f"{own}#{seen[own]}"
        names.append(numbered if own else str(place))
    return names


def value_at(data: Any, path: str) -> Any:
    """Return the value at a path.

    Parameters
    ----------
    data
        Plain data.
    path
        Path as `scalars` writes it; elements with a name may be addressed by their place too.

    Returns
    -------
    Any
        What stands there.

    Raises
    ------
    KeyError
        When there is none.

    References
    ----------
    Definition; the inverse of `scalars`.

    Examples
    --------
    >>> value_at({"b": [{"name": "x", "c": 2}]}, "b[x].c"), value_at({"b": [{"name": "x", "c": 2}]}, "b[0].c")
    (2, 2)
    """
    return [data, *(value for _, value in _walked(data, path))][-1]


def canonical(data: Any, path: str) -> str:
    """Return a path with its elements addressed as `scalars` addresses them.

    Parameters
    ----------
    data
        Plain data.
    path
        Path in which elements may be addressed by their place.

    Returns
    -------
    str
        The path.

    Raises
    ------
    KeyError
        When there is no such path.

    References
    ----------
    Definition.

    Examples
    --------
    >>> canonical({"b": [{"name": "x", "c": 2}]}, "b[0].c")
    'b[x].c'
    """
    steps = [step for step, _ in _walked(data, path)]
    if not steps:
        raise KeyError(path)
    return "".join(steps).removeprefix(".")


def _walked(data: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield each step of a path, as `scalars` writes it, with the value it leads to."""
    for key, element in _STEP.findall(path):
        if key:
            if not isinstance(data, dict) or key not in data:
                raise KeyError(path)
            data = data[key]
            yield f".{key}", data
        else:
            if not isinstance(data, list):
                raise KeyError(path)
            names = element_names(data)
            place = names.index(element) if element in names else _place(element, len(names), path)
            data = data[place]
            yield f"[{names[place]}]", data


def _place(text: str, count: int, path: str) -> int:
    """Read the place of an element."""
    if not text.isdecimal() or int(text) >= count:
        raise KeyError(path)
    return int(text)
