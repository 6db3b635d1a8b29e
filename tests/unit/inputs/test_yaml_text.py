"""YAML: what is refused and why, how scalars are read, and where values stand."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from kvplan.errors import InputError
from kvplan.inputs.bounds import MAX_DEPTH
from kvplan.inputs.yaml_text import compose_leniently, parse_yaml

if TYPE_CHECKING:
    from collections.abc import Callable

_BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]\n" for level in range(1, 8)
)
BAD = {
    "duplicate key": "gpus: 8\nmodel: x\ngpus: 16\n",
    "duplicate key, nested, three times": "a:\n  - b: 1\n    'b': 2\n    b: 3\n",
    "cyclic alias": "a: &loop\n  b: *loop\n",
    "list that holds itself": "&all [1, *all]\n",
    "alias bomb": _BOMB,
    "depth bomb, flow": "[" * 100_000,
    "depth bomb, block": "- " * 100 + "x",
    "undefined alias": "a: *nobody\n",
    "custom tag": "a: !vault secret\n",
    "python tag": "!!python/object/apply:os.system ['true']\n",
    "binary tag": "a: !!binary aGVsbG8=\n",
    "tab": "a:\n\tb: 1\n",
    "two documents": "a: 1\n---\na: 2\n",
    "unclosed bracket": "a: [1, 2\nb: 3\n",
    "unclosed quote": 'a: "text\nb: 3\n',
    "colon in text": "note: this: that\n",
    "at sign": "name: @home\n",
    "wrong indent": "a:\n   b: 1\n  c: 2\n",
    "control character": "name: caf\xe9 \x1b[0m\n",
    "huge number": f"gpus: {'9' * 5000}\n",
    "key that is a list": "? [a, b]\n: 1\n",
    "key that is true": "true: 1\n",
    "key that is nothing": "~: 1\n",
    "two faults at once": "a: !x 1\nb: !y 2\n",
}


def test_every_bad_text_has_its_message(golden: Callable[[str, str], None]) -> None:
    lines = []
    for case, text in BAD.items():
        with pytest.raises(InputError) as raised:
            parse_yaml(text, "file.yaml")
        lines.append(f"# {case}\n{raised.value}\n")
    golden("inputs/yaml.txt", "\n".join(lines))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("true", True),
        ("2026-01-31", "2026-01-31"),
        ("12:34:56:12:34:56", "12:34:56:12:34:56"),
        ("010", "010"),
        ("0x1F", 31),
        ("1_000", 1000),
        ("-8", -8),
        ("1e9", 1e9),
        ("117.5e9", 117.5e9),
        (".5", 0.5),
        (".inf", math.inf),
        ("8+2P", "8+2P"),
        ("'8'", "8"),
        ("~", None),
        ("null", None),
        ("", None),
    ],
)
def test_scalars_are_read_as_yaml_1_2_does(text: str, value: object) -> None:
    assert parse_yaml(f"a: {text}\n", "f") == {"a": value}


def test_aliases_and_merges_within_reason_are_welcome() -> None:
    text = "base: &base {gpus: 8, tp: 2}\nbig:\n  <<: *base\n  gpus: 16\nagain: *base\n"
    data = parse_yaml(text, "f")
    assert data["big"] == {"gpus": 16, "tp": 2}
    assert data["again"] == data["base"]


def test_the_deepest_allowed_text_is_read() -> None:
    levels = MAX_DEPTH - 1
    assert parse_yaml("[" * levels + "1" + "]" * levels, "f")


@pytest.mark.parametrize("text", ["a: [", "\x07", "\ud800"])
def test_text_that_is_no_yaml_composes_to_nothing(text: str) -> None:
    assert compose_leniently(text) is None
