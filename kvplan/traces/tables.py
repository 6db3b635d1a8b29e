"""Traces as CSV: arrivals and lengths, nothing of what prompts share."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from kvplan.errors import shown
from kvplan.traces.malformed import MAX_TIME, RowError, tokens_of
from kvplan.traces.records import TraceRequest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kvplan.traces.malformed import Malformed
    from kvplan.traces.records import TraceKind


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a form: time, prompt and answer; whether the time is a day and hour; and the session, if any."""

    kind: TraceKind
    time: str
    input: str
    output: str
    dated: bool
    session: str = ""

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns without which it is not this form."""
        return self.time, self.input, self.output


FORMS = (
    Columns("azure", "TIMESTAMP", "ContextTokens", "GeneratedTokens", dated=True),
    Columns("burstgpt", "Timestamp", "Request tokens", "Response tokens", dated=False, session="Session ID"),
)
"""Azure's (Azure/AzurePublicDataset) and BurstGPT's (HPMLL/BurstGPT); further columns are left alone."""


def columns_of(header: str) -> Columns | None:
    """Tell a form by its header.

    Parameters
    ----------
    header
        The first line.

    Returns
    -------
    Columns or None
        The form; None where it is neither.

    Examples
    --------
    >>> columns_of("TIMESTAMP,ContextTokens,GeneratedTokens").kind
    'azure'
    """
    names = {name.strip() for name in next(csv.reader([header]), [])}
    return next((form for form in FORMS if names.issuperset(form.needed)), None)


def table_requests(
    form: Columns, header: str, lines: Iterator[tuple[int, bytes]], malformed: Malformed
) -> Iterator[TraceRequest]:
    """Read the rows of a table.

    Parameters
    ----------
    form
        Its form.
    header
        Its first line.
    lines
        The lines after it, each with its number.
    malformed
        Takes the rows that cannot be used.

    Yields
    ------
    TraceRequest
        The requests, without blocks.
    """
    names = [name.strip() for name in next(csv.reader([header]))]
    for number, line in lines:
        try:
            yield _request(form, names, _cells(line))
        except RowError as error:
            malformed.add(number, error)


def _cells(line: bytes) -> list[str]:
    """Cut a line; no cell of these tables holds a line end."""
    try:
        return next(csv.reader([line.decode()], strict=True), [])
    except (csv.Error, UnicodeDecodeError) as error:
        raise RowError(what="is no line of CSV") from error


def _request(form: Columns, names: Sequence[str], cells: Sequence[str]) -> TraceRequest:
    """Read a row."""
    if len(cells) != len(names):
        what = f"has {len(cells)} cells, the header has {len(names)}"
        raise RowError(what=what)
    row = dict(zip(names, (cell.strip() for cell in cells), strict=True))
    time_s = _moment(row[form.time], form.time) if form.dated else _seconds(row[form.time], form.time)
    lengths = {key: _count(row[key], key) for key in (form.input, form.output)}
    tokens, output = tokens_of(lengths, form.input, least=1), tokens_of(lengths, form.output, least=0)
    return TraceRequest(time_s, tokens, output, None, row.get(form.session) or None)


def _count(text: str, key: str) -> int:
    """Read a whole number; some tables write it as a float."""
    try:
        number = float(text)
        count = int(number)
    except (ValueError, OverflowError):
        count, number = 0, 0.5
    if count != number:
        what = f"must be a whole number, not {shown(text)}"
        raise RowError(what=what, key=key)
    return count


def _seconds(text: str, key: str) -> float:
    """Read seconds since the trace began."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < MAX_TIME:
        what = f"must be seconds, 0 or more, not {shown(text)}"
        raise RowError(what=what, key=key)
    return seconds


def _moment(text: str, key: str) -> float:
    """Read a day and an hour; without a zone it is taken for UTC, which differences do not depend on."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        what = f"must be a date and a time, not {shown(text)}"
        raise RowError(what=what, key=key) from error
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
