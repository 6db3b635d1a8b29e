"""Validation that reports every problem at once, where it stands and in plain English."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from kvplan.errors import InputError, Problem, did_you_mean
from kvplan.inputs.keys import known_keys
from kvplan.inputs.loc import key_path, line_and_column
from kvplan.inputs.messages import problem_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pydantic_core import ErrorDetails

    from kvplan.inputs.document import Document
    from kvplan.inputs.loc import Loc

ModelT = TypeVar("ModelT", bound=BaseModel)
MAX_KEYS_LISTED = 12
_DISCRIMINATOR_ERRORS = {"union_tag_invalid", "union_tag_not_found"}


def validate(model_cls: type[ModelT], document: Document, *, data: Any = None, loc: Loc = ()) -> ModelT:
    """Turn what a file holds into a record.

    Types are taken at their word, as JSON has them: `"8"` and `true` are no numbers.

    Parameters
    ----------
    model_cls
        The record's class.
    document
        The file that was read.
    data
        The part of it to validate; the whole when absent.
    loc
        Path of that part inside the document.

    Returns
    -------
    ModelT
        The record.

    Raises
    ------
    InputError
        With every problem: place, key, what is wrong, what is allowed, and what was perhaps meant.
    """
    given = document.data if data is None and not loc else data
    try:
        return model_cls.model_validate_json(json.dumps(given, default=str), strict=True)
    except ValidationError as error:
        problems = (_problem(details, model_cls, document, given, loc) for details in _innermost(error))
        raise InputError(sorted(_merged(problems), key=line_and_column)) from error


def problems_of(error: ValidationError, where_of: Callable[[Loc], str]) -> tuple[Problem, ...]:
    """List the problems of values that came from no file, such as options.

    Parameters
    ----------
    error
        What pydantic raised.
    where_of
        Names the place of a path, for example `--gpus` for `("gpus",)`.

    Returns
    -------
    tuple of Problem
        One for each value that is wrong.
    """
    return _merged(problem_of(details, where_of(details["loc"])) for details in _innermost(error))


def _innermost(error: ValidationError) -> list[ErrorDetails]:
    """List what is wrong, leaving out what is said of a list only because its elements are wrong."""
    found = error.errors(include_url=False)
    inner = [details["loc"] for details in found]
    return [
        details
        for details in found
        if details["type"] != "too_short" or not any(_within(loc, details["loc"]) for loc in inner)
    ]


def _within(loc: Loc, outer: Loc) -> bool:
    """Tell whether a path leads into another."""
    return len(loc) > len(outer) and loc[: len(outer)] == outer


def _problem(details: ErrorDetails, model_cls: type[BaseModel], document: Document, data: Any, outer: Loc) -> Problem:
    """Word one error of a document, with its place and key."""
    kind = details["type"]
    inner = _without_tags(details["loc"], data, keep_last=kind == "missing")
    if kind in _DISCRIMINATOR_ERRORS:
        inner = (*inner, details["ctx"]["discriminator"].strip("'"))
    place = document.where((*outer, *inner), at_key=kind == "extra_forbidden")
    problem = problem_of(details, place, key_path((*outer, *inner)))
    return _with_known_keys(problem, details, model_cls) if kind == "extra_forbidden" else problem


def _with_known_keys(problem: Problem, details: ErrorDetails, model_cls: type[BaseModel]) -> Problem:
    """Say which key was perhaps meant, else which keys there are when they are few."""
    keys = known_keys(model_cls, details["loc"][:-1])
    hint = did_you_mean(str(details["loc"][-1]), keys)
    listed = not hint and 0 < len(keys) <= MAX_KEYS_LISTED
    return replace(problem, hint=hint, allowed=f"allowed: {', '.join(keys)}" if listed else "")


def _without_tags(loc: Loc, data: Any, *, keep_last: bool) -> Loc:
    """Drop the segments that name a branch of a union rather than a place in the data."""
    kept: list[str | int] = []
    for index, part in enumerate(loc):
        last = keep_last and index == len(loc) - 1
        if last or _holds(data, part):
            kept.append(part)
            data = None if last else data[part]
    return tuple(kept)


def _holds(data: Any, part: str | int) -> bool:
    """Tell whether data has such a key or index."""
    if isinstance(data, dict):
        return part in data
    return isinstance(data, list | tuple) and isinstance(part, int) and part < len(data)


def _merged(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Join what the branches of a union say of one value into one problem."""
    merged: dict[tuple[str, str], Problem] = {}
    for problem in problems:
        known = merged.get((problem.where, problem.key))
        if known is not None:
            problem = replace(known, what=f"{known.what}, or {problem.what}")  # noqa: PLW2901 - the joint problem
        merged[problem.where, problem.key] = problem
    return tuple(merged.values())
