"""From a trace to what it says about the cache that would serve it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from kvplan.core.reuse.belady import belady
from kvplan.core.reuse.curve import capacity_for, curve
from kvplan.core.reuse.distances import stack_distances
from kvplan.core.reuse.policies import fifo, purged, second_touch
from kvplan.core.reuse.prompt import Prompt
from kvplan.errors import InputError
from kvplan.schema.tracing import (
    Capacity,
    CurvePoint,
    KvBytes,
    Lengths,
    TraceReport,
    TraceSource,
    WarmWindow,
    WhatIf,
)
from kvplan.traces.held import rates_of, tiers_of, ttls_of
from kvplan.traces.records import KIND_WORDS
from kvplan.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kvplan.core.reuse.distances import Distances
    from kvplan.core.reuse.histogram import Histogram
    from kvplan.core.reuse.outcome import Outcome
    from kvplan.schema.tracing import Policy, TraceAsked
    from kvplan.traces.records import Trace

    Phases = Callable[[str, int, int], None]

CURVE_POINTS: Final = 31
CURVE_DECADES: Final = 3
POLICY_SHARES: Final = (0.01, 0.03, 0.1, 0.2, 0.5, 1.0)
"""Sizes at which policies are compared, as shares of the working set."""
_PURGES: Final[tuple[tuple[Policy, float], ...]] = (("purge-80", 0.8), ("purge-50", 0.5))


def trace_report(trace: Trace, asked: TraceAsked, kv: KvBytes | None, phases: Phases | None = None) -> TraceReport:
    """Say what a trace tells of the cache that would serve it.

    Parameters
    ----------
    trace
        The trace.
    asked
        Target, scale and tiers.
    kv
        Bytes of a token in the model's back end; None leaves figures in bytes out.
    phases
        Called now and then with what is being done, how much of it is done, and of how much.

    Returns
    -------
    TraceReport
        Everything that the trace tells, and what it does not.
    """
    requests = trace.requests
    span_s = requests[-1].time_s if trace.timed else None
    reuse = _Reuse(trace, kv, phases) if trace.block_tokens and requests[0].blocks is not None else None
    found = reuse.distances if reuse else None
    return TraceReport(
        trace=TraceSource(
            name=trace.name,
            kind=KIND_WORDS[trace.kind],
            block_tokens=trace.block_tokens,
            span_s=span_s,
            malformed=trace.malformed,
            problems=tuple(map(str, trace.problems)),
        ),
        kv=kv,
        fleet_scale=asked.fleet_scale,
        requests=len(requests),
        requests_per_s=len(requests) / span_s if span_s else None,
        input_tokens=_lengths(request.input_tokens for request in requests),
        output_tokens=_lengths(request.output_tokens for request in requests),
        block_accesses=sum(found.blocks) if found else None,
        unique_blocks=found.unique_blocks if found else None,
        infinite_hit_ratio=_ratio(found.whole.reused_blocks, found.whole.blocks) if found else None,
        infinite_token_hit_ratio=_ratio(found.whole.reused_tokens, found.whole.tokens) if found else None,
        working_set_tokens=found.unique_blocks * found.block_tokens if found else None,
        working_set_bytes=_bytes(found.unique_blocks * found.block_tokens, kv) if found else None,
        capacity_for_target=reuse.capacity(found.whole, asked.target) if reuse and found else None,
        curve=reuse.curve(found.whole) if reuse and found else (),
        belady=reuse.belady() if reuse else (),
        warm=reuse.warm(asked.target) if reuse else None,
        rates=rates_of(found, kv, asked.fleet_scale) if found and span_s else None,
        ttl=ttls_of(found, kv, asked.fleet_scale) if found and span_s else (),
        what_ifs=reuse.what_ifs() if reuse else (),
        tiers=tiers_of(reuse.prompts, found, asked, kv) if reuse and found else (),
        unknown=trace.unknown,
        notes=trace.notes,
    )


def refuse_malformed(trace: Trace) -> None:
    """Refuse a trace that has lines which cannot be used.

    Parameters
    ----------
    trace
        The trace.

    Raises
    ------
    InputError
        With the first problems, and how many there are.
    """
    if not trace.malformed:
        return
    further = trace.malformed - len(trace.problems)
    hint = f"{counted(further, 'further line')} cannot be used; " if further else ""
    raise InputError(trace.problems, hint=f"{hint}without --strict they are left out and counted")


class _Reuse:
    """Reuse in a trace with block ids, at the sizes that are reported."""

    def __init__(self, trace: Trace, kv: KvBytes | None, phases: Phases | None) -> None:
        self.block_tokens = trace.block_tokens or 1
        self._kv = kv
        self._phases = phases
        self.prompts = [
            Prompt(request.time_s, request.blocks or (), request.input_tokens) for request in trace.requests
        ]
        told = partial(phases, "finding reuse") if phases else None
        self.distances = stack_distances(self.prompts, self.block_tokens, progress=told)
        unique = self.distances.unique_blocks
        self._sizes = [max(1, round(share * unique)) for share in POLICY_SHARES]

    def curve(self, histogram: Histogram) -> tuple[CurvePoint, ...]:
        """Return the hits of LRU caches from a thousandth of the working set to all of it."""
        unique = self.distances.unique_blocks
        steps = (CURVE_DECADES * (step / (CURVE_POINTS - 1) - 1) for step in range(CURVE_POINTS))
        sizes = sorted({max(1, round(unique * 10**step)) for step in steps} | set(self._sizes))
        return tuple(
            self._point(point.capacity_blocks, point.hit_ratio, point.token_hit_ratio)
            for point in curve(histogram, sizes)
        )

    def capacity(self, histogram: Histogram, target: float) -> Capacity:
        """Return the smallest cache with a share of the hits of an endless one."""
        tokens = capacity_for(histogram, target) * self.block_tokens
        return Capacity(target=target, tokens=tokens, bytes=_bytes(tokens, self._kv))

    def warm(self, target: float) -> WarmWindow:
        """Return the figures of the requests that find the cache filled."""
        found = self.distances
        return WarmWindow(
            from_request=found.warm_from,
            from_s=found.times_s[min(found.warm_from, len(found.times_s) - 1)],
            requests=len(found.times_s) - found.warm_from,
            infinite_token_hit_ratio=_ratio(found.warm.reused_tokens, found.warm.tokens),
            capacity_for_target=self.capacity(found.warm, target),
            curve=self.curve(found.warm),
        )

    def belady(self) -> tuple[CurvePoint, ...]:
        """Return what no policy can exceed."""
        return self._points("bounding what any policy hits", partial(belady, self.distances))

    def what_ifs(self) -> tuple[WhatIf, ...]:
        """Return what other policies hit at the same sizes."""
        found = self.distances
        second = second_touch(self.prompts, found)
        purges = [
            WhatIf(policy=name, write_share=None, points=self._points(f"trying {name}", partial(_purged, found, share)))
            for name, share in _PURGES
        ]
        in_turn = self._points("trying fifo", partial(fifo, self.prompts, self.block_tokens))
        again = tuple(
            self._point(
                size,
                _ratio(second.whole.hit_blocks(size), found.whole.blocks),
                _ratio(second.whole.hit_tokens(size), found.whole.tokens),
            )
            for size in self._sizes
        )
        write_share = _ratio(second.unique_blocks, found.unique_blocks)
        return (
            WhatIf(policy="fifo", write_share=None, points=in_turn),
            *purges,
            WhatIf(policy="second-touch", write_share=write_share, points=again),
        )

    def _points(self, doing: str, run: Callable[[int], Outcome]) -> tuple[CurvePoint, ...]:
        """Run a policy at each size."""
        points = []
        for index, size in enumerate(self._sizes):
            if self._phases:
                self._phases(doing, index, len(self._sizes))
            outcome = run(size)
            whole = self.distances.whole
            points.append(
                self._point(size, _ratio(outcome.hit_blocks, whole.blocks), _ratio(outcome.hit_tokens, whole.tokens))
            )
        return tuple(points)

    def _point(self, blocks: int, hit_ratio: float, token_hit_ratio: float) -> CurvePoint:
        """Make a point of the curve."""
        tokens = blocks * self.block_tokens
        return CurvePoint(
            tokens=tokens, bytes=_bytes(tokens, self._kv), hit_ratio=hit_ratio, token_hit_ratio=token_hit_ratio
        )


def _purged(distances: Distances, low_share: float, capacity_blocks: int) -> Outcome:
    """Run a cache with purges, the size last."""
    return purged(distances, capacity_blocks, low_share)


def _lengths(values: Iterable[int]) -> Lengths:
    """Sum lengths up: nearest-rank percentiles."""
    ordered = sorted(values)
    return Lengths(
        total=sum(ordered),
        mean=sum(ordered) / len(ordered),
        median=_percentile(ordered, 50),
        p90=_percentile(ordered, 90),
        p99=_percentile(ordered, 99),
        max=ordered[-1],
    )


def _percentile(ordered: Sequence[int], percent: int) -> int:
    """Return the value that so many percent do not exceed."""
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def _bytes(tokens: float, kv: KvBytes | None) -> int | None:
    """Return the bytes of tokens in the tier."""
    return round(tokens * kv.stored_bytes_per_token) if kv else None


def _ratio(part: float, whole: float) -> float:
    """Divide, nothing by nothing being nothing."""
    return part / whole if whole else 0.0
