"""Commands of Storage Scale: run them, read their `-Y` output by the names of its headers, say what helps.

Python 3.9 and the standard library: this runs on the managed nodes.
"""
# ruff: noqa: INP001

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from ansible.module_utils.mm_remedies import REMEDIES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

BIN = "/usr/lpp/mmfs/bin"
_FIXED = 6
_NOISE = re.compile(r"6027-1639|Command failed\. Examine previous|6027-1371|Propagating the cluster configuration")


class MmError(Exception):
    """A command failed or said something unexpected."""

    def __init__(self, message: str, command: Sequence[str] = (), rc: int | None = None) -> None:
        super().__init__(message)
        self.message, self.command, self.rc = message, list(command), rc

    @property
    def remedy(self) -> str:
        """What helps, or nothing."""
        return remedy(self.message)


def remedy(message: str) -> str:
    """Return what helps against a message.

    Parameters
    ----------
    message
        What a command said.

    Returns
    -------
    str
        Advice; empty when none is known.
    """
    return next((text for pattern, text in REMEDIES if re.search(pattern, message)), "")


def cause(out: str, err: str) -> str:
    """Return the lines that say why a command failed.

    Parameters
    ----------
    out
        Its standard output, which counts when the other is empty.
    err
        Its standard error.

    Returns
    -------
    str
        Without the lines that every failure has.
    """
    lines = [line.strip() for line in (err.strip() or out.strip()).splitlines() if line.strip()]
    return "\n".join([line for line in lines if not _NOISE.search(line)] or lines) or "no message"


def yes(text: str) -> bool:
    """Read yes or no; raises ValueError.

    Parameters
    ----------
    text
        As a command printed it.

    Returns
    -------
    bool
        Whether it was yes.
    """
    return {"yes": True, "no": False}[text.lower()] if text.lower() in ("yes", "no") else _not_yes(text)


def _not_yes(text: str) -> bool:
    """Complain."""
    message = f"{text!r} is neither yes nor no"
    raise ValueError(message)


def rows(
    text: str, command: str, section: str, columns: Mapping[str, Callable[[str], Any]], *, header: bool = True
) -> list[dict[str, Any]]:
    """Read the rows of a section by the names of its columns.

    Parameters
    ----------
    text
        Output of a command with `-Y`.
    command
        First field of its lines.
    section
        Second field; may be empty.
    columns
        Type of each wanted column.
    header
        Whether the section must be there.

    Returns
    -------
    list of dict
        Values by column, decoded and converted.

    Raises
    ------
    MmError
        When a column or the header is missing, or a value is not of its type.
    """
    names: list[str] | None = None
    found = []
    for line in text.splitlines():
        fields = line.split(":")
        if fields[:2] != [command, section] or len(fields) < _FIXED:
            continue
        if fields[2] == "HEADER":
            names = fields
            _need_columns(columns, command, section, names[_FIXED:])
        elif names is None:
            message = f"{command}: section {section!r} has a row before its HEADER"
            raise MmError(message)
        else:
            found.append({name: _value(fields, names, name, kind, command) for name, kind in columns.items()})
    if names is None and header:
        seen = sorted({line.split(":")[1] for line in text.splitlines() if line.count(":") > _FIXED})
        message = f"{command}: no HEADER of section {section!r}; sections seen: {', '.join(seen) or 'none'}"
        raise MmError(message)
    return found


def _need_columns(columns: Mapping[str, Any], command: str, section: str, seen: Sequence[str]) -> None:
    """Fail loudly when this release names its columns otherwise."""
    missing = [name for name in columns if name not in seen]
    if missing:
        message = (
            f"{command}: section {section!r} has no column {', '.join(missing)}; "
            f"columns seen: {', '.join(name for name in seen if name)}"
        )
        raise MmError(message)


def _value(fields: Sequence[str], names: Sequence[str], name: str, kind: Callable[[str], Any], command: str) -> Any:
    """Return a value of a row."""
    at = names.index(name, _FIXED)
    text = unquote(fields[at]) if at < len(fields) else ""
    try:
        return kind(text)
    except ValueError as wrong:
        message = f"{command}: column {name} holds {text!r}: {wrong}"
        raise MmError(message) from wrong


_UNITS = re.compile(r"(\d+)\s+(\w+)")
_TITLE = re.compile(r"^vdisk\s+RAID code\s+disk group fault tolerance\b")


def tolerances(text: str) -> dict[str, tuple[str, dict[str, int]]]:
    """Read what `mmvdisk recoverygroup list --fault-tolerance` says of vdisks; the table is all that there is of it.

    Parameters
    ----------
    text
        Its output.

    Returns
    -------
    dict
        By vdisk its code, and how many of each kind it survives together, such as `{"node": 1, "pdisk": 1}`.

    Raises
    ------
    MmError
        When the table is not there, or one of its cells cannot be read.
    """
    lines = text.splitlines()
    start = next((number for number, line in enumerate(lines) if _TITLE.match(line)), None)
    if start is None or not set(lines[start + 1]) <= {"-", " "}:
        message = "mmvdisk: no table of the fault tolerance of vdisks; the first lines are: " + " | ".join(lines[:3])
        raise MmError(message)
    spans = [found.span() for found in re.finditer(r"-+", lines[start + 1])]
    found: dict[str, tuple[str, dict[str, int]]] = {}
    for line in lines[start + 2 :]:
        if not line.strip():
            break
        # a long name pushes the rest of its row to the right
        cells = re.split(r"\s{2,}", line.strip())
        counts = _UNITS.findall(cells[2]) if len(cells) >= len(spans) - 1 else []
        if not counts:
            message = f"mmvdisk: the fault tolerance of a vdisk cannot be read: {line.strip()!r}"
            raise MmError(message)
        found[cells[0]] = (cells[1].lower(), {unit.rstrip("s"): int(count) for count, unit in counts})
    return found


def size_bytes(text: str) -> int:
    """Read `4m`, `16M`, `625733G` or bytes; raises ValueError.

    Parameters
    ----------
    text
        Number and binary suffix.

    Returns
    -------
    int
        Bytes.
    """
    suffixes = "KMGTP"
    plain = str(text).strip().upper().rstrip("B")
    if plain[-1:] and plain[-1] in suffixes:
        return int(float(plain[:-1]) * (1 << 10 * (suffixes.index(plain[-1]) + 1)))
    return int(plain)


def same_value(one: str, other: str) -> bool:
    """Tell whether two spellings of a parameter's value mean the same.

    Parameters
    ----------
    one
        Such as `yes`, `16M`.
    other
        Such as `1`, `16777216`.

    Returns
    -------
    bool
        Whether they do.
    """
    return _plain(one) == _plain(other)


def _plain(text: str) -> str:
    """Return the spelling that the daemon uses."""
    word = {"yes": "1", "no": "0"}.get(str(text).strip().lower(), str(text).strip())
    return str(size_bytes(word)) if re.fullmatch(r"\d+[KMGTP]?", word, re.IGNORECASE) else " ".join(word.split())
