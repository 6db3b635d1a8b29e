"""Adding a model to a user's table without touching what else stands in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from kvplan.errors import InputError
from kvplan.inputs.document import Document
from kvplan.inputs.files import read_text, write_atomically
from kvplan.inputs.yaml_text import compose_leniently, parse_yaml

if TYPE_CHECKING:
    from pathlib import Path

    from kvplan.schema.model import ModelSpec

_LAST_KEYS = ("source", "confidence")
_FILE_NAME = "models.yaml"
_HEADER = "# Models of this site; rows extend kvplan's own and replace them by id.\n"


def add_model(spec: ModelSpec, directory: Path, *, replace: bool = False) -> Path:
    """Append a model to the table `models.yaml` of a directory, which is made when it is not there.

    Rows and comments that are there stay as they are. The file is written aside and renamed.

    Parameters
    ----------
    spec
        The model.
    directory
        A directory with the user's tables.
    replace
        Put the row in the place of one with the same id.

    Returns
    -------
    Path
        The table's file.

    Raises
    ------
    InputError
        When the id is there already and is not to be replaced, or the file is no table of rows in block style.
    """
    path = directory / _FILE_NAME
    directory.mkdir(parents=True, exist_ok=True)
    text = read_text(path) if path.exists() else _HEADER
    table = _Layout.of(text, path)
    known = table.ids.index(spec.id) if spec.id in table.ids else None
    if known is not None and not replace:
        where = Document(table.ids, str(path), text).where((known,))
        raise InputError.single(where, f"{spec.id!r} is there already", hint="--replace puts the new row in its place")
    start, end = table.spans[known] if known is not None else (len(text), len(text))
    write_atomically(path, _joined(text[:start], _row_text(spec, table.indent), text[end:]))
    return path


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where the rows of a table stand in its text."""

    ids: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    indent: int

    @classmethod
    def of(cls, text: str, path: Path) -> _Layout:
        """Find the rows of a text; a text of comments has none."""
        if all(line.startswith(("#", "---")) or not line for line in map(str.strip, text.splitlines())):
            return cls((), (), 0)
        rows: list[Any] = parse_yaml(text, str(path))
        root = compose_leniently(text)
        if not isinstance(root, yaml.SequenceNode) or root.flow_style:
            raise InputError.single(str(path), "is no list of rows in block style", allowed="rows as `- id: ...`")
        ids = tuple(str(row.get("id", "")) if isinstance(row, dict) else "" for row in rows)
        starts = [text.rfind("\n", 0, node.start_mark.index) + 1 for node in root.value]
        ends = [*starts[1:], len(text)]
        spans = tuple((start, _without_comments(text, start, end)) for start, end in zip(starts, ends, strict=True))
        return cls(ids, spans, root.start_mark.column)


def _without_comments(text: str, start: int, end: int) -> int:
    """Move the end of a row before the blank lines and comments that stand above the next one."""
    lines = text[start:end].splitlines(keepends=True)
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        end -= len(lines.pop())
    return end


def _row_text(spec: ModelSpec, indent: int) -> str:
    """Write a model as a row; what is at its default is left out, except the kind of each group."""
    given = spec.model_dump(mode="json", exclude_defaults=True)
    given["groups"] = [{"kind": group.kind, **group.model_dump(exclude_defaults=True)} for group in spec.groups]
    order = ("id", *(key for key in given if key not in {"id", *_LAST_KEYS}), *_LAST_KEYS)
    text = yaml.safe_dump(
        [{key: given[key] for key in order}], sort_keys=False, allow_unicode=True, width=120, default_flow_style=None
    )
    return "".join(f"{' ' * indent}{line}" for line in text.splitlines(keepends=True))


def _joined(before: str, row: str, after: str) -> str:
    """Put a row between two texts, each on lines of its own."""
    return f"{before}{'' if not before or before.endswith(chr(10)) else chr(10)}{row}{after}"
