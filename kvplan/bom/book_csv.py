"""Price books as CSV: an exported sheet with its prices filled in, or any table with the same columns."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from kvplan.bom.csv_cells import csv_rows
from kvplan.errors import InputError, Problem, did_you_mean
from kvplan.inputs.loc import place_of
from kvplan.inputs.validation import problems_of
from kvplan.schema.money import parse_currency, parse_discount, parse_price
from kvplan.schema.price_book import PRICE_BOOK_FORMAT_VERSION, PRICE_COLUMNS, PriceBook, PriceItem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kvplan.bom.csv_cells import Cell, Row

HEADER_ROWS = 10
"""The header is looked for in so many rows: a sheet may have a title above it."""
_FIELDS = {"price_date": "date", "price_source": "source"}
_WORKBOOK = {"price_valid_until": "valid_until", "lead_time_days": "lead_time_days", "price_book": "price_source"}
_KNOWN_OTHERS = {"list", "net_price", "source", "vendor", "discount_applied", "parent", "price_book"}
"""Columns of an exported sheet that look like misspelt ones of a price book."""
_LIST_IN = re.compile(r"list \[(?P<currency>[a-z]{3})\]")
_TEXT_MARK = re.compile(r"'(?=[=+\-@\t])")


class _Entry(NamedTuple):
    """A row that names a part: what it says, and where its price stands."""

    item: PriceItem
    cell: Cell


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A file being read: its text and name, and which column is which."""

    text: str
    name: str
    columns: Mapping[str, int]
    width: int
    currency: str

    def where(self, cell: Cell) -> str:
        """Say where a cell stands."""
        return place_of(self.text, cell.offset, self.name)

    def cell(self, row: Row, column: str) -> Cell | None:
        """Return the cell of a column, unless it is blank."""
        index = self.columns.get(column, len(row))
        return row[index] if index < len(row) and row[index].text.strip() else None


def parse_csv_book(text: str, name: str) -> PriceBook:
    """Read a price book from CSV.

    Parameters
    ----------
    text
        The file: a header with `list_price` and `key` or `part_number`, then a row a part. Other columns are left
        alone, and so are rows without a price, but for their part number and lead time.
    name
        Name of the file, which becomes that of the book.

    Returns
    -------
    PriceBook
        The book, without a day of its own: each price may have one.

    Raises
    ------
    InputError
        With every cell that cannot be read, prices without a part or a currency, and parts priced twice.
    """
    rows = csv_rows(text, name)
    sheet, body = _sheet(rows, text, name)
    entries, problems = _entries(sheet, body)
    problems.extend(_twice(sheet, entries))
    if problems:
        raise InputError(sorted(problems, key=_position))
    priced = [entry.item for entry in entries if entry.item.list_price is not None]
    if not priced:
        raise InputError.single(name, "holds no price", allowed="prices in the column list_price")
    return PriceBook(
        format_version=PRICE_BOOK_FORMAT_VERSION,
        name=name,
        currency=priced[0].currency or "",
        date=None,
        items=tuple(dict.fromkeys(entry.item for entry in entries)),
    )


def _sheet(rows: Sequence[Row], text: str, name: str) -> tuple[_Sheet, Sequence[Row]]:
    """Find the header and what stands below it."""
    for index, row in enumerate(rows[:HEADER_ROWS]):
        names = [_column(cell.text) for cell in row]
        if "list_price" in names and {"key", "part_number"} & set(names):
            given = _LIST_IN.fullmatch(row[names.index("list_price")].text.strip().lower())
            columns = {column: at for at, column in reversed(list(enumerate(names)))}
            sheet = _Sheet(text, name, columns, len(row), given["currency"].upper() if given else "")
            _refuse_misspelt(sheet, row, names)
            return sheet, rows[index + 1 :]
    if not rows:
        raise InputError.single(name, "is empty")
    unknown = (cell.text.strip() for cell in rows[0] if _column(cell.text) not in PRICE_COLUMNS)
    meant = (column for column in unknown if did_you_mean(_column(column), ("list_price", "key")))
    hint = "".join(f"is {column!r} meant to be one?" for column in list(meant)[:1])
    what = "has no header with list_price and key or part_number"
    raise InputError.single(place_of(text, 0, name), what, allowed=_allowed(), hint=hint)


def _column(header: str) -> str:
    """Return the name of a column; the workbook's own headers are understood too.

    >>> _column("List [EUR]"), _column(" Part number "), _column("list_price")
    ('list_price', 'part_number', 'list_price')
    """
    lowered = header.strip().lower()
    if _LIST_IN.fullmatch(lowered):
        return "list_price"
    plain = re.sub(r"[^a-z]+", "_", lowered).strip("_")
    # The workbook shows the discount that was applied, which is not always the part's own.
    return "" if lowered == "discount [%]" else _WORKBOOK.get(plain, plain)


def _refuse_misspelt(sheet: _Sheet, row: Row, names: Sequence[str]) -> None:
    """Refuse columns that are almost those of a price book, and columns that stand twice."""
    missing = [column for column in PRICE_COLUMNS if column not in names]
    problems = [
        Problem(sheet.where(cell), f"column {cell.text.strip()!r} is not known", allowed=_allowed(), hint=hint)
        for cell, name in zip(row, names, strict=True)
        if name not in PRICE_COLUMNS and (hint := did_you_mean(name, missing)) and name not in _KNOWN_OTHERS
    ]
    problems.extend(
        Problem(sheet.where(cell), f"column {name!r} stands twice")
        for at, (cell, name) in enumerate(zip(row, names, strict=True))
        if name in PRICE_COLUMNS and sheet.columns[name] != at
    )
    if problems:
        raise InputError(problems)


def _allowed() -> str:
    """List the columns."""
    return f"columns: {', '.join(PRICE_COLUMNS)}"


def _entries(sheet: _Sheet, rows: Sequence[Row]) -> tuple[list[_Entry], list[Problem]]:
    """Read every row that names a part or a price, and keep what cannot be read."""
    entries: list[_Entry] = []
    problems: list[Problem] = []
    for row in rows:
        price = sheet.cell(row, "list_price")
        named = sheet.cell(row, "key") or sheet.cell(row, "part_number")
        if named is None:
            if price is not None:
                what = "stands in a row without key and part_number"
                problems.append(Problem(sheet.where(price), what, key="list_price"))
            continue
        found = _item(sheet, row, problems)
        if found is not None:
            entries.append(_Entry(found, price or named))
    return entries, problems


def _item(sheet: _Sheet, row: Row, problems: list[Problem]) -> PriceItem | None:
    """Read one row; what cannot be read is added to the problems."""
    before = len(problems)
    beyond = next((cell for cell in row[sheet.width :] if cell.text.strip()), None)
    if beyond is not None:
        what, hint = "has more cells than the header", "put quotes around a price with a comma"
        problems.append(Problem(sheet.where(beyond), what, hint=hint))
        return None
    values = dict(_values(sheet, row, problems))
    price = sheet.cell(row, "list_price")
    if price is not None and "currency" not in values and not sheet.currency and len(problems) == before:
        what, allowed = "has no currency", "a column currency, with EUR or the like beside each price"
        problems.append(Problem(sheet.where(price), what, key="list_price", allowed=allowed))
    if len(problems) > before:
        return None
    try:
        return PriceItem(**{"currency": sheet.currency or None, **values})
    except ValidationError as error:
        problems.extend(problems_of(error, lambda _: sheet.where(row[0])))
        return None


def _values(sheet: _Sheet, row: Row, problems: list[Problem]) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a row that can be read."""
    for column, parse in _PARSERS.items():
        cell = sheet.cell(row, column)
        if cell is None:
            continue
        try:
            yield _FIELDS.get(column, column), parse(_TEXT_MARK.sub("", cell.text.strip(), count=1))
        except ValueError as error:
            problems.append(Problem(sheet.where(cell), str(error), key=column))


def _day(text: str) -> date:
    """Read a day."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        message = f"{text!r} is no day; write it like 2026-11-30"
        raise ValueError(message) from None


def _days(text: str) -> int:
    """Read a number of days."""
    if not text.isascii() or not text.isdigit():
        message = f"{text!r} is no whole number of days"
        raise ValueError(message)
    return int(text[:9])


_PARSERS: Mapping[str, Callable[[str], Any]] = {
    "key": str,
    "part_number": str,
    "list_price": parse_price,
    "currency": parse_currency,
    "price_date": _day,
    "valid_until": _day,
    "price_source": str,
    "discount": parse_discount,
    "lead_time_days": _days,
}


def _twice(sheet: _Sheet, entries: Sequence[_Entry]) -> Iterator[Problem]:
    """Name the parts that have two prices: lines of the same part repeat its key, and must agree."""
    first: dict[str, _Entry] = {}
    for entry in entries:
        name = entry.item.key or entry.item.part_number
        if entry.item.list_price is None:
            continue
        known = first.setdefault(name, entry)
        if _terms(known.item) != _terms(entry.item):
            before = sheet.where(known.cell).removeprefix(f"{sheet.name}:")
            what, hint = f"{name!r} is priced twice", f"the other price is at {before}"
            yield Problem(sheet.where(entry.cell), what, key="list_price", hint=hint)


def _terms(item: PriceItem) -> tuple[object, ...]:
    """Return what must agree where a part is named twice."""
    return item.list_price, item.currency, item.discount, item.date, item.valid_until


def _position(problem: Problem) -> tuple[int, ...]:
    """Order problems as they stand in the file."""
    return tuple(int(part) for part in problem.where.split(":")[-2:] if part.isdigit())
