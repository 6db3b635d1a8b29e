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
_LINE_END = re.compile(r"\r\n|\n|\r")


class Cell(NamedTuple):
    """The text of one cell, and the line and column in which it begins, both from 1."""

    text: str
    line: int
    column: int


Row = tuple[Cell, ...]


class Cut(NamedTuple):
    """A text cut into rows, those that are empty left out, and what stood between its cells."""

    rows: tuple[Row, ...]
    delimiter: str


def cut_csv(text: str, name: str, header_words: tuple[str, ...]) -> Cut:
    r"""Cut a text into rows of cells.

    Parameters
    ----------
    text
        CSV as spreadsheets write it: commas, semicolons or tabs between cells, quotes doubled inside quotes.
    name
        Name of the file.
    header_words
        Words in lower case; the first line with one of them is the header, which tells what stands between cells.

    Returns
    -------
    Cut
        The rows, each cell without its quotes.

    Raises
    ------
    InputError
        When a quote is never closed, something follows a closed one, or there are too many rows.

    Examples
    --------
    >>> [cell.text for row in cut_csv('key,list_price\nx,"1,234.50"\n', "f.csv", ("list",)).rows for cell in row]
    ['key', 'list_price', 'x', '1,234.50']
    """
    delimiter = _delimiter(text, header_words)
    rows = tuple(row for row in _rows(text, name, delimiter) if any(cell.text.strip() for cell in row))
    if len(rows) > MAX_ROWS:
        raise InputError.single(name, f"has {len(rows):,} rows", allowed=f"at most {MAX_ROWS:,}")
    return Cut(rows, delimiter)


def _rows(text: str, name: str, delimiter: str) -> Iterator[Row]:
    """Yield the rows; lines are counted on the way, so that a place costs nothing however long the file is."""
    pattern = _cell_pattern(delimiter)
    row: list[Cell] = []
    offset, line, line_start = 0, 1, 0
    while offset < len(text):
        match = pattern.match(text, offset)
        if match is None:
            raise _misquoted(text, offset, name)
        quoted, bare, end = match.groups()
        row.append(Cell(bare if quoted is None else quoted.replace('""', '"'), line, offset - line_start + 1))
        # Only a quoted cell holds line ends, beside the one that may end the cell.
        if quoted is not None or end != delimiter:
            for found in _LINE_END.finditer(text, offset, match.end()):
                line, line_start = line + 1, found.end()
        offset = match.end()
        if end != delimiter:
            yield tuple(row)
            row = []
    if row:
        yield tuple(row)


def _delimiter(text: str, header_words: tuple[str, ...]) -> str:
    """Tell what stands between cells, by the first line that looks like a header."""
    lines = text.splitlines()
    headers = (line for line in lines if any(word in line.lower() for word in header_words))
    header = next(headers, lines[0] if lines else "")
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
