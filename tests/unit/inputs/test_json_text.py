"""JSON: what is refused and why, the same on every Python."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from kvplan.errors import InputError
from kvplan.inputs.bounds import MAX_DEPTH
from kvplan.inputs.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Callable

BAD = {
    "truncated object": '{"model": "x",\n "gpus": ',
    "truncated text": '{"model": "gpt-',
    "trailing comma, object": '{\n  "gpus": 8,\n}\n',
    "trailing comma, array": "[1, 2, ]",
    "missing comma": '{"a": 1\n "b": 2}',
    "missing colon": '{"a" 1}',
    "single quotes": "{'a': 1}",
    "key without quotes": "{a: 1}",
    "comment": '{\n  // the model\n  "a": 1}',
    "comment at the top": "# the model\n{}",
    "line break in a text": '{"a": "one\ntwo"}',
    "bad escape": r'{"a": "\x"}',
    "two values": '{"a": 1}\n{"a": 2}',
    "duplicate key": '{"gpus": 8,\n\t"a": 1,\n\t"gpus": 16}',
    "duplicate key where YAML cannot help": '{"a": "\\ud83d\\ude00", "a": 1}',
    "NaN": '{"note": "NaN is bad",\n "x": NaN}',
    "minus infinity": '{"x": [1, -Infinity]}',
    "depth bomb": "[" * 100_000,
    "deep": "[" * 65 + "]" * 65,
    "huge number": f'{{"gpus": {"9" * 5000}}}',
    "YAML instead": "gpus: 8\n",
    "HTML instead": "<!DOCTYPE html>",
}


def test_every_bad_text_has_its_message(golden: Callable[[str, str], None]) -> None:
    lines = []
    for case, text in BAD.items():
        with pytest.raises(InputError) as raised:
            parse_json(text, "file.json")
        lines.append(f"# {case}\n{raised.value}\n")
    golden("inputs/json.txt", "\n".join(lines))


def test_json_as_others_write_it_is_read() -> None:
    data = {"text_config": {"layers": [1, 2.5, None, True]}, "note": "NaN, // and 'quotes' \N{SNOWMAN}"}
    assert parse_json(json.dumps(data, indent="\t"), "f") == data


def test_infinity_passes_where_the_caller_lets_it() -> None:
    data = parse_json('{"time_step_limit": [0.0, Infinity], "x": NaN}', "f", non_finite=True)
    assert data["time_step_limit"] == [0.0, float("inf")]


def test_a_bare_number_is_json() -> None:
    assert parse_json("3", "f") == 3


def test_the_deepest_allowed_text_is_read() -> None:
    assert parse_json("[" * MAX_DEPTH + "]" * MAX_DEPTH, "f")


def test_a_trailing_comma_is_named_alike_whether_python_points_at_it_or_behind_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "[1, 2, ]"
    places = set()
    for offset in (5, 7):
        error = json.JSONDecodeError("any", text, offset)

        def fail(*_: object, error: json.JSONDecodeError = error, **__: object) -> None:
            raise error

        monkeypatch.setattr("kvplan.inputs.json_text.json.loads", fail)
        with pytest.raises(InputError) as raised:
            parse_json(text, "f")
        places.add(str(raised.value))
    assert places == {"f:1:6: a comma before the closing bracket"}
