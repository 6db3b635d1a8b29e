"""Lines of JSON: what a line holds, and which form it is a row of."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NoReturn

from kvplan.traces.malformed import RowError
from kvplan.traces.texts import TEXT_KEYS

if TYPE_CHECKING:
    from kvplan.traces.records import TraceKind


def kind_of(line: bytes) -> TraceKind | None:
    """Tell the form of a trace by one of its lines.

    Parameters
    ----------
    line
        The line.

    Returns
    -------
    TraceKind or None
        The form; None where the line is no row of any.

    Examples
    --------
    >>> kind_of(b'{"timestamp": 0, "input_length": 9, "hash_ids": [1]}'), kind_of(b"TIMESTAMP,ContextTokens")
    ('mooncake', None)
    """
    try:
        row = row_of(line)
    except RowError:
        return None
    signs: tuple[tuple[bool, TraceKind], ...] = (
        (isinstance(row.get("data"), list), "aiperf-inputs"),
        ("chat_id" in row, "bailian"),
        (any(key in row for key in TEXT_KEYS), "aiperf-text"),
        ("session_id" in row and "input_length" in row, "aiperf-sessions"),
        ("hash_ids" in row, "mooncake"),
        ("input_length" in row, "lengths"),
    )
    return next((kind for is_it, kind in signs if is_it), None)


def row_of(line: bytes) -> dict[str, Any]:
    """Read a line.

    Parameters
    ----------
    line
        An object of JSON.

    Returns
    -------
    dict
        The object.

    Raises
    ------
    RowError
        When it is none.

    Examples
    --------
    >>> row_of(b'{"turn": 2}')
    {'turn': 2}
    """
    try:
        row = _DECODER.decode(line.decode())
    except UnicodeDecodeError as error:
        raise RowError(what="is not UTF-8", column=error.start + 1) from error
    except json.JSONDecodeError as error:
        ends = error.pos >= len(error.doc) or error.msg.startswith("Unterminated")
        what = "ends in the middle" if ends else "is not JSON"
        raise RowError(what=what, column=error.pos + 1) from error
    except RecursionError as error:
        raise RowError(what="nested too deeply") from error
    except ValueError as error:
        raise RowError(what="holds a number that JSON does not allow") from error
    if not isinstance(row, dict):
        raise RowError(what="must be an object in braces")
    return row


def _refuse(token: str) -> NoReturn:
    """Refuse NaN and the infinities."""
    raise ValueError(token)


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse)
