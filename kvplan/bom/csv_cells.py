"""CSV cut into cells that know where they stand, as no reader of the standard library does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kvplan.errors import InputError
from kvplan.inputs.loc import place_of

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_ROWS = 100_000
_DELIMITERS = (",", ";", "\t")


class Cell(NamedTuple):
    """The text of one cell, and where in the file it begins."""

    text: str
    offset: int


Row = tuple[Cell, ...]


def csv_rows(text: str, name: str) -> tuple[Row, ...]:
    r"""Cut a text into rows of cells, leaving out rows that are empty.

    Parameters
    ----------
    text
        CSV as spreadsheets write it: commas, semicolons or tabs between cells, quotes doubled inside quotes.
    name
        Name of the file.

    Returns
    -------
    tuple of tuple of Cell
        The rows, each cell without its quotes.

    Raises
    ------
    InputError
        When a quote is never closed, something follows a closed one, or there are too many rows.

    Examples
    --------
    >>> [cell.text for row in csv_rows('key,list_price\nx,"1,234.50"\n', "f.csv") for cell in row]
    ['key', 'list_price', 'x', '1,234.50']
    """
    rows = tuple(row for row in _rows(text, name) if any(cell.text.strip() for cell in row))
    if len(rows) > MAX_ROWS:
        raise InputError.single(name, f"has {len(rows):,} rows", allowed=f"at most {MAX_ROWS:,}")
    return rows


def _rows(text: str, name: str) -> Iterator[Row]:
    """Yield the rows."""
    cell = _cell_pattern(_delimiter(text))
    row: list[Cell] = []
    offset = 0
    while offset < len(text):
        match = cell.match(text, offset)
        if match is None:
            raise _misquoted(text, offset, name)
        quoted, bare, end = match.groups()
        row.append(Cell(bare if quoted is None else quoted.replace('""', '"'), offset))
        offset = match.end()
        if end in ("\n", "\r\n", "\r", ""):
            yield tuple(row)
            row = []
    if row:
        yield tuple(row)


def _delimiter(text: str) -> str:
    """Tell what stands between cells, by the first line that looks like a header."""
    lines = text.splitlines()
    header = next((line for line in lines if "list" in line.lower()), lines[0] if lines else "")
    return max(_DELIMITERS, key=header.count)


def _cell_pattern(delimiter: str) -> re.Pattern[str]:
    """Build the expression of a cell with what ends it."""
    mark = re.escape(delimiter)
    return re.compile(rf'(?:"((?:[^"]|"")*)"|([^{mark}"\r\n][^{mark}\r\n]*|))({mark}|\r\n|\n|\r|\Z)')


def _misquoted(text: str, offset: int, name: str) -> InputError:
    """Say what is wrong with the quotes of a cell."""
    closed = re.compile(r'"(?:[^"]|"")*"').match(text, offset)
    if closed is None:
        return InputError.single(place_of(text, offset, name), "a quote is not closed")
    place = place_of(text, closed.end(), name)
    return InputError.single(place, "text follows a closing quote", hint="double quotes inside quotes")
