"""The one form of rules: declared beside their functions, collected in the order of ids, applied with a remedy."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from kvplan.site.rules import Break, findings, rule, rules_in, sentences

if TYPE_CHECKING:
    from collections.abc import Iterator


@rule("KV-XYZ-002", "A text is not empty.")
def _not_empty(text: str) -> Iterator[Break]:
    if not text:
        yield Break("text", "is empty")


@rule("KV-XYZ-001", "A text is short.", "warning")
def _short(text: str) -> Iterator[Break]:
    if len(text) > 3:
        yield Break("text", "is long")
    if len(text) > 6:
        yield Break("text", "is very long", "cut it", "error")


def _module() -> ModuleType:
    module = ModuleType("some_rules")
    vars(module).update({"first": _not_empty, "second": _short, "other": "no rule"})
    return module


def test_rules_of_modules_come_in_the_order_of_their_ids() -> None:
    assert rules_in(_module()) == (_short, _not_empty)
    assert sentences(rules_in(_module())) == {"KV-XYZ-001": "A text is short.", "KV-XYZ-002": "A text is not empty."}


def test_an_id_is_given_once() -> None:
    with pytest.raises(ValueError, match="two rules are called KV-XYZ-001"):
        sentences([_short, _not_empty, _short])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("abc", []),
        ("", [("KV-XYZ-002", "error", "is empty", "write anew")]),
        ("abcd", [("KV-XYZ-001", "warning", "is long", "write anew")]),
        (
            "abcdefg",
            [
                ("KV-XYZ-001", "warning", "is long", "write anew"),
                ("KV-XYZ-001", "error", "is very long", "cut it"),
            ],
        ),
    ],
)
def test_a_break_has_the_severity_of_its_rule_and_the_remedy_of_its_part(
    text: str, found: list[tuple[str, ...]]
) -> None:
    yielded = findings((_short, _not_empty), text, "write anew")
    assert [(one.id, one.severity, one.text, one.remedy) for one in yielded] == found
