"""Data as block-style YAML that every reader takes alike, be it of YAML 1.1 or 1.2."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    Scalar = str | int | float | bool | None
    Value = Scalar | Mapping[str, "Value"] | Sequence["Value"]

_PLAIN: Final = re.compile(r"[A-Za-z_/][A-Za-z0-9_./@+-]*( [A-Za-z0-9_./@+(][A-Za-z0-9_./@+()-]*)*")
"""Texts that may go without quotes: words that start with a letter and hold no sign that YAML reads."""
_WORDS: Final = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null", "none", "nan", "inf"])
"""Words that some reader takes for a boolean, for nothing or for a number."""
_LITERAL: Final = re.compile(r"[^\s][ -~\n]*\n[ -~\n]*")
"""Texts of several lines that a literal block can hold: printable, and no blank at the start."""
_UNWRITABLE: Final = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\ud800-\\udfff\\u2028\\u2029\\ufeff\\ufffe\\uffff]")
"""Characters that YAML has no place for, or that some reader takes for a line end."""
_STEP: Final = "  "


def yaml_text(data: Value) -> str:
    r"""Write data as one YAML document in block style, keys in the order given.

    A text is quoted wherever a reader of YAML 1.1 or 1.2 could take it for anything else: words such as `on`, numbers,
    base-60 numbers such as MAC addresses of digits alone, dates, addresses.

    Parameters
    ----------
    data
        Mappings, sequences and scalars.

    Returns
    -------
    str
        The document, with a line end at its end.

    Raises
    ------
    TypeError
        When something is neither mapping, sequence nor scalar.
    ValueError
        When a number is not finite, or a text holds a character that YAML has no place for.

    Examples
    --------
    >>> print(yaml_text({"enable": "on", "mac": "10:20:30:40:50:60", "rule": {"10": {}}, "ports": [1, "swp1"]}), end="")
    enable: "on"
    mac: "10:20:30:40:50:60"
    rule:
      "10": {}
    ports:
      - 1
      - swp1
    """
    if _is_leaf(data):
        return f"{_leaf(data, '')}\n"
    return "".join(f"{line}\n" for line in _lines(data, ""))


def _is_leaf(data: Value) -> bool:
    """Tell whether data stands on the line of its key."""
    return isinstance(data, str) or not isinstance(data, Mapping | Sequence) or not data


def _lines(data: Value, indent: str) -> Iterator[str]:
    """Write a mapping or a sequence that is not empty."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            yield from _entry(f"{indent}{_key(key)}:", value, indent)
    elif isinstance(data, Sequence):
        for value in data:
            yield from _item(value, indent)


def _entry(head: str, value: Value, indent: str) -> Iterator[str]:
    """Write a key with its value beside or below it."""
    if _is_leaf(value):
        yield f"{head} {_leaf(value, indent + _STEP)}"
        return
    yield head
    yield from _lines(value, indent + _STEP)


def _item(value: Value, indent: str) -> Iterator[str]:
    """Write an element of a sequence; the first line of what it holds goes beside the dash."""
    if _is_leaf(value):
        yield f"{indent}- {_leaf(value, indent + _STEP)}"
        return
    inner = indent + _STEP
    first, *rest = _lines(value, inner)
    yield f"{indent}- {first.removeprefix(inner)}"
    yield from rest


def _key(key: object) -> str:
    """Write a key, which is a text always."""
    if not isinstance(key, str):
        message = f"the key {key!r} is no text"
        raise TypeError(message)
    return _text(key)


def _leaf(value: object, indent: str) -> str:
    """Write a scalar, or an empty mapping or sequence."""
    if isinstance(value, str):
        return _block(value, indent) if _LITERAL.fullmatch(value) else _text(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _number(value)
    if not isinstance(value, Mapping | Sequence):
        message = f"{value!r} has no place in YAML"
        raise TypeError(message)
    return "{}" if isinstance(value, Mapping) else "[]"


def _number(value: float) -> str:
    """Write a number with a point, which a reader of YAML 1.1 wants before an exponent."""
    if not isfinite(value):
        message = f"{value!r} is no finite number"
        raise ValueError(message)
    text = repr(value)
    return text if "." in text else text.replace("e", ".0e")


def _text(value: str) -> str:
    """Write a text on one line, without quotes where no reader can misread it."""
    if _PLAIN.fullmatch(value) and value.casefold() not in _WORDS:
        return value
    if _UNWRITABLE.search(value):
        message = f"{value!r} holds a character that YAML has no place for"
        raise ValueError(message)
    return json.dumps(value, ensure_ascii=False)


def _block(value: str, indent: str) -> str:
    """Write a text of several lines as a literal block, which keeps or drops the last line end."""
    body = value.rstrip("\n")
    ends = len(value) - len(body)
    sign = {0: "|-", 1: "|"}.get(ends, "|+")
    lines = value.removesuffix("\n").split("\n")
    return "\n".join((sign, *(f"{indent}{line}" if line else "" for line in lines)))
