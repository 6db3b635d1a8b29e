"""Write the reference pages: docs/plan-format.md from the schema, docs/cli.md from the verbs, docs/checks.md.

In docs/published-figures.md it writes what stands between two marks, from the claims that `kvplan reference` settles.

::

    python docs/generate.py           # rewrites the pages; `make docs` does the same
    python docs/generate.py --check   # exit code 1 when a page is out of date
"""  # noqa: INP001 - a script beside the pages that it writes, no package

from __future__ import annotations

import argparse
import inspect
import sys
from dataclasses import dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

import typer
import yaml

from kvplan.api import reference_claims
from kvplan.checks.page import checks_page
from kvplan.cli.app import app
from kvplan.core.paths import CONSTANTS, is_below, section_of
from kvplan.schema.base import explained_of, records_in
from kvplan.schema.hardware import Row
from kvplan.schema.model import LayerGroup
from kvplan.schema.plan import FORMAT_VERSION, Plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pydantic import BaseModel

DOCS = Path(__file__).parent
MEANINGS = "plan-meanings.yaml"
NOTICE = (
    "<!-- Made by docs/generate.py (`make docs`); edit the schema, the help texts or plan-meanings.yaml instead. -->"
)
CLAIMS_PAGE = "published-figures.md"
CLAIMS_BEGIN = (
    "<!-- Made by docs/generate.py (`make docs`) of `kvplan reference`; edit catalogue/claims.yaml instead. -->"
)
CLAIMS_END = "<!-- End of what is made. -->"
PLAIN = {int: "integer", float: "number", str: "text", bool: "yes or no"}
LAYER_GROUPS = "model.groups"
ELSEWHERE = {LAYER_GROUPS, "workload.given"}
"""Records whose fields another place lists: the end of the page, and docs/workloads.md."""


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One field of the Plan: where it stands, its type, unit and meaning, and the fields its formula uses."""

    path: str
    type: str
    unit: str
    meaning: str
    inputs: tuple[str, ...] = ()


def plan_page() -> str:
    """Return docs/plan-format.md."""
    meanings: dict[str, str] = yaml.safe_load((DOCS / MEANINGS).read_text(encoding="utf-8"))
    rows = list(field_rows(Plan, meanings))
    sections = dict.fromkeys(section_of(row.path) for row in rows)
    nested = [name for name in sections if any(records_in(Plan.model_fields[name].annotation))]
    parts = [_plan_head(), _table([row for row in rows if row.path not in nested and row.path in sections])]
    for name in nested:
        parts += [f"## `{name}`", _section_text(name), _table([row for row in rows if is_below(row.path, name)])]
    parts += ["## Layer groups", _layer_groups()]
    return "\n\n".join(parts) + "\n"


def cli_page() -> str:
    """Return docs/cli.md."""
    head = [NOTICE, "# The verbs and their options", _CLI_INTRODUCTION]
    return "\n\n".join([*head, *_verb_parts(typer.main.get_command(app), "kvplan")]) + "\n"


def _checks_page() -> str:
    """Return docs/checks.md."""
    return f"{NOTICE}\n\n{checks_page()}"


def claims_page() -> str:
    """Return docs/published-figures.md with the settled claims between its marks.

    Raises
    ------
    ValueError
        When the page has no such marks.
    """
    head, begin, rest = (DOCS / CLAIMS_PAGE).read_text(encoding="utf-8").partition(CLAIMS_BEGIN)
    _, end, tail = rest.partition(CLAIMS_END)
    if not (begin and end):
        message = f"docs/{CLAIMS_PAGE} has no marks around what is made of the claims"
        raise ValueError(message)
    return f"{head}{begin}\n\n{_claims_table()}\n\n{end}{tail}"


def _claims_table() -> str:
    """Write the claims as a Markdown table."""
    lines = ["| claim | published | kvplan | verdict | why | source |", "|---|---|---|---|---|---|"]
    for claim in reference_claims().claims:
        cells = (claim.claim, claim.published, claim.computed, f"**{claim.verdict}**", claim.why, claim.source)
        lines.append(f"| {' | '.join(_cell(cell) for cell in cells)} |")
    return "\n".join(lines)


PAGES: dict[str, Callable[[], str]] = {
    "plan-format.md": plan_page,
    "cli.md": cli_page,
    "checks.md": _checks_page,
    CLAIMS_PAGE: claims_page,
}


def field_rows(record: type[BaseModel], meanings: dict[str, str]) -> Iterator[FieldRow]:
    """Yield every field of a record and of the records below it; equal records are written out once.

    Raises
    ------
    KeyError
        When a field has neither an explanation in the schema nor a row in plan-meanings.yaml.
    """
    yield from _walk(record, "", meanings, {})


def _walk(
    record: type[BaseModel], prefix: str, meanings: dict[str, str], written: dict[type[BaseModel], str]
) -> Iterator[FieldRow]:
    """Yield the fields of one record; `written` tells where a record class was written out before."""
    for name, field in record.model_fields.items():
        path = f"{prefix}{name}"
        explained = explained_of(field)
        nested = list(records_in(field.annotation))
        if nested and path not in ELSEWHERE and not issubclass(nested[0], Row):
            yield from _nested_rows(nested[0], f"{path}{_suffix(field.annotation)}", meanings, written)
        elif explained is not None:
            yield FieldRow(path, _type_text(field.annotation), explained.unit, explained.formula, explained.inputs)
        else:
            yield FieldRow(path, _type_text(field.annotation), "", _meaning(path, meanings))


def _nested_rows(
    record: type[BaseModel], path: str, meanings: dict[str, str], written: dict[type[BaseModel], str]
) -> Iterator[FieldRow]:
    """Yield the fields of a record inside another, or where the same ones were written out before."""
    if record in written:
        yield FieldRow(path, "record", "", f"the same fields as `{written[record]}`")
        return
    written[record] = path
    yield from _walk(record, f"{path}.", meanings, written)


def _meaning(path: str, meanings: dict[str, str]) -> str:
    """Look a field up by its path, else by its own name alone."""
    name = path.rpartition(".")[2]
    if path not in meanings and name not in meanings:
        message = f"{path}: say what it means in docs/{MEANINGS}"
        raise KeyError(message)
    return meanings.get(path) or meanings[name]


def _suffix(annotation: Any) -> str:
    """Say how the elements of a field are addressed."""
    return {tuple: "[]", dict: ".<id>"}.get(get_origin(annotation), "")


def _type_text(annotation: Any) -> str:
    """Write a type in words."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _type_text(parts[0])
    if origin is Literal:
        return " or ".join(f"`{part}`" for part in parts)
    if origin in (Union, UnionType) and NoneType in parts:
        return f"{_type_text(next(part for part in parts if part is not NoneType))}, may be null"
    if origin is tuple:
        return "list of records" if any(records_in(annotation)) else f"list of {_type_text(parts[0])}"
    return PLAIN.get(annotation, "record")


def _plan_head() -> str:
    """Return what stands before the first table."""
    introduction = _PLAN_INTRODUCTION.format(version=FORMAT_VERSION)
    return f"{NOTICE}\n\n# The Plan, field by field\n\n{introduction}\n\n## At the top"


def _section_text(name: str) -> str:
    """Return what the schema says of the record behind a section."""
    return inspect.getdoc(next(records_in(Plan.model_fields[name].annotation))) or ""


def _table(rows: list[FieldRow]) -> str:
    """Write fields as a Markdown table."""
    lines = ["| field | type | unit | meaning |", "|---|---|---|---|"]
    return "\n".join(lines + [_line(row) for row in rows])


def _line(row: FieldRow) -> str:
    """Write one field; the catalogue constants that its formula uses are named."""
    constants = [name for name in row.inputs if name.startswith(CONSTANTS)]
    used = f" (uses {', '.join(f'`{name}`' for name in constants)})" if constants else ""
    return f"| `{row.path}` | {row.type} | {row.unit} | {_cell(row.meaning + used)} |"


def _layer_groups() -> str:
    """Write the kinds of layer groups with their fields."""
    lines = ["| kind | fields beside `kind` | what such layers keep |", "|---|---|---|"]
    for record in records_in(LayerGroup):
        fields = ", ".join(f"`{name}`" for name in record.model_fields if name != "kind")
        text = " ".join((inspect.getdoc(record) or "").split())
        lines.append(f"| `{record.model_fields['kind'].default}` | {fields} | {_cell(text)} |")
    return "\n".join(lines)


def _verb_parts(command: Any, name: str) -> Iterator[str]:
    """Yield the parts of one verb's description, then those of the verbs below it."""
    yield f"## {name}"
    yield inspect.cleandoc(command.help or "")
    examples = inspect.cleandoc((command.epilog or "").partition("Examples:\n")[2]).splitlines()
    if examples:
        yield "\n".join(["```", *examples, "```"])
    yield "\n".join(["| option | meaning |", "|---|---|", *(_option_line(param) for param in command.params)])
    for child_name, child in getattr(command, "commands", {}).items():
        yield from _verb_parts(child, f"{name} {child_name}")


def _option_line(param: Any) -> str:
    """Write one option or argument with its default."""
    spellings = [param.name] if param.param_type_name == "argument" else [*param.opts, *param.secondary_opts]
    names, text = ", ".join(f"`{spelling}`" for spelling in spellings), param.help or ""
    if param.required:
        text += " Required."
    elif isinstance(param.default, str | int | float) and not isinstance(param.default, bool):
        text += f" Default: {param.default}."
    return f"| {names} | {_cell(text)} |"


def _cell(text: str) -> str:
    """Write text so that it stays in its cell and is no markup."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


_PLAN_INTRODUCTION = """\
`kvplan size -o plan.json` saves a Plan: one JSON document in format version {version}, equal bytes for equal input and
catalogue. Every number can be asked for: `kvplan explain plan.json FIELD`. `[]` stands for each element of a list,
which `explain` also addresses by its name, as in `network.stages[uplink].utilisation`; `<id>` for each key of a table.

Sizes are bytes (B), rates bytes a second (B/s), shares run from 0 to 1. GB is 10^9 B and GiB is 2^30 B wherever a
figure is printed. A kvplan that reads another format version refuses the file with exit code 8."""

_CLI_INTRODUCTION = """\
The result goes to stdout, everything else to stderr. Quantities are read as people write them: `130k` and `130000` are
130,000, `128Ki` is 131,072, `1.5M` is 1,500,000. Exit codes and error lines: see
[errors-and-exit-codes.md](errors-and-exit-codes.md)."""


def main() -> int:
    """Write the pages, or with --check only compare them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 when a page is out of date")
    check: bool = parser.parse_args().check
    stale = []
    for name, make in PAGES.items():
        page, path = make(), DOCS / name
        if not path.is_file() or path.read_text(encoding="utf-8") != page:
            stale.append(name)
            if not check:
                path.write_text(page, encoding="utf-8")
    sys.stdout.write("".join(f"{name} {'is out of date' if check else 'written'}\n" for name in stale))
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
