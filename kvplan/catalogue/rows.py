"""Rows before validation: every id and alias of a table is known at once, a row is parsed and validated when used.

kvplan's own tables begin each row with `- id: ` in the first column. So their text is cut into rows without being
parsed, and one row costs a fraction of a millisecond instead of the whole table's time. The user's tables are small
and may be laid out freely: they are read whole, with every check that is due to a stranger's file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from kvplan.errors import InputError, Problem
from kvplan.inputs.document import Document
from kvplan.inputs.files import read_text, read_yaml
from kvplan.inputs.validation import validate
from kvplan.inputs.yaml_text import parse_yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kvplan.catalogue.sources import TableFile

ModelT = TypeVar("ModelT", bound=BaseModel)

_ROW_START = re.compile(r"^(?=- )", re.MULTILINE)
_ID = re.compile(r"- id: *(?P<quote>[\"']?)(?P<id>[^\"'#\n]+?)(?P=quote) *(?:#.*)?\n")
_ALIASES = re.compile(r"^  aliases: \[(?P<names>[^\]]*)\]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row: its names, how to read it, and how to find its place, which only a problem asks for."""

    id: str
    aliases: tuple[str, ...]
    place: Callable[[], str]
    document: Callable[[], Document]
    index: int

    @property
    def where(self) -> str:
        """Place of the row, as `file:line` or `file:line:column`."""
        return self.place()

    def record(self, record_class: type[ModelT]) -> ModelT:
        """Read and validate the row.

        Parameters
        ----------
        record_class
            Record that a row of this table must be.

        Returns
        -------
        ModelT
            The row.

        Raises
        ------
        InputError
            With every problem of the row.
        """
        document = self.document()
        return validate(record_class, document, data=document.data[self.index], loc=(self.index,))


def rows_of(files: Iterable[TableFile]) -> dict[str, TableRow]:
    """Read the rows of one table from its files; a later layer replaces rows of an earlier one by id.

    Parameters
    ----------
    files
        The table's files, kvplan's own before the user's.

    Returns
    -------
    dict of TableRow
        Rows by id, in the order of the files.

    Raises
    ------
    InputError
        When a file is no list of rows with ids, or an id stands twice within one layer.
    """
    rows: dict[str, TableRow] = {}
    layers: dict[str, int] = {}
    problems: list[Problem] = []
    for file in files:
        for row in _user_rows(file) if file.layer else _own_rows(file):
            if layers.get(row.id) == file.layer:
                problems.append(Problem(row.where, "is given twice", key=row.id, hint=f"first at {rows[row.id].where}"))
            rows[row.id], layers[row.id] = row, file.layer
    if problems:
        raise InputError(problems)
    return rows


def _own_rows(file: TableFile) -> Iterator[TableRow]:
    """Cut one of kvplan's own tables into rows."""
    head, *texts = _ROW_START.split(read_text(file.path))
    line = head.count("\n")
    for text in texts:
        document = partial(_row_document, file.name, text, line)
        found = _ID.match(text)
        names = _ALIASES.search(text)
        # Aliases that are not in flow style need the parser, and so does an id that is not first.
        if found and (names or "\n  aliases:" not in text):
            aliases = _listed(names["names"]) if names else ()
            yield TableRow(found["id"], aliases, partial("{}:{}".format, file.name, line + 1), document, 0)
        else:
            yield _named(document(), 0, document)
        line += text.count("\n")


def _user_rows(file: TableFile) -> Iterator[TableRow]:
    """Read one of the user's tables whole."""
    document = read_yaml(file.path)
    if not isinstance(document.data, list):
        raise InputError.single(str(file.path), "is no list of rows", allowed="rows that begin with `- id: ...`")
    for index in range(len(document.data)):
        yield _named(document, index, lambda: document)


def _named(document: Document, index: int, read: Callable[[], Document]) -> TableRow:
    """Take id and aliases of a row that has been parsed."""
    row: Any = document.data[index]
    row_id = row.get("id") if isinstance(row, dict) else None
    if not isinstance(row_id, str) or not row_id.strip():
        allowed = "a mapping with a text `id`"
        raise InputError.single(document.where((index,)), "is a row without an id", allowed=allowed)
    aliases = row.get("aliases")
    names = tuple(alias for alias in aliases if isinstance(alias, str)) if isinstance(aliases, list) else ()
    return TableRow(row_id, names, partial(document.where, (index,)), read, index)


def _row_document(name: str, text: str, line: int) -> Document:
    """Parse the text of one row; the blank lines before it keep the table's line numbers."""
    placed = "\n" * line + text
    return Document(parse_yaml(placed, name), name, placed)


def _listed(names: str) -> tuple[str, ...]:
    """Split the inside of a flow list of names."""
    stripped = (part.strip().strip("\"'") for part in names.split(","))
    return tuple(part for part in stripped if part)
