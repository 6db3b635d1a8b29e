"""Where values stand in their files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from kvplan.inputs.document import Document
from kvplan.inputs.yaml_text import parse_yaml

if TYPE_CHECKING:
    from kvplan.inputs.loc import Loc

TEXT = """\
name: rack
nodes:
  - name: n1
    ram_gb: 512
  - {name: n2, ram_gb: 1024}
"""


@pytest.mark.parametrize(
    ("loc", "value_at", "key_at"),
    [
        ((), "f:1:1", "f:1:1"),
        (("name",), "f:1:7", "f:1:1"),
        (("nodes",), "f:3:3", "f:2:1"),
        (("nodes", 0, "ram_gb"), "f:4:13", "f:4:5"),
        (("nodes", 1), "f:5:5", "f:5:5"),
        (("nodes", 1, "ram_gb"), "f:5:24", "f:5:16"),
        (("nodes", 1, "missing"), "f:5:5", "f:5:5"),
        (("nodes", 7), "f:3:3", "f:2:1"),
        (("name", "below", "text"), "f:1:7", "f:1:1"),
    ],
)
def test_positions_in_yaml(loc: Loc, value_at: str, key_at: str) -> None:
    document = Document(parse_yaml(TEXT, "f"), "f", TEXT)
    assert document.where(loc) == value_at
    assert document.where(loc, at_key=True) == key_at


@pytest.mark.parametrize("indent", [None, 2, "\t"])
def test_positions_in_json(indent: int | str | None) -> None:
    text = json.dumps({"a": [1, {"b": "\N{SNOWMAN}"}], "c": 2}, indent=indent, ensure_ascii=False)
    offset = text.index('"\N{SNOWMAN}"')
    line = text.count("\n", 0, offset) + 1
    column = offset - text.rfind("\n", 0, offset)
    assert Document(None, "f", text).where(("a", 1, "b")) == f"f:{line}:{column}"


def test_the_name_alone_where_no_position_can_be_told() -> None:
    assert Document({}, "f", '{"a": "\\ud83d\\ude00"}').where(("a",)) == "f"
    assert Document({}, "built-in").where(("a",)) == "built-in"
