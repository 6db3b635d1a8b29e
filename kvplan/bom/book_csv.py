"""Price books as CSV: an exported sheet with its prices filled in, or any table with the same columns."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from kvplan.bom.headings import DISCOUNT, READ_BACK
from kvplan.bom.offers import comparable
from kvplan.errors import InputError, Problem, did_you_mean
from kvplan.inputs.csv_cells import cut_csv
from kvplan.inputs.loc import line_and_column
from kvplan.inputs.validation import problems_of
from kvplan.render.bom_view import COLUMNS
from kvplan.render.data import unmarked
from kvplan.schema.money import decimal_mark, parse_currency, parse_discount, parse_price
from kvplan.schema.price_book import PRICE_BOOK_FORMAT_VERSION, PRICE_COLUMNS, PriceBook, PriceItem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kvplan.inputs.csv_cells import Cell, Cut, Row
    from kvplan.schema.money import DecimalMark

HEADER_ROWS = 10
"""The header is looked for in so many rows: a sheet may have a title above it."""
_FIELDS = {"price_date": "date", "price_source": "source"}
_HEADINGS = {heading.lower(): column for heading, column in READ_BACK.items()} | {DISCOUNT.lower(): ""}
"""Headings of the workbook; the discount that a line takes there is not always the part's own."""
_LIST_IN = re.compile(r"list \[(?P<currency>[a-z]{3})\]")
_MAX_NAME = 200


class _Entry(NamedTuple):
    """A row that names a part: what it says, and where its price stands."""

    item: PriceItem
    cell: Cell


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A file being read: its name, which column is which, its rows below the header, and how its prices are written."""

    name: str
    header: Row
    columns: Mapping[str, int]
    body: Sequence[Row]
    currency: str
    mark: DecimalMark | None

    def where(self, cell: Cell) -> str:
        """Say where a cell stands."""
        return f"{self.name}:{cell.line}:{cell.column}"

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
        Path of the file, for places in messages; the book is called like the file, without its directory.

    Returns
    -------
    PriceBook
        The book, without a day of its own: each price may have one.

    Raises
    ------
    InputError
        With every cell that cannot be read, prices without a part or a currency, and parts priced twice.
    """
    sheet = _sheet(cut_csv(text, name, ("list",)), name)
    entries, problems = _entries(sheet)
    problems.extend(_twice(sheet, entries))
    if problems:
        raise InputError(sorted(problems, key=line_and_column))
    priced = [entry.item for entry in entries if entry.item.list_price is not None]
    if not priced:
        raise InputError.single(name, "holds no price", allowed="prices in the column list_price")
    return PriceBook(
        format_version=PRICE_BOOK_FORMAT_VERSION,
        name=PurePath(name).name[:_MAX_NAME] or "prices",
        currency=priced[0].currency or "",
        date=None,
        items=tuple(dict.fromkeys(entry.item for entry in entries)),
    )


def _sheet(cut: Cut, name: str) -> _Sheet:
    """Find the header and what stands below it."""
    rows = cut.rows
    for index, row in enumerate(rows[:HEADER_ROWS]):
        names = [_column(cell.text) for cell in row]
        if "list_price" in names and {"key", "part_number"} & set(names):
            price = names.index("list_price")
            given = _LIST_IN.fullmatch(row[price].text.strip().lower())
            columns = {column: at for at, column in reversed(list(enumerate(names)))}
            body = rows[index + 1 :]
            mark = decimal_mark(unmarked(row[price].text) for row in body if price < len(row))
            # Between commas a decimal comma is too easily a thousands one, or a slip.
            mark = None if mark == cut.delimiter else mark
            sheet = _Sheet(name, row, columns, body, given["currency"].upper() if given else "", mark)
            _refuse_misspelt(sheet, names)
            return sheet
    if not rows:
        raise InputError.single(name, "is empty")
    unknown = (cell.text.strip() for cell in rows[0] if _column(cell.text) not in PRICE_COLUMNS)
    meant = (column for column in unknown if did_you_mean(_column(column), ("list_price", "key")))
    hint = "".join(f"is {column!r} meant to be one?" for column in list(meant)[:1])
    what, where = "has no header with list_price and key or part_number", f"{name}:1:1"
    raise InputError.single(where, what, allowed=_allowed(), hint=hint)


def _column(header: str) -> str:
    """Return the name of a column; the workbook's own headings are understood too.

    >>> _column("List [EUR]"), _column(" Part number "), _column("list_price")
    ('list_price', 'part_number', 'list_price')
    """
    lowered = header.strip().lower()
    if _LIST_IN.fullmatch(lowered):
        return "list_price"
    return _HEADINGS.get(lowered, re.sub(r"[^a-z]+", "_", lowered).strip("_"))


def _refuse_misspelt(sheet: _Sheet, names: Sequence[str]) -> None:
    """Refuse columns that are almost those of a price book, unless an export has them, and columns that stand twice."""
    missing = [column for column in PRICE_COLUMNS if column not in names]
    problems = [
        Problem(sheet.where(cell), f"column {cell.text.strip()!r} is not known", allowed=_allowed(), hint=hint)
        for cell, name in zip(sheet.header, names, strict=True)
        if name not in PRICE_COLUMNS and (hint := did_you_mean(name, missing)) and name not in COLUMNS
    ]
    problems.extend(
        Problem(sheet.where(cell), f"column {name!r} stands twice")
        for at, (cell, name) in enumerate(zip(sheet.header, names, strict=True))
        if name in PRICE_COLUMNS and sheet.columns[name] != at
    )
    if problems:
        raise InputError(problems)


def _allowed() -> str:
    """List the columns."""
    return f"columns: {', '.join(PRICE_COLUMNS)}"


def _entries(sheet: _Sheet) -> tuple[list[_Entry], list[Problem]]:
    """Read every row that names a part or a price, and keep what cannot be read."""
    entries: list[_Entry] = []
    problems: list[Problem] = []
    for row in sheet.body:
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
    problems.extend(_without_currency(sheet, entries))
    return entries, problems


def _without_currency(sheet: _Sheet, entries: Sequence[_Entry]) -> Iterator[Problem]:
    """Say once that prices have no currency: at the header where no column is for it, else at the first of them."""
    cells = [item.cell for item in entries if item.item.list_price is not None and item.item.currency is None]
    if not cells:
        return
    allowed = "a column currency, with EUR or the like beside each price"
    if "currency" not in sheet.columns:
        where = sheet.where(sheet.header[sheet.columns["list_price"]])
        yield Problem(
            where, "no price has a currency", key="list_price", allowed=allowed, hint="or a header List [EUR]"
        )
    else:
        others = f", nor {'has' if len(cells) == 2 else 'have'} {len(cells) - 1:,} more" if len(cells) > 1 else ""  # noqa: PLR2004
        yield Problem(sheet.where(cells[0]), f"has no currency{others}", key="list_price", allowed=allowed)


def _item(sheet: _Sheet, row: Row, problems: list[Problem]) -> PriceItem | None:
    """Read one row; what cannot be read is added to the problems."""
    before = len(problems)
    beyond = next((cell for cell in row[len(sheet.header) :] if cell.text.strip()), None)
    if beyond is not None:
        what, hint = "has more cells than the header", "put quotes around a price with a comma"
        problems.append(Problem(sheet.where(beyond), what, hint=hint))
        return None
    values = dict(_values(sheet, row, problems))
    if len(problems) > before:
        return None
    try:
        return PriceItem(**{"currency": sheet.currency or None, **values})
    except ValidationError as error:
        problems.extend(problems_of(error, lambda _: sheet.where(row[0])))
        return None


def _values(sheet: _Sheet, row: Row, problems: list[Problem]) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a row that can be read."""
    parsers: dict[str, Callable[[str], Any]] = {**_PARSERS, "list_price": partial(parse_price, mark=sheet.mark)}
    for column, parse in parsers.items():
        cell = sheet.cell(row, column)
        if cell is None:
            continue
        try:
            yield _FIELDS.get(column, column), parse(unmarked(cell.text))
        except ValueError as error:
            problems.append(Problem(sheet.where(cell), str(error), key=column))


def _day(text: str) -> date:
    """Read a day."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        message = f"{text!r} is no day; write it like 2026-11-30"
        raise ValueError(message) from None


def _whole(text: str, unit: str) -> int:
    """Read a whole number."""
    if not text.isascii() or not text.isdigit():
        message = f"{text!r} is no whole number of {unit}"
        raise ValueError(message)
    return int(text[:9])


_PARSERS: Mapping[str, Callable[[str], Any]] = {
    "key": str,
    "part_number": str,
    "list_price": parse_price,
    "currency": parse_currency,
    "term_months": partial(_whole, unit="months"),
    "price_date": _day,
    "valid_until": _day,
    "price_source": str,
    "discount": parse_discount,
    "lead_time_days": partial(_whole, unit="days"),
}


def _twice(sheet: _Sheet, entries: Sequence[_Entry]) -> Iterator[Problem]:
    """Name the parts that have two prices for one term: lines of the same part repeat its key, and must agree."""
    first: dict[tuple[str, int | None], _Entry] = {}
    for entry in entries:
        name = entry.item.key or entry.item.part_number
        if entry.item.list_price is None:
            continue
        known = first.setdefault((comparable(name), entry.item.term_months), entry)
        if _terms(known.item) != _terms(entry.item):
            before = sheet.where(known.cell).removeprefix(f"{sheet.name}:")
            what, hint = f"{name!r} is priced twice", f"the other price is at {before}"
            yield Problem(sheet.where(entry.cell), what, key="list_price", hint=hint)


def _terms(item: PriceItem) -> tuple[object, ...]:
    """Return what must agree where a part is named twice."""
    return item.list_price, item.currency, item.discount, item.date, item.valid_until
