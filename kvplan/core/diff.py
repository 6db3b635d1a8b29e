"""What changed between two Plans, field by field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from kvplan.core.paths import is_numeric, scalars

if TYPE_CHECKING:
    from kvplan.schema.plan import Plan

_NOT_COMPARED = ("derivation", "parts", "sha256")


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
        numbers = all(map(is_numeric, sides))
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
    Derivations are left out: they explain the fields [B, B/s, 1] that are compared. So are the catalogue rows of the
    parts, which other fields name and the catalogue's hash covers, and the Plan's own hash.
    """
    old, new = (dict(scalars(plan.model_dump(mode="json"), skip=_NOT_COMPARED)) for plan in (before, after))
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
