"""What stands in a cell, what stands over a column, and how formulas refer to both."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

from xlsxwriter.utility import xl_col_to_name

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Formula:
    """A live formula with the value that a calculation gives; a text of nothing stands for a blank result."""

    text: str
    value: float | Decimal | str | date


@dataclass(frozen=True, slots=True)
class Styled:
    """A cell that looks other than its column does."""

    value: Plain
    style: tuple[str, ...]


Plain = str | int | float | Decimal | date | Formula | None
Cell = Plain | Styled


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: what stands over it and how its cells look.

    The table that sets the widths of its sheet says how wide its columns are, in characters; the others follow.
    """

    title: str
    style: tuple[str, ...] = ("wrap",)
    width: float = 0


def quoted(text: str) -> str:
    """Write a text as formulas have it.

    >>> quoted('19" rack')
    '"19"" rack"'
    """
    return '"' + text.replace('"', '""') + '"'


def widths_of(columns: Iterable[Column]) -> tuple[float, ...]:
    """Return the widths that a table sets."""
    return tuple(column.width for column in columns)


class TableRef:
    """Where the columns of a table stand, so that formulas name them by their headings and not by letters.

    >>> table = TableRef(("Rack", "Typical [W]"), first=2)
    >>> table.cell("Typical [W]", 4), table.rows("Rack", range(4, 9)), table.fixed("Rack", range(4, 9))
    ('D5', 'C5:C9', '$C$5:$C$9')
    """

    def __init__(self, headings: Iterable[str], first: int = 0) -> None:
        self._letters = {heading: xl_col_to_name(index) for index, heading in enumerate(headings, first)}

    @classmethod
    def of(cls, columns: Iterable[Column], first: int = 0) -> TableRef:
        """Refer to the columns of a table by their titles."""
        return cls((column.title for column in columns), first)

    def cell(self, heading: str, row: int) -> str:
        """Refer to a cell in a row counted from 0."""
        return f"{self._letters[heading]}{row + 1}"

    def rows(self, heading: str, body: range) -> str:
        """Refer to a column of some rows."""
        letter = self._letters[heading]
        return f"{letter}{body.start + 1}:{letter}{max(body.stop, body.start + 1)}"

    def fixed(self, heading: str, body: range) -> str:
        """Refer to a column of some rows, for a formula on any sheet."""
        letter = self._letters[heading]
        return f"${letter}${body.start + 1}:${letter}${max(body.stop, body.start + 1)}"
