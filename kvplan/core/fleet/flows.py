"""What moves from the tier to the engines, when something about the way changes, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Paths:
    """The ways through the network: the links that each class of flows passes, by their place in the capacities."""

    of_class: tuple[tuple[int, ...], ...]
    stream_bytes_per_s: float


@dataclass(frozen=True, slots=True)
class Epoch:
    """From `start_s` [s] on the links carry these capacities [B/s]; where one is 0, whatever passes it is lost."""

    start_s: float
    capacities_bytes_per_s: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Flows:
    """Fetches by rising start: when each starts [s], its bytes [B], and its class."""

    starts_s: Sequence[float]
    sizes_bytes: Sequence[float]
    classes: Sequence[int]


@dataclass(frozen=True, slots=True)
class Carried:
    """What came of the flows: when each was done [s], which were lost, and the bytes moved by each mark of time [B]."""

    finishes_s: list[float]
    lost: frozenset[int]
    marks_bytes: tuple[float, ...]
