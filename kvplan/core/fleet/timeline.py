"""What happened when: requests and engines by equal spans of time."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from kvplan.schema.simulating import Moments, Ttft

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.core.fleet.engines import Served
    from kvplan.core.fleet.run import Fleet, Run


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return the least value that a share of all values does not exceed.

    Parameters
    ----------
    ordered
        Values, rising, at least one.
    share
        Share of them [1].

    Returns
    -------
    float
        One of the values.

    References
    ----------
    The nearest rank.

    Examples
    --------
    >>> quantile([1.0, 2.0, 3.0, 4.0], 0.5), quantile([1.0, 2.0, 3.0, 4.0], 0.99)
    (2.0, 4.0)
    """
    return ordered[min(max(math.ceil(share * len(ordered)) - 1, 0), len(ordered) - 1)]


def ttft(first_token_s: Sequence[float]) -> Ttft:
    """Sum up times to the first token [s].

    >>> ttft([0.2, 0.4]).mean_s
    0.3
    """
    ordered = sorted(first_token_s)
    p50, p90, p95, p99 = (quantile(ordered, share) for share in (0.5, 0.9, 0.95, 0.99))
    return Ttft(mean_s=sum(ordered) / len(ordered), p50_s=p50, p90_s=p90, p95_s=p95, p99_s=p99, max_s=ordered[-1])


def timeline(run: Run, marks_s: Sequence[float], fleet: Fleet) -> tuple[Moments, ...]:
    """Tell what happened between each two marks of time.

    Parameters
    ----------
    run
        What came of the requests.
    marks_s
        Moments [s] from 0 on, evenly apart, by which the run counted what was read.
    fleet
        What served them.

    Returns
    -------
    tuple of Moments
        Requests that came, their times to the first token [s], bytes read [B/s] and how busy engines were [1].

    Notes
    -----
    Requests count where they came, reading and computing where they happened.
    """
    step = marks_s[1] - marks_s[0]
    came: list[list[int]] = [[] for _ in marks_s[1:]]
    for index, job in enumerate(run.jobs):
        place = int(job.arrival_s / step)
        if place < len(came):
            came[place].append(index)
    busy = [_busy(served, step, len(came)) for served in (run.with_tier, run.without_tier)]
    return tuple(
        _moments(
            run,
            indices,
            (marks_s[place], marks_s[place + 1]),
            (run.read_bytes[place + 1] - run.read_bytes[place]) / step,
            _shared_bytes_per_s(fleet, marks_s[place], marks_s[place + 1]),
            (busy[0][place] / (fleet.way.engines * step), busy[1][place] / (fleet.way.engines * step)),
        )
        for place, indices in enumerate(came)
    )


def _moments(
    run: Run, indices: Sequence[int], span: tuple[float, float], read: float, shared: float, busy: tuple[float, float]
) -> Moments:
    """Tell what happened in one span of time."""
    warm, cold = (
        sorted(served.first_token_s[index] for index in indices) for served in (run.with_tier, run.without_tier)
    )
    return Moments(
        start_s=span[0],
        end_s=span[1],
        requests=len(indices),
        with_p50_s=quantile(warm, 0.5) if warm else None,
        with_p99_s=quantile(warm, 0.99) if warm else None,
        without_p50_s=quantile(cold, 0.5) if cold else None,
        without_p99_s=quantile(cold, 0.99) if cold else None,
        read_bytes_per_s=max(read, 0.0),
        read_share=max(read, 0.0) / shared if shared else 0.0,
        with_engine_share=busy[0],
        without_engine_share=busy[1],
    )


def _busy(served: Served, step: float, count: int) -> list[float]:
    """Add up how long engines worked in each span [s]."""
    busy = [0.0] * count
    for begin, end in zip(served.begins_s, served.ends_s, strict=True):
        for place in range(int(begin / step), min(int(end / step) + 1, count)):
            busy[place] += max(min(end, (place + 1) * step) - max(begin, place * step), 0.0)
    return busy


def _shared_bytes_per_s(fleet: Fleet, start_s: float, end_s: float) -> float:
    """Return what all engines share on average over a span [B/s]."""
    bounds = [0.0, *(state.start_s for state in fleet.epochs[1:]), math.inf]
    total = 0.0
    for state, (begin, until) in zip(fleet.epochs, pairwise(bounds), strict=True):
        lasts = max(min(until, end_s) - max(begin, start_s), 0.0)
        total += lasts * fleet.way.shared_bytes_per_s(state)
    return total / (end_s - start_s)
