"""Fetches over a network of links: classes of flows share them max-min fairly, and links may change on the way."""

from __future__ import annotations

import math
from bisect import bisect_left
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from kvplan.core.fleet.flows import Carried
from kvplan.core.fleet.maxmin import max_min_rates
from kvplan.core.fleet.onetier import OneTier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.core.fleet.flows import Epoch, Flows, Paths


class Network:
    r"""Links that classes of flows share, by one virtual clock a class.

    .. math:: \dot V_c = x_c, \qquad x = \text{max-min}(n, \text{links})

    All flows of a class have the same rate x_c [B/s], so that a flow of S [B] that begins at V_c ends when the
    virtual time of its class is V_c + S. Rates are shared anew whenever a flow begins or ends.

    Parameters
    ----------
    paths
        Links of each class, and the most that one flow takes [B/s].
    capacities_bytes_per_s
        Capacity of each link [B/s]; may be set anew between two calls of `advance`.

    Attributes
    ----------
    finishes_s : list of float
        When each flow was done [s], by the order in which they were given.

    Notes
    -----
    Exact for max-min fairness; with one class it is `OneTier`.

    References
    ----------
    As `max_min_rates` and `OneTier`.

    Examples
    --------
    Two engines of one server behind a NIC of 50 GB/s:

    >>> from kvplan.core.fleet.flows import Paths
    >>> network = Network(Paths(((0, 1),), 50e9), (50e9, 200e9))
    >>> network.advance([0.0, 0.1], [10e9, 10e9], [0, 0], 1.0)
    >>> [round(time, 3) for time in network.finishes_s]
    [0.3, 0.4]
    """

    def __init__(self, paths: Paths, capacities_bytes_per_s: Sequence[float]) -> None:
        self.finishes_s: list[float] = []
        self._paths = paths
        self._now = 0.0
        self._virtual = [0.0] * len(paths.of_class)
        self._flying: list[list[tuple[float, int]]] = [[] for _ in paths.of_class]
        self._busy: set[int] = set()
        self._rates: list[float] = []
        self.set_capacities(capacities_bytes_per_s)

    def set_capacities(self, capacities_bytes_per_s: Sequence[float]) -> None:
        """Let the links carry something else from now on [B/s], each above 0."""
        self._capacities = capacities_bytes_per_s
        self._share()

    def advance(
        self, starts_s: Sequence[float], sizes_bytes: Sequence[float], classes: Sequence[int], until_s: float
    ) -> None:
        """Let flows begin, and time pass.

        Parameters
        ----------
        starts_s
            When each new flow begins [s], rising, none after `until_s`.
        sizes_bytes
            Its bytes [B].
        classes
            Its class.
        until_s
            Time to stop at [s]; infinity lets every flow end.
        """
        for start, size, kind in zip(starts_s, sizes_bytes, classes, strict=True):
            self._drain(start)
            heappush(self._flying[kind], (self._virtual[kind] + size, len(self.finishes_s)))
            self._busy.add(kind)
            self.finishes_s.append(start)
            self._share()
        self._drain(until_s)

    def in_flight_bytes(self) -> float:
        """Return what the flows in flight have yet to receive [B]."""
        return sum(target - self._virtual[kind] for kind in self._busy for target, _ in self._flying[kind])

    def drop(self) -> list[int]:
        """End all flows in flight here and now, and return which they were."""
        dropped = [index for kind in sorted(self._busy) for _, index in self._flying[kind]]
        for index in dropped:
            self.finishes_s[index] = self._now
        for kind in self._busy:
            self._flying[kind].clear()
        self._busy.clear()
        return dropped

    def _share(self) -> None:
        """Share the links among the flows in flight."""
        counts = [len(heap) for heap in self._flying]
        self._rates = max_min_rates(counts, self._paths.of_class, self._capacities, self._paths.stream_bytes_per_s)

    def _drain(self, until_s: float) -> None:
        """Let time pass, and end the flows that are done by then."""
        flying, virtual = self._flying, self._virtual
        while self._busy:
            rates = self._rates
            done, first = min(
                (self._now + (flying[kind][0][0] - virtual[kind]) / rates[kind], kind) for kind in self._busy
            )
            passed = min(done, until_s) - self._now
            for kind in self._busy:
                virtual[kind] += rates[kind] * passed
            if done > until_s:
                break
            self._now = done
            self.finishes_s[heappop(flying[first])[1]] = done
            virtual[first] *= bool(flying[first])  # an idle clock starts anew and keeps its digits
            if not flying[first]:
                self._busy.remove(first)
            self._share()
        self._now = until_s


def carry(flows: Flows, paths: Paths, epochs: Sequence[Epoch], marks_s: Sequence[float]) -> Carried:
    """Carry flows over links that change from epoch to epoch.

    Parameters
    ----------
    flows
        What is fetched: starts [s], rising, sizes [B] and classes.
    paths
        Links of each class, and the most that one flow takes [B/s].
    epochs
        Capacities [B/s] from when on; the first holds from the beginning.
    marks_s
        Moments [s], rising, by which the bytes moved are counted.

    Returns
    -------
    Carried
        When each flow was done [s], which were lost, and the bytes moved by each mark [B].

    Notes
    -----
    Where a link carries nothing the tier is gone for all: flows in flight are lost at once, and later ones at their
    start, for an engine that gets an error computes the prompt instead.

    References
    ----------
    As `Network`.

    Examples
    --------
    Half of the tier is lost while a fetch of 10 GB is under way:

    >>> from kvplan.core.fleet.flows import Epoch, Flows, Paths
    >>> once = Flows([0.0], [10e9], [0])
    >>> carry(once, Paths(((0,),), 50e9), (Epoch(0, (20e9,)), Epoch(0.25, (10e9,))), (0.25,))
    Carried(finishes_s=[0.75], lost=frozenset(), marks_bytes=(5000000000.0,))
    """
    journey = _Journey(flows, paths, epochs)
    return journey.carried(marks_s)


class _Journey:
    """Flows on their way, from one cut of time to the next."""

    def __init__(self, flows: Flows, paths: Paths, epochs: Sequence[Epoch]) -> None:
        self._flows = flows
        self._epochs = sorted(epochs, key=lambda epoch: epoch.start_s)
        capacities = self._epochs[0].capacities_bytes_per_s
        self._alive = all(capacities)
        one_class = len(paths.of_class) == 1
        self._way = OneTier(paths.stream_bytes_per_s, min(capacities)) if one_class else Network(paths, capacities)
        self._begun = 0
        self._taken_bytes = 0.0
        self._lost: set[int] = set()

    def carried(self, marks_s: Sequence[float]) -> Carried:
        """Let all flows end, and count the bytes moved by each mark."""
        changes = {epoch.start_s: epoch for epoch in self._epochs[1:]}
        moved: dict[float, float] = {}
        for stop in sorted({*marks_s, *changes, math.inf}):
            self._advance(stop)
            moved[stop] = self._taken_bytes - self._way.in_flight_bytes()
            if stop in changes:
                self._change(changes[stop].capacities_bytes_per_s)
        return Carried(self._way.finishes_s, frozenset(self._lost), tuple(moved[mark] for mark in marks_s))

    def _advance(self, stop_s: float) -> None:
        """Let the flows begin that start before a cut, and time pass until then."""
        begin, end = self._begun, bisect_left(self._flows.starts_s, stop_s)
        self._begun = end
        starts, sizes = self._flows.starts_s[begin:end], self._flows.sizes_bytes[begin:end]
        if not self._alive:
            self._lost.update(range(begin, end))
            self._way.finishes_s.extend(starts)
            return
        self._taken_bytes += sum(sizes)
        if isinstance(self._way, OneTier):
            self._way.advance(starts, sizes, stop_s)
        else:
            self._way.advance(starts, sizes, self._flows.classes[begin:end], stop_s)

    def _change(self, capacities_bytes_per_s: Sequence[float]) -> None:
        """Let the links carry something else; where one carries nothing, whatever is under way is lost."""
        self._alive = all(capacities_bytes_per_s)
        if not self._alive:
            self._taken_bytes -= self._way.in_flight_bytes()
            self._lost.update(self._way.drop())
        elif isinstance(self._way, OneTier):
            self._way.tier_bytes_per_s = min(capacities_bytes_per_s)
        else:
            self._way.set_capacities(capacities_bytes_per_s)
