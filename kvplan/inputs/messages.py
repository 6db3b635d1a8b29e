"""What is wrong and what is allowed, in plain English, for every kind of validation error that people meet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvplan.errors import Problem, did_you_mean, shown
from kvplan.units import is_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_core import ErrorDetails

QUOTE = "put it in quotes"
UNQUOTE = "write it without quotes"


_WHAT: Mapping[str, str] = {
    "missing": "is missing",
    "extra_forbidden": "is not known",
    "invalid_key": "a key must be text",
    "int_type": "must be a whole number, not {input}",
    "int_parsing": "must be a whole number, not {input}",
    "int_from_float": "must be a whole number, not {input}",
    "int_parsing_size": "is too large a number",
    "float_type": "must be a number, not {input}",
    "float_parsing": "must be a number, not {input}",
    "finite_number": "must be a finite number, not {input}",
    "bool_type": "must be true or false, not {input}",
    "bool_parsing": "must be true or false, not {input}",
    "string_type": "must be text, not {input}",
    "string_pattern_mismatch": "{input} has the wrong form",
    "string_too_short": "must not be shorter than {min_length} characters, is {input}",
    "string_too_long": "must not be longer than {max_length} characters",
    "greater_than": "must be above {gt}, not {input}",
    "greater_than_equal": "must be at least {ge}, not {input}",
    "less_than": "must be below {lt}, not {input}",
    "less_than_equal": "must be at most {le}, not {input}",
    "multiple_of": "must be a multiple of {multiple_of}, not {input}",
    "literal_error": "{input} is not a choice",
    "enum": "{input} is not a choice",
    "union_tag_invalid": "{tag!r} is not a choice",
    "union_tag_not_found": "is missing",
    "none_required": "must be empty, not {input}",
    "model_type": "must be a mapping of keys to values, not {input}",
    "model_attributes_type": "must be a mapping of keys to values, not {input}",
    "dict_type": "must be a mapping of keys to values, not {input}",
    "mapping_type": "must be a mapping of keys to values, not {input}",
    "list_type": "must be a list, not {input}",
    "tuple_type": "must be a list, not {input}",
    "set_type": "must be a list, not {input}",
    "too_short": "must have at least {min_length} entries, has {actual_length}",
    "too_long": "must have at most {max_length} entries",
    "json_invalid": "holds text that is not valid Unicode",
    "value_error": "{error}",
    "assertion_error": "{error}",
}
_ALLOWED: Mapping[str, str] = {
    "literal_error": "allowed: {expected}",
    "enum": "allowed: {expected}",
    "union_tag_invalid": "allowed: {expected_tags}",
    "string_pattern_mismatch": "must match {pattern}",
}
_CHOICES: Mapping[str, str] = {"literal_error": "expected", "enum": "expected", "union_tag_invalid": "expected_tags"}


def problem_of(error: ErrorDetails, where: str, key: str = "") -> Problem:
    """Put one validation error into words.

    Parameters
    ----------
    error
        As pydantic lists it.
    where
        Place of the value.
    key
        Path of the value.

    Returns
    -------
    Problem
        What is wrong, what is allowed, and a hint where one helps; pydantic's own words for kinds not foreseen.
    """
    kind, context = error["type"], error.get("ctx", {})
    if kind == "string_too_short" and error["input"] == "":
        return Problem(where, "must not be empty", key=key)
    words = {name: _plain(value) for name, value in context.items()} | {"input": shown(error["input"])}
    what = _WHAT[kind].format(**words) if kind in _WHAT else _lowered(error["msg"])
    allowed = _ALLOWED.get(kind, "").format(**words)
    return Problem(where, what, key=key, allowed=allowed, hint=_hint(kind, error["input"], context))


def _hint(kind: str, given: Any, context: Mapping[str, Any]) -> str:
    """Say how to put it right, where that can be told from the value."""
    if kind in _CHOICES:
        choices = context[_CHOICES[kind]].replace(" or ", ", ").split(", ")
        return did_you_mean(str(context.get("tag", given)), [choice.strip("'") for choice in choices])
    if kind == "string_type" and isinstance(given, int | float):
        return QUOTE
    if kind in {"int_type", "float_type"} and isinstance(given, str) and is_number(given):
        return UNQUOTE
    return ""


def _plain(value: Any) -> Any:
    """Write whole limits without a fraction."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _lowered(message: str) -> str:
    """Fit pydantic's own sentence into ours."""
    sentence = message.removeprefix("Input ")
    return sentence[:1].lower() + sentence[1:]
