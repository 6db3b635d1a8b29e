"""The time view of reuse: what a tier that keeps blocks for a while hits, and how much it holds meanwhile."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kvplan.core.reuse.distances import Distances


class Lifetimes:
    r"""Hits and occupancy of a tier that forgets a block when it was not asked for during a time to live T.

    .. math::
        hit(T) = \frac{1}{N} \sum_i [g_i \le T], \qquad occupancy(T) = \frac{1}{span} \sum_i \min(T, g_i)

    over all touches i, with g the time to the next touch of the block, without an end where the trace has none.

    Parameters
    ----------
    distances
        Every reuse of the trace.

    Attributes
    ----------
    span_s
        Time from the first arrival to the last [s].

    Notes
    -----
    The mean is that of a steady state: what a trace touches near its end counts as kept for all of T, in place of
    what an earlier trace would have left at its start. An LRU cache of that size hits nearly the same, so capacity
    follows from a retention target. Beyond the length of the trace occupancy grows by what is written, and the hits
    after longer gaps are not known.

    References
    ----------
    P. J. Denning, The working set model for program behavior, Communications of the ACM 11 (1968).

    Examples
    --------
    >>> from kvplan.core.reuse.distances import stack_distances
    >>> from kvplan.core.reuse.prompt import Prompt
    >>> trace = [Prompt(0.0, (1, 2), 32), Prompt(4.0, (1, 3), 32), Prompt(10.0, (1, 2), 32)]
    >>> lived = Lifetimes(stack_distances(trace, 16))
    >>> lived.hit_blocks(4.0), lived.hit_blocks(10.0), lived.mean_blocks(10.0), lived.peak_blocks(5.0)
    (1, 3, 5.0, 3)
    """

    __slots__ = ("_changes", "_gaps", "_hit_s", "_hit_tokens", "_hits", "_touches", "span_s")

    def __init__(self, distances: Distances) -> None:
        self.span_s = distances.span_s
        times = distances.times_s
        # Blocks that each request touches and no later one does.
        left = list(distances.blocks)
        self._changes: list[tuple[float, float, int]] = []
        reuses = []
        for request, owner, _, length, missing in distances.runs():
            left[owner] -= length
            gap_s = times[request] - times[owner]
            reuses.append((gap_s, length, length * distances.block_tokens - missing))
            self._changes.append((times[owner], gap_s, length))
        never = float("inf")
        self._changes += [(touch_s, never, blocks) for touch_s, blocks in zip(times, left, strict=True) if blocks]
        reuses.sort()
        self._gaps = [gap_s for gap_s, _, _ in reuses]
        self._hit_tokens = list(accumulate((tokens for _, _, tokens in reuses), initial=0))
        self._hits = list(accumulate((blocks for _, blocks, _ in reuses), initial=0))
        self._hit_s = list(accumulate((gap_s * blocks for gap_s, blocks, _ in reuses), initial=0.0))
        self._touches = sum(distances.blocks)

    def hit_blocks(self, time_to_live_s: float) -> int:
        """Return the blocks that are asked for again in time.

        Parameters
        ----------
        time_to_live_s
            Time that a block is kept after its last touch [s].

        Returns
        -------
        int
            Hits over the whole trace [blocks].
        """
        return self._hits[bisect_right(self._gaps, time_to_live_s)]

    def hit_tokens(self, time_to_live_s: float) -> int:
        """Return the tokens that are asked for again in time.

        Parameters
        ----------
        time_to_live_s
            Time that a block is kept after its last touch [s].

        Returns
        -------
        int
            Hits over the whole trace [tokens].
        """
        return self._hit_tokens[bisect_right(self._gaps, time_to_live_s)]

    def mean_blocks(self, time_to_live_s: float) -> float:
        """Return what the tier holds on average in a steady state.

        Parameters
        ----------
        time_to_live_s
            Time that a block is kept after its last touch [s].

        Returns
        -------
        float
            Occupancy [blocks].
        """
        if not self.span_s:
            return float(self._touches - self._hits[-1])
        short = bisect_right(self._gaps, time_to_live_s)
        cut = self._touches - self._hits[short]
        return (self._hit_s[short] + cut * time_to_live_s) / self.span_s

    def peak_blocks(self, time_to_live_s: float) -> int:
        """Return the most that the tier holds at any time of the trace, which begins with nothing.

        Parameters
        ----------
        time_to_live_s
            Time that a block is kept after its last touch [s].

        Returns
        -------
        int
            Occupancy [blocks].
        """
        events = []
        for touch_s, gap_s, blocks in self._changes:
            # A touch ends the stay that an earlier one began, so at one moment departures come before arrivals.
            events.append((touch_s, blocks))
            events.append((touch_s + min(time_to_live_s, gap_s), -blocks))
        events.sort()
        return max(accumulate(change for _, change in events), default=0)
