"""Lines that cannot be used: counted, and the first of them kept with place and reason."""

from __future__ import annotations

from typing import Any, Final

from kvplan.errors import Problem, shown

MAX_KEPT: Final = 10
MAX_TOKENS: Final = 10**9
"""More tokens than this in one request is no trace [tokens]."""
MAX_TIME: Final = 1e15
"""Beyond any clock: 30,000 years in ms."""


class RowError(Exception):
    """A line that cannot be used: which key, what is wrong, and what is allowed."""

    def __init__(self, *, what: str, key: str = "", allowed: str = "", column: int = 0) -> None:
        super().__init__(what)
        self.what, self.key, self.allowed, self.column = what, key, allowed, column


class Malformed:
    """Counts lines that cannot be used.

    >>> found = Malformed("t.jsonl")
    >>> found.add(3, RowError(what="must be at least 1, not 0", key="input_length"))
    >>> found.count, str(found.problems[0])
    (1, 't.jsonl:3: input_length: must be at least 1, not 0')
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.count = 0
        self.problems: list[Problem] = []

    def add(self, line: int, error: RowError) -> None:
        """Count a line, and keep its problem while there are few.

        Parameters
        ----------
        line
            Its number, from 1.
        error
            What is wrong.
        """
        self.count += 1
        if len(self.problems) < MAX_KEPT:
            where = f"{self.name}:{line}:{error.column}" if error.column else f"{self.name}:{line}"
            self.problems.append(Problem(where, error.what, key=error.key, allowed=error.allowed))


def tokens_of(row: dict[str, Any], key: str, *, least: int, default: int | None = None) -> int:
    """Return a count of tokens from a row.

    Parameters
    ----------
    row
        The row.
    key
        Its key.
    least
        The least that is allowed [tokens].
    default
        What a missing count stands for [tokens]; None where it must be there.

    Returns
    -------
    int
        The count [tokens].

    Raises
    ------
    RowError
        When it is missing, no whole number, or out of range.

    Examples
    --------
    >>> tokens_of({"input_length": 6758}, "input_length", least=1)
    6758
    """
    value = row.get(key, default)
    if value is None:
        raise RowError(what="is missing", key=key)
    if type(value) is not int:
        what = f"must be a whole number, not {shown(value)}"
        raise RowError(what=what, key=key)
    if not least <= value <= MAX_TOKENS:
        what = f"must be at least {least}, not {value}" if value < least else f"{value:,} tokens are no request"
        raise RowError(what=what, key=key, allowed=f"{least} to {MAX_TOKENS:,}")
    return value


def time_of(row: dict[str, Any], key: str) -> float | None:
    """Return a time from a row, in the row's own unit.

    Parameters
    ----------
    row
        The row.
    key
        Its key.

    Returns
    -------
    float or None
        The time; None where the row has none.

    Raises
    ------
    RowError
        When it is no number, or below zero.

    Examples
    --------
    >>> time_of({"timestamp": 61.114}, "timestamp"), time_of({}, "timestamp")
    (61.114, None)
    """
    value = row.get(key)
    if value is None:
        return None
    if type(value) is not int and type(value) is not float:
        what = f"must be a number, not {shown(value)}"
        raise RowError(what=what, key=key)
    if not 0 <= value < MAX_TIME:
        what = f"must be 0 or more, not {shown(value)}"
        raise RowError(what=what, key=key)
    return float(value)
