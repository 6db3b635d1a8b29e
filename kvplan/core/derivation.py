"""How each number of a Plan came about, read off the annotations of its fields."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, get_origin

from kvplan.schema.base import explained_of, records_in
from kvplan.schema.plan import Derivation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import BaseModel

    from kvplan.schema.base import Explained

_INDEX = re.compile(r"\[[^\]]*\]")


@lru_cache
def static_derivations(model: type[BaseModel], prefix: str = "") -> dict[str, Derivation]:
    """Collect the explanations of all number fields below a record class.

    Keys are field paths such as `profile.usable_bytes`; `[]` stands for every element of a list, as in
    `candidates[].nodes`.

    >>> from kvplan.schema.plan import Plan
    >>> static_derivations(Plan)["profile.usable_bytes"].unit
    'B'
    """
    return dict(_walk(model, prefix))


def pattern_of(path: str) -> str:
    """Replace the indexes in a path by `[]`.

    >>> pattern_of("candidates[2].limits[read_bandwidth].need")
    'candidates[].limits[].need'
    """
    return _INDEX.sub("[]", path)


def derivation_of(path: str, derivations: dict[str, Derivation]) -> Derivation | None:
    """Return the most specific explanation of a path: its own, its list's, or that of the table it stands in.

    >>> table = {"model.groups": Derivation(formula="from the configuration", unit="")}
    >>> derivation_of("model.groups[0].layers", table).formula
    'from the configuration'
    """
    # From the most specific to the least: this element, its name in any list, any element, then what it stands in.
    candidates = [path, _last_index_kept(path), pattern_of(path)]
    parent = pattern_of(path)
    while "." in parent or parent.endswith("[]"):
        parent = parent[:-2] if parent.endswith("[]") else parent.rpartition(".")[0]
        candidates.append(parent)
    return next((derivations[key] for key in candidates if key in derivations), None)


def _last_index_kept(path: str) -> str:
    """Replace every index but the last by `[]`, so that one stage or limit can be explained by its name."""
    head, bracket, tail = path.rpartition("[")
    return f"{pattern_of(head)}{bracket}{tail}"


def _walk(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, Derivation]]:
    """Yield path and explanation of each field of a record class and of the records below it."""
    for name, field in model.model_fields.items():
        path = f"{prefix}{name}"
        explained = explained_of(field)
        if explained is not None:
            yield path, _as_derivation(explained)
        suffix = "[]" if get_origin(field.annotation) is tuple else ""
        for record in records_in(field.annotation):
            yield from _walk(record, f"{path}{suffix}.")


def _as_derivation(explained: Explained) -> Derivation:
    """Turn the annotation into the record that the Plan carries."""
    return Derivation(
        formula=explained.formula,
        unit=explained.unit,
        inputs=explained.inputs,
        source=explained.source,
        confidence=explained.confidence,
    )
