"""A number of a Plan as a tree: its value, its formula, and the same for everything that went into it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kvplan.core.derivation import derivation_of
from kvplan.core.paths import CONSTANTS, canonical, is_below, is_numeric, scalars, section_of, value_at
from kvplan.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kvplan.schema.plan import Derivation, Plan

_NOT_EXPLAINED = ("derivation", "constants", "catalogue", "parts")


@dataclass(frozen=True, slots=True)
class Explanation:
    """One number: where it stands, its value, how it came about, and its inputs."""

    path: str
    value: Any
    unit: str
    formula: str
    source: str
    confidence: str
    inputs: tuple[Explanation, ...] = ()


def explain(plan: Plan, field: str) -> tuple[Explanation, ...]:
    """Explain a field of a Plan: itself, or every number below it; where there is none, every text and yes or no.

    Parameters
    ----------
    plan
        The Plan.
    field
        Path such as `profile.usable_bytes`, `network.stages[drives].utilisation` or `kv`; list elements are
        addressed by index or by their name; empty for the whole Plan.

    Returns
    -------
    tuple of Explanation
        One tree a number.

    Raises
    ------
    InputError
        When the Plan has no such field, with close matches.

    Examples
    --------
    >>> import kvplan
    >>> plan = kvplan.size(kvplan.Request(model="gpt-oss-120b", context_tokens=130_000, gpus=128))
    >>> usable, = explain(plan, "profile.usable_bytes")
    >>> usable.value == plan.profile.usable_bytes, usable.unit
    (True, 'B')

    References
    ----------
    The Plan's own `derivation`; units such as [B] stand in each entry.
    """
    data = plan.model_dump(mode="json")
    if field.startswith(CONSTANTS) and field.removeprefix(CONSTANTS) in plan.constants:
        return (_explanation(field, data, plan.derivation, ()),)
    paths = list(number_paths(data))
    try:
        wanted = canonical(data, field) if field else ""
    except KeyError:
        what = f"the plan has no field {field!r}"
        raise InputError.single(where="field", what=what, hint=_hint(field, paths)) from None
    found = _below(wanted, paths) or _below(wanted, scalar_paths(data))
    if not found:
        raise InputError.single(where="field", what=f"{field!r} is empty", hint=_hint(field, paths))
    return tuple(_explanation(path, data, plan.derivation, ()) for path in found)


def numbers(data: Any) -> Iterator[tuple[str, int | float]]:
    """Yield path and value of every number, list elements by name where they have one.

    Parameters
    ----------
    data
        The Plan as plain data, or a part of it.

    Returns
    -------
    iterator of str and number
        Path and value of each number, in the unit that its derivation names, such as [B].

    Examples
    --------
    >>> list(numbers({"a": 1, "b": [{"name": "x", "c": 2}], "d": True}))
    [('a', 1), ('b[x].c', 2)]

    References
    ----------
    As `number_paths`.
    """
    return ((path, value) for path, value in scalars(data, skip=_NOT_EXPLAINED) if is_numeric(value))


def number_paths(data: Any) -> Iterator[str]:
    """Yield the path of every number, list elements by name where they have one.

    Parameters
    ----------
    data
        The Plan as plain data, or a part of it.

    Returns
    -------
    iterator of str
        Path of each number.

    Examples
    --------
    >>> list(number_paths({"a": 1, "b": [{"name": "x", "c": 2}], "d": True}))
    ['a', 'b[x].c']

    References
    ----------
    Definition of a number here: neither a boolean nor a text, nor part of the sections that explain themselves.
    """
    return (path for path, _ in numbers(data))


def scalar_paths(data: Any) -> Iterator[str]:
    """Yield the path of every number, text, and yes or no, list elements by name where they have one.

    Parameters
    ----------
    data
        The Plan as plain data, or a part of it.

    Returns
    -------
    iterator of str
        Path of each value.

    Examples
    --------
    >>> list(scalar_paths({"a": 1, "b": [{"name": "x", "c": None}], "d": True}))
    ['a', 'b[x].name', 'd']

    References
    ----------
    As `number_paths`; what is absent has no path.
    """
    return (path for path, value in scalars(data, skip=_NOT_EXPLAINED) if value is not None)


def _below(wanted: str, paths: Iterable[str]) -> list[str]:
    """List the paths at or below a field; all of them for no field."""
    return [path for path in paths if not wanted or path == wanted or is_below(path, wanted)]


def _explanation(path: str, data: Any, derivations: dict[str, Derivation], above: tuple[str, ...]) -> Explanation:
    """Build the tree of one number; a number that is its own ancestor is not followed again."""
    # Names of constants hold dots, so they are looked up whole instead of being walked.
    if path.startswith(CONSTANTS):
        row = data["constants"][path.removeprefix(CONSTANTS)]
        return Explanation(
            path, row["value"], row["unit"], row["note"] or "a constant", row["source"], row["confidence"]
        )
    entry = derivation_of(path, derivations)
    value = value_at(data, path)
    if entry is None:
        return Explanation(path, value, "", "", "", "")
    inputs = tuple(
        _explanation(name, data, derivations, (*above, path)) for name in entry.inputs if name not in (*above, path)
    )
    return Explanation(path, value, entry.unit, entry.formula, entry.source, entry.confidence, inputs)


def _hint(field: str, paths: list[str]) -> str:
    """Offer close matches, else the sections."""
    leaf_matches = [path for path in paths if path.rpartition(".")[2] == field]
    if leaf_matches:
        return f"did you mean {' or '.join(map(repr, leaf_matches[:3]))}?"
    sections = dict.fromkeys(map(section_of, paths))
    return did_you_mean(field, paths) or f"sections are {', '.join(sections)}"
