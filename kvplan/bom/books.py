"""Price books read from files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kvplan.bom.book_csv import parse_csv_book
from kvplan.bom.offers import comparable
from kvplan.errors import InputError, Problem, Problems
from kvplan.inputs.files import read_text, read_yaml
from kvplan.inputs.validation import validate
from kvplan.schema.price_book import PriceBook

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kvplan.inputs.document import Document

_CSV = {".csv", ".tsv", ".txt"}
_WORKBOOKS = {".xlsx", ".xlsm", ".xls", ".ods"}


def read_price_book(path: str | Path) -> PriceBook:
    """Read a price book.

    Parameters
    ----------
    path
        A YAML file, or CSV by its ending.

    Returns
    -------
    PriceBook
        The book; one from CSV is called like its file.

    Raises
    ------
    InputError
        With everything that is wrong in the file, each with its place.
    """
    ending = Path(path).suffix.lower()
    return read_csv_book(path) if ending in _CSV | _WORKBOOKS else read_yaml_book(path)


def read_csv_book(path: str | Path) -> PriceBook:
    """Read a price book from CSV, whatever the file is called, unless it is a workbook."""
    if Path(path).suffix.lower() in _WORKBOOKS:
        hint = "save its sheet BOM as CSV and name that file"
        raise InputError.single(str(path), "is a workbook, not a price book", allowed="YAML or CSV", hint=hint)
    return parse_csv_book(read_text(path), str(path))


def read_yaml_book(path: str | Path) -> PriceBook:
    """Read a price book from YAML, whatever the file is called."""
    document = read_yaml(path)
    if not isinstance(document.data, dict) or "items" not in document.data:
        raise InputError.single(document.where(), "is no price book", allowed="a mapping with a list of items")
    book = validate(PriceBook, document)
    problems = tuple(_twice(book, document))
    if problems:
        raise InputError(problems)
    return book


def read_price_books(paths: Sequence[str | Path], csv_paths: Sequence[str | Path] = ()) -> tuple[PriceBook, ...]:
    """Read several price books, the problems of all at once.

    Parameters
    ----------
    paths
        YAML files, or CSV by their ending, the earliest first.
    csv_paths
        CSV files, whatever they are called, later than all others.

    Returns
    -------
    tuple of PriceBook
        The books in that order.

    Raises
    ------
    InputError
        With the problems of all files.
    """
    books: list[PriceBook] = []
    problems = Problems()
    readers = [(read_price_book, path) for path in paths] + [(read_csv_book, path) for path in csv_paths]
    for read, path in readers:
        with problems.kept():
            books.append(read(path))
    problems.raise_any()
    return tuple(books)


def _twice(book: PriceBook, document: Document) -> Iterator[Problem]:
    """Name the parts that a book has twice for the same term."""
    first: dict[tuple[str, str, int | None], int] = {}
    for index, item in enumerate(book.items):
        field, name = ("key", item.key) if item.key else ("part_number", item.part_number)
        known = first.setdefault((field, comparable(name), item.term_months), index)
        if known != index:
            before = document.where(("items", known, field)).removeprefix(f"{document.name}:")
            where = document.where(("items", index, field))
            yield Problem(where, f"{name!r} is given twice", key=f"items[{index}].{field}", hint=f"first at {before}")
