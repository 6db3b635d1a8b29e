"""Whatever is written as JSON is read back equal, from JSON and as YAML, and each value is found at its place."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from kvplan.inputs.document import Document
from kvplan.inputs.json_text import parse_json
from kvplan.inputs.yaml_text import parse_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.inputs.loc import Loc

WORDS = st.text(alphabet="abcXYZ \N{SNOWMAN}:#-'", max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_json_is_read_back_equal_by_both_readers(data: object) -> None:
    text = json.dumps(data, ensure_ascii=False)
    assert parse_json(text, "f") == data
    assert parse_yaml(text, "f") == data


@given(VALUES, st.sampled_from([None, 1, "\t"]))
def test_every_value_is_found_where_it_stands(data: object, indent: int | str | None) -> None:
    text = json.dumps(data, indent=indent, ensure_ascii=False)
    document = Document(data, "f", text)
    for loc, value in _values(data, ()):
        line, column = (int(part) for part in document.where(loc).split(":")[1:])
        rest = "\n".join([text.split("\n")[line - 1][column - 1 :], *text.split("\n")[line:]])
        assert json.JSONDecoder().raw_decode(rest)[0] == value


def _values(data: object, loc: Loc) -> Iterator[tuple[Loc, object]]:
    yield loc, data
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield from _values(value, (*loc, key))
