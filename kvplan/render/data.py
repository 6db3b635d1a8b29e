"""Results as data: JSON, YAML and CSV, complete and in a fixed order."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING, Any

from kvplan.units import is_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pydantic import BaseModel

_FORMULA_STARTS = ("=", "+", "-", "@", "\t")
_NOT_PLAIN = re.compile(r"['=+\-@\t].*|[\d\s.,:/+-]+|\d+(?:\.\d*)?[eE][+-]?\d+", re.DOTALL)
"""Texts that a spreadsheet would take for something else: formulas, numbers, days, times."""


def record_json(record: BaseModel) -> str:
    """Write a record as JSON, two spaces deep, ending in a newline."""
    return data_json(record.model_dump(mode="json"))


def data_json(data: Any) -> str:
    """Write plain data as JSON, two spaces deep, ending in a newline."""
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def data_yaml(data: Any) -> str:
    """Write plain data as YAML in the order in which it stands."""
    import yaml  # noqa: PLC0415 - only this format needs it

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return str(yaml.dump(data, Dumper=dumper, sort_keys=False, allow_unicode=True, width=120))


def rows_csv(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write rows as CSV with a header; texts that a spreadsheet would run as a formula are quoted with `'`."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(headers)
    writer.writerows([_harmless(cell) for cell in row] for row in rows)
    return buffer.getvalue()


def marked(text: str) -> str:
    """Mark a text that a spreadsheet would take for something else, such as the line `1.10` for a number.

    >>> marked("1.10"), marked("MCP4Y10-N001")
    ("'1.10", 'MCP4Y10-N001')
    """
    return f"'{text}" if _NOT_PLAIN.fullmatch(text) else text


def unmarked(text: str) -> str:
    """Take the mark off a text again.

    >>> unmarked("'1.10"), unmarked("offer '-5%' of May"), unmarked("'t Hooft")
    ('1.10', "offer '-5%' of May", "'t Hooft")
    """
    stripped = text.strip()
    return stripped[1:] if stripped.startswith("'") and _NOT_PLAIN.fullmatch(stripped[1:]) else stripped


def _harmless(cell: str) -> str:
    """Keep a spreadsheet from running a text as a formula; numbers stay numbers."""
    line = cell.replace("\r", " ")
    # Negative numbers begin like formulas and must stay numbers.
    return f"'{line}" if line.startswith(_FORMULA_STARTS) and not is_number(line) else line
