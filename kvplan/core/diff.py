"""What changed between two Plans, field by field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.schema.plan import Plan

_NOT_COMPARED = ("derivation",)
_KEYS = ("name", "id", "erasure_code")


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that was added, removed or changed."""

    path: str
    kind: Literal["added", "removed", "changed"]
    before: Any
    after: Any

    @property
    def relative(self) -> float | None:
        """Relative change [1] of a number, if both sides are numbers and the first is not 0."""
        sides = (self.before, self.after)
        numbers = all(isinstance(side, (int, float)) and not isinstance(side, bool) for side in sides)
        return self.after / self.before - 1 if numbers and self.before else None


def differences(before: Plan, after: Plan) -> tuple[Difference, ...]:
    """Compare two Plans; list elements are matched by name, so that a new candidate shifts nothing.

    Parameters
    ----------
    before
        The Plan that was there.
    after
        The Plan that replaces it.

    Returns
    -------
    tuple of Difference
        In the order of the fields; empty when the Plans say the same.

    Examples
    --------
    >>> import kvplan
    >>> plan = kvplan.size(kvplan.Request(model="gpt-oss-120b", context_tokens=130_000, gpus=128))
    >>> [(found.path, found.kind) for found in differences(plan, plan.model_copy(update={"reason": "none"}))]
    [('reason', 'changed')]

    References
    ----------
    Derivations are left out: they explain the fields [B, B/s, 1] that are compared.
    """
    old, new = (dict(_leaves(plan.model_dump(mode="json"))) for plan in (before, after))
    paths = dict.fromkeys((*old, *new))
    return tuple(difference for path in paths if (difference := _difference(path, old, new)) is not None)


def _difference(path: str, old: dict[str, Any], new: dict[str, Any]) -> Difference | None:
    """Compare one field."""
    if path not in new:
        return Difference(path, "removed", old[path], None)
    if path not in old:
        return Difference(path, "added", None, new[path])
    if old[path] != new[path]:
        return Difference(path, "changed", old[path], new[path])
    return None


def _leaves(data: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield path and value of every scalar, list elements by name where they have one."""
    if isinstance(data, dict):
        for key, value in data.items():
            # Only at the top: a field of that name further down is data like any other.
            if path or key not in _NOT_COMPARED:
                yield from _leaves(value, f"{path}.{key}" if path else key)
    elif isinstance(data, list):
        for name, value in _named(data):
            yield from _leaves(value, f"{path}[{name}]")
    else:
        yield path, data


def _named(items: list[Any]) -> Iterator[tuple[str, Any]]:
    """Name the elements of a list: by their own name, numbered where it repeats, else by index."""
    seen: dict[str, int] = {}
    for index, item in enumerate(items):
        name = next((str(item[key]) for key in _KEYS if key in item), "") if isinstance(item, dict) else ""
        if not name:
            yield str(index), item
            continue
        seen[name] = seen.get(name, 0) + 1
        yield (name if seen[name] == 1 else f"{name}#{seen[name]}"), item
