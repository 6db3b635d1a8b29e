from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kvplan.inputs.yaml_text import parse_yaml
from kvplan.site.yaml_out import yaml_text

TEXTS = st.text(
    st.characters(
        codec="utf-8",
        exclude_categories=("Cc", "Cs", "Zl", "Zp"),
        exclude_characters="\ufeff\ufffe\uffff",
        include_characters="\n\t",
    )
)
DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
TRAPS = [
    "on", "Off", "YES", "no", "y", "N", "true", "False", "null", "Null", "~", "", " ", " x", "x ", "1", "1.0", "1e3",
    "0x1f", "0o17", "017", "1_000", "10:20:30", "10:20:30:40:50:60", "190:20:30", "2026-11-30", "2026-11-30 10:00:00",
    "a: b", "a #b", "- a", "-", "?", "[a]", "{a}", "{{ kv_secret_x }}", "&a", "*a", "!a", "%a", "@a", "`a", "'a'",
    '"a"', "a'b", "=", "<<", ".inf", ".nan", "1.2.3.4/31", "::1", "a\\b", "a\nb", "a\nb\n", "a\n\nb\n\n", " a\nb",
    "a\n  b\n", "\n", "a\tb", "None", "nan", "é", "x:", "1:2", "e", "_1", "-1", "+1", ".5", "a" * 300,
]  # fmt: skip


@pytest.mark.parametrize("text", TRAPS)
def test_a_text_comes_back_as_that_text_as_key_value_and_element(text: str) -> None:
    data: dict[str, Any] = {text: [text, {"a": text, "b": [text]}, [[text]]]}
    assert yaml.safe_load(yaml_text(data)) == data
    assert parse_yaml(yaml_text(data), "file") == data


@given(DATA)
def test_any_data_comes_back(data: Any) -> None:
    assert yaml.safe_load(yaml_text(data)) == data


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({}, "{}\n"),
        ([], "[]\n"),
        ("on", '"on"\n'),
        (None, "null\n"),
        (
            {"a": {}, "b": [], "c": None, "d": True, "e": 1.0, "f": 1e30},
            "a: {}\nb: []\nc: null\nd: true\ne: 1.0\nf: 1.0e+30\n",
        ),
        ([{"a": 1, "b": {"c": "x y"}}, ["d"]], "- a: 1\n  b:\n    c: x y\n- - d\n"),
        ({"run": "one\ntwo\n", "cut": "one\ntwo"}, "run: |\n  one\n  two\ncut: |-\n  one\n  two\n"),
        ({"10": "swp1s0"}, '"10": swp1s0\n'),
    ],
)
def test_the_style_is_block_with_quotes_where_they_matter(data: Any, text: str) -> None:
    assert yaml_text(data) == text


def test_keys_keep_their_order() -> None:
    assert list(yaml.safe_load(yaml_text({"b": 1, "a": 2, "c": 3}))) == ["b", "a", "c"]


@pytest.mark.parametrize("data", [{1: "a"}, {None: "a"}, {"a": {2: 3}}, {"a": object()}])
def test_what_is_no_yaml_is_refused(data: Any) -> None:
    with pytest.raises(TypeError):
        yaml_text(data)


@pytest.mark.parametrize("data", [{"a": float("nan")}, [float("inf")], "a\x00b", {"\x07": 1}])
def test_what_yaml_has_no_place_for_is_refused(data: Any) -> None:
    with pytest.raises(ValueError, match=r"finite|no place"):
        yaml_text(data)
