"""JSON made strict: no duplicate keys, no NaN or Infinity, no bombs, and syntax errors in plain words."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from kvplan.errors import InputError, Problem
from kvplan.inputs.bounds import MAX_DEPTH, MAX_DIGITS
from kvplan.inputs.loc import place_of

_STRING_OR_BARE = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s",:\[\]{}]+', re.DOTALL)
_PLAINER = {
    "Expecting value": "a value is missing",
    "Expecting property name enclosed in double quotes": "a key in double quotes is missing",
    "Expecting ',' delimiter": "a comma is missing",
    "Expecting ':' delimiter": "a colon is missing",
    "Extra data": "something follows the end of the JSON value",
    "Invalid control character at": "a line break or control character inside a text",
    "Invalid escape": "an escape that JSON does not know",
}
_OPENINGS = ((("//", "/*", "#"), "JSON knows no comments"), (("'",), "JSON wants double quotes"))


class _RefusedError(ValueError):
    """A token that JSON or kvplan does not allow."""

    def __init__(self, token: str, what: str) -> None:
        super().__init__(what)
        self.token = token


class _DuplicateKeyError(ValueError):
    """A key that stands twice in one object."""


def parse_json(text: str, name: str, *, non_finite: bool = False) -> Any:
    """Read a JSON text.

    Parameters
    ----------
    text
        The JSON text.
    name
        How problems call it.
    non_finite
        Let NaN and Infinity pass, which Hugging Face configurations hold (`time_step_limit`) though JSON knows
        neither.

    Returns
    -------
    Any
        Objects as dict, arrays as list, text, numbers, booleans and None.

    Raises
    ------
    InputError
        Naming the place of the problem.
    """
    try:
        constant = float if non_finite else _refuse_constant
        data = json.loads(text, parse_constant=constant, parse_int=_parse_int, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        raise InputError([_syntax_problem(error, text, name)]) from error
    except _RefusedError as error:
        raise InputError.single(place_of(text, _token_offset(text, error.token), name), str(error)) from error
    except _DuplicateKeyError as error:
        raise InputError(_duplicates(text, name, str(error))) from error
    except RecursionError as error:
        raise _too_deep(name) from error
    # Python's own limit depends on the build; this one does not, and YAML has the same.
    if _deeper_than(data, MAX_DEPTH):
        raise _too_deep(name)
    return data


def _refuse_constant(token: str) -> NoReturn:
    """Refuse NaN and the infinities, which Python's reader would let pass."""
    raise _RefusedError(token, f"{token} is not a number that JSON allows")


def _parse_int(token: str) -> int:
    """Read a whole number of bearable length."""
    if len(token) > MAX_DIGITS:
        raise _RefusedError(token, f"a number of {len(token):,} digits; at most {MAX_DIGITS}")
    return int(token)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object, refusing a key that stands twice."""
    data = dict(pairs)
    if len(data) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _DuplicateKeyError(next(key for key in data if keys.count(key) > 1))
    return data


def _duplicates(text: str, name: str, key: str) -> tuple[Problem, ...]:
    """Find both places of each duplicate key; without places where YAML cannot read the text."""
    from kvplan.inputs.yaml_text import compose_leniently, duplicate_keys  # noqa: PLC0415 - for errors only

    root = compose_leniently(text)
    found = duplicate_keys(root, name) if root is not None else ()
    return found or (Problem(name, "is given twice", key=key),)


def _deeper_than(data: Any, limit: int) -> bool:
    """Tell whether containers are nested more levels than the limit, without recursion."""
    level = [data]
    for _ in range(limit):
        level = [child for value in level for child in _children(value)]
        if not level:
            return False
    return True


def _children(value: Any) -> list[Any]:
    """List the containers directly inside a container."""
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list):
        return []
    return [child for child in value if isinstance(child, dict | list)]


def _too_deep(name: str) -> InputError:
    """Build the error for a depth bomb."""
    return InputError.single(name, "nested too deeply", allowed=f"at most {MAX_DEPTH} levels")


def _syntax_problem(error: json.JSONDecodeError, text: str, name: str) -> Problem:
    """Turn a syntax error into a problem in plain words, the same for every version of Python."""
    before, after = text[: error.pos].rstrip(), text[error.pos :].lstrip()
    if not after or error.msg.startswith("Unterminated string"):
        return Problem(place_of(text, error.pos, name), "ends in the middle", hint="is the file complete?")
    if after[:1] == ",":
        before, after = f"{before},", after[1:].lstrip()
    if before.endswith(",") and after[:1] in ("}", "]"):
        return Problem(place_of(text, len(before) - 1, name), "a comma before the closing bracket")
    opening = next((what for starts, what in _OPENINGS if after.startswith(starts)), "")
    message = "Invalid escape" if error.msg.startswith("Invalid \\") else error.msg
    what = opening or (_PLAINER.get(message, message) if before else "is not JSON")
    return Problem(place_of(text, error.pos, name), what)


def _token_offset(text: str, token: str) -> int:
    """Find a bare token, skipping what stands inside strings."""
    return next(match.start() for match in _STRING_OR_BARE.finditer(text) if match[0] == token)
