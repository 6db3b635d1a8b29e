"""How well a number of a Plan is known: what it is itself, and which assumptions stand behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kvplan.core.derivation import derivation_of
from kvplan.core.paths import CONSTANTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.schema.base import Confidence
    from kvplan.schema.plan import Plan


@dataclass(frozen=True, slots=True)
class Certainty:
    """How a number is known, and the assumed constants that it rests on, each once."""

    confidence: Confidence
    assumed: tuple[str, ...] = ()

    @property
    def weakest(self) -> Confidence:
        """How well the least known of what it rests on is known."""
        return "assumed" if self.assumed else self.confidence


def certainty(plan: Plan, path: str) -> Certainty:
    """Say how well a number is known.

    Parameters
    ----------
    plan
        The Plan.
    path
        Path of one of its numbers, such as `buys.hits_per_s`.

    Returns
    -------
    Certainty
        The number's own confidence, and every assumed constant among its inputs, their inputs and so on.

    Notes
    -----
    A constant counts as assumed while the Plan lists it as an open point: a value that the request replaced does not.

    References
    ----------
    The Plan's own `derivation` and `open_points`.

    Examples
    --------
    >>> import kvplan
    >>> plan = kvplan.size(kvplan.Request(model="gpt-oss-120b", context_tokens=130_000, gpus=128))
    >>> certainty(plan, "buys.hits_per_s").assumed
    ('guidance.planned_read_share',)
    """
    entry = derivation_of(path, plan.derivation)
    open_points = {point.id for point in plan.open_points}
    found = dict.fromkeys(name for name in _constants(plan, path, ()) if name in open_points)
    return Certainty(entry.confidence if entry else "derived", tuple(name.removeprefix(CONSTANTS) for name in found))


def _constants(plan: Plan, path: str, above: tuple[str, ...]) -> Iterator[str]:
    """Yield the constants that a number rests on; a number that is its own ancestor is not followed again."""
    if path.startswith(CONSTANTS):
        yield path
        return
    entry = derivation_of(path, plan.derivation)
    for name in entry.inputs if entry else ():
        if name not in above:
            yield from _constants(plan, name, (*above, path))
