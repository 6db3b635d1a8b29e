"""How fast a trace reads what a cache holds and writes what it does not, on average and at its busiest."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from kvplan.core.reuse.distances import Distances

PEAK_BIN_S: Final = 10.0
"""Time over which a peak is averaged [s]: shorter bursts queue, longer ones are load."""


class Rate(NamedTuple):
    """A rate over a trace.

    Attributes
    ----------
    mean_tokens_per_s
        Over the whole time [tokens/s].
    peak_tokens_per_s
        In the busiest bin [tokens/s].
    """

    mean_tokens_per_s: float
    peak_tokens_per_s: float


class Rates(NamedTuple):
    """What a trace reads from a cache and writes to it.

    Attributes
    ----------
    read
        Tokens found.
    write
        Tokens not found, all of which are computed and written.
    """

    read: Rate
    write: Rate


def hit_tokens_by_request(distances: Distances, capacity_blocks: int | None = None) -> array[int]:
    """Return what each request finds in an LRU cache.

    Parameters
    ----------
    distances
        Every reuse of the trace.
    capacity_blocks
        Size of the cache [blocks]; None for one without an end.

    Returns
    -------
    array[int]
        Hits of each request [tokens].

    Examples
    --------
    >>> from kvplan.core.reuse.distances import stack_distances
    >>> from kvplan.core.reuse.prompt import Prompt
    >>> found = stack_distances([Prompt(0.0, (1, 2), 20), Prompt(1.0, (1, 2), 20)], 16)
    >>> list(hit_tokens_by_request(found)), list(hit_tokens_by_request(found, 1))
    ([0, 20], [0, 16])
    """
    hits = array("q", bytes(8 * len(distances.blocks)))
    for request, _, depth, length, missing in distances.runs():
        found = length if capacity_blocks is None else min(max(capacity_blocks - depth, 0), length)
        hits[request] += found * distances.block_tokens - (missing if found == length else 0)
    return hits


def rates(distances: Distances, capacity_blocks: int | None = None, *, bin_s: float = PEAK_BIN_S) -> Rates:
    """Return how fast a trace reads from an LRU cache and writes to it.

    Parameters
    ----------
    distances
        Every reuse of the trace.
    capacity_blocks
        Size of the cache [blocks]; None for one without an end, which writes every block once.
    bin_s
        Time over which the peaks are averaged [s].

    Returns
    -------
    Rates
        Tokens read and written each second; times the loaded and the stored bytes of a token they are bytes.

    Notes
    -----
    A bin takes the whole of a request at its arrival. Traces with few requests in a bin have higher peaks than a
    fleet, whose independent users even each other out. The last bin may lie partly beyond the trace.

    Examples
    --------
    >>> from kvplan.core.reuse.distances import stack_distances
    >>> from kvplan.core.reuse.prompt import Prompt
    >>> trace = [Prompt(0.0, (1, 2), 32), Prompt(5.0, (1, 2, 3), 48), Prompt(20.0, (1,), 16)]
    >>> found = rates(stack_distances(trace, 16))
    >>> found.read
    Rate(mean_tokens_per_s=2.4, peak_tokens_per_s=3.2)
    >>> found.write
    Rate(mean_tokens_per_s=2.4, peak_tokens_per_s=4.8)
    """
    found = hit_tokens_by_request(distances, capacity_blocks)
    new = array("q", [tokens - hits for tokens, hits in zip(distances.tokens, found, strict=True)])
    return Rates(_rate(distances, found, bin_s), _rate(distances, new, bin_s))


def _rate(distances: Distances, tokens: array[int], bin_s: float) -> Rate:
    bins: dict[int, int] = {}
    for time_s, amount in zip(distances.times_s, tokens, strict=True):
        number = int((time_s - distances.times_s[0]) / bin_s)
        bins[number] = bins.get(number, 0) + amount
    # A trace shorter than a bin says nothing about its rate beyond that bin.
    span_s = max(distances.span_s, bin_s)
    return Rate(sum(tokens) / span_s, max(bins.values(), default=0) / bin_s)
