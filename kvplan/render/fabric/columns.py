"""A table of a Design, written once: whole with every column, or in brief for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from kvplan.render.view import Grid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kvplan.schema.design import Design

RowT = TypeVar("RowT")


@dataclass(frozen=True, slots=True)
class Column(Generic[RowT]):
    """One column: its name as data, its heading for people, what it shows, and the side it is aligned to.

    Without a `name` the column is for people only; without a `heading` it is only in the whole table.
    """

    name: str
    heading: str
    cell: Callable[[RowT], object]
    side: str = "l"


@dataclass(frozen=True, slots=True)
class Table(Generic[RowT]):
    """A table: what its rows are and its columns."""

    title: str
    rows: Callable[[Design], Iterable[RowT]]
    columns: tuple[Column[RowT], ...]

    def whole(self, design: Design) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return headers and rows with everything, as data."""
        columns = [column for column in self.columns if column.name]
        rows = [tuple(_text(column.cell(row)) for column in columns) for row in self.rows(design)]
        return tuple(column.name for column in columns), rows

    def brief(self, design: Design) -> Grid:
        """Return what a person reads, narrow enough for a terminal."""
        columns = [column for column in self.columns if column.heading]
        return Grid(
            tuple(column.heading for column in columns),
            tuple(tuple(_text(column.cell(row), ",") for column in columns) for row in self.rows(design)),
            "".join(column.side for column in columns),
        )


def _text(value: object, mark: str = "") -> str:
    """Write a cell: nothing where there is nothing, whole numbers without a fraction, a mark between thousands."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:{mark}.12g}"
    return f"{value:{mark}}" if isinstance(value, int) else str(value)
