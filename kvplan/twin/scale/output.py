"""`-Y` output: a HEADER line of field names, rows below it, values percent-encoded, a colon after the last one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_ESCAPED = {"%": "%25", ":": "%3A", "/": "%2F", "\n": "%0A"}


def encoded(value: Any) -> str:
    """Encode a value; spaces stay, as in the real output.

    Parameters
    ----------
    value
        What the field holds; True and False are yes and no.

    Returns
    -------
    str
        The text between two colons.

    Examples
    --------
    >>> encoded("/kvfs: 85%")
    '%2Fkvfs%3A 85%25'
    """
    text = {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
    return "".join(_ESCAPED.get(letter, letter) for letter in text)


def header(command: str, section: str, fields: str) -> str:
    """Return a HEADER line.

    Parameters
    ----------
    command
        Its name.
    section
        Section of the output; may be empty.
    fields
        Names with blanks between.

    Returns
    -------
    str
        The line.

    Examples
    --------
    >>> header("mmgetstate", "", "nodeName state")
    'mmgetstate::HEADER:version:reserved:reserved:nodeName:state:'
    """
    return ":".join([command, section, "HEADER", "version", "reserved", "reserved", *fields.split(), ""])


def row(command: str, section: str, values: Iterable[Any]) -> str:
    """Return a row below a HEADER line.

    Parameters
    ----------
    command
        Its name.
    section
        Section of the output.
    values
        In the order of the header.

    Returns
    -------
    str
        The line.

    Examples
    --------
    >>> row("mmgetstate", "", ["ec01", "active"])
    'mmgetstate::0:1:::ec01:active:'
    """
    return ":".join([command, section, "0", "1", "", "", *(encoded(value) for value in values), ""])


def table(command: str, section: str, fields: str, rows: Iterable[Sequence[Any]]) -> list[str]:
    """Return a HEADER line and its rows.

    Parameters
    ----------
    command
        Its name.
    section
        Section of the output.
    fields
        Names with blanks between.
    rows
        Values in that order.

    Returns
    -------
    list of str
        The lines.
    """
    return [header(command, section, fields), *(row(command, section, values) for values in rows)]
