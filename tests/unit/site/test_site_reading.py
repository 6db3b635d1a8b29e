"""Formats read back: as machines read them, and with one kind of error whatever the text."""

from __future__ import annotations

import pytest

from kvplan.site.reading import values_in, yaml_in


@pytest.mark.parametrize(
    ("text", "read"), [("", None), ("a: [1, x]", {"a": [1, "x"]}), ("a: on\nb: 12:34", {"a": True, "b": 754})]
)
def test_yaml_is_read_as_machines_read_it(text: str, read: object) -> None:
    assert yaml_in(text) == read


@pytest.mark.parametrize(
    "text",
    ["a: [", "\0", "[" * 100_000, "!other x", "2001-99-99", "!!timestamp x", "!!bool x", "!!float ''", "? [a]\n: b"],
)
def test_what_is_no_yaml_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"^no YAML: [^\n]+$"):
        yaml_in(text)


def test_lines_of_values_are_read_without_comments() -> None:
    assert values_in("# none\n\n a = 1\nb=x=y\n  # c=2\nd\n") == {"a": "1", "b": "x=y", "d": ""}
