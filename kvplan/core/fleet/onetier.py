"""Fetches over one shared tier: all streams get the same rate, so a virtual clock and a heap are exact."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class OneTier:
    r"""A tier that streams share evenly, each capped by its own link.

    .. math:: r(k) = \min(r, C / k), \qquad \dot V = r(k)

    The virtual time V [B] is what every stream in flight has received since it began; a stream of S [B] that begins
    at V ends when the virtual time is V + S, whatever comes and goes in between.

    Parameters
    ----------
    stream_bytes_per_s
        Cap r of one stream [B/s].
    tier_bytes_per_s
        Rate C that all streams share [B/s]; may be set anew between two calls of `advance`.

    Attributes
    ----------
    finishes_s : list of float
        When each stream was done [s], by the order in which they were given.
    tier_bytes_per_s : float
        Rate of the tier as it is now [B/s].

    Notes
    -----
    Exact for every distribution of sizes and arrivals; nothing is lost to the crowd.

    References
    ----------
    Processor sharing with a cap per job; Kleinrock, Queueing Systems II, 4.4 for the virtual clock.

    Examples
    --------
    Two streams of 10 GB at 50 GB/s each over a tier of 50 GB/s, the second 0.1 s behind the first:

    >>> tier = OneTier(50e9, 50e9)
    >>> tier.advance([0.0, 0.1], [10e9, 10e9], 1.0)
    >>> [round(time, 3) for time in tier.finishes_s]
    [0.3, 0.4]
    """

    def __init__(self, stream_bytes_per_s: float, tier_bytes_per_s: float) -> None:
        self.finishes_s: list[float] = []
        self.tier_bytes_per_s = tier_bytes_per_s
        self._stream = stream_bytes_per_s
        self._now = 0.0
        self._virtual = 0.0
        self._flying: list[tuple[float, int]] = []

    def advance(self, starts_s: Sequence[float], sizes_bytes: Sequence[float], until_s: float) -> None:
        """Let streams begin, and time pass.

        Parameters
        ----------
        starts_s
            When each new stream begins [s], rising, none after `until_s`.
        sizes_bytes
            Its bytes [B].
        until_s
            Time to stop at [s]; infinity lets every stream end.
        """
        heap, finishes = self._flying, self.finishes_s
        for start, size in zip(starts_s, sizes_bytes, strict=True):
            self._drain(start)
            heappush(heap, (self._virtual + size, len(finishes)))
            finishes.append(start)
        self._drain(until_s)

    def in_flight_bytes(self) -> float:
        """Return what the streams in flight have yet to receive [B]."""
        return sum(target - self._virtual for target, _ in self._flying)

    def drop(self) -> list[int]:
        """End all streams in flight here and now, and return which they were."""
        dropped = [index for _, index in self._flying]
        for index in dropped:
            self.finishes_s[index] = self._now
        self._flying.clear()
        return dropped

    def _drain(self, until_s: float) -> None:
        """Let time pass, and end the streams that are done by then."""
        heap, finishes, stream, tier = self._flying, self.finishes_s, self._stream, self.tier_bytes_per_s
        now, virtual, streams = self._now, self._virtual, len(self._flying)
        knee = tier / stream
        while streams:
            rate = stream if streams <= knee else tier / streams
            target = heap[0][0]
            done = now + (target - virtual) / rate
            if done > until_s:
                virtual += rate * (until_s - now)
                break
            now, virtual = done, target
            finishes[heappop(heap)[1]] = done
            streams -= 1
        else:
            virtual = 0.0  # nothing is in flight, so that the clock may start anew and keep its digits
        self._now, self._virtual = until_s, virtual
