"""From a trace to what it says about the cache that would serve it."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from kvplan.core.reuse.belady import belady
from kvplan.core.reuse.curve import capacity_for, curve
from kvplan.core.reuse.distances import stack_distances
from kvplan.core.reuse.policies import fifo, purged, second_touch
from kvplan.core.reuse.prefix_tree import NotChainedError
from kvplan.core.reuse.prompt import Prompt
from kvplan.core.reuse.sampling import sample_every
from kvplan.errors import InputError
from kvplan.schema.tracing import Lengths, TraceReport, TraceSource, WarmWindow, WhatIf
from kvplan.traces.held import rates_of, tiers_of, ttls_of
from kvplan.traces.points import Scale, compared_sizes, curve_sizes, ratio
from kvplan.traces.records import KIND_WORDS
from kvplan.traces.sampled import sampled_notes, sampled_reuse
from kvplan.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kvplan.core.reuse.distances import Distances
    from kvplan.core.reuse.histogram import Histogram
    from kvplan.core.reuse.outcome import Outcome
    from kvplan.schema.tracing import CurvePoint, KvBytes, Policy, TraceAsked
    from kvplan.traces.records import Trace

    Phases = Callable[[str, int, int], None]

_PURGES: Final[tuple[tuple[Policy, float], ...]] = (("purge-80", 0.8), ("purge-50", 0.5))


def trace_report(
    trace: Trace, asked: TraceAsked, kv: KvBytes | None, sampled_accesses: int, phases: Phases | None = None
) -> TraceReport:
    """Say what a trace tells of the cache that would serve it.

    Parameters
    ----------
    trace
        The trace.
    asked
        Target, scale and tiers.
    kv
        Bytes of a token in the model's back end; None leaves figures in bytes out.
    sampled_accesses
        Block look-ups up to which a trace is counted whole [blocks]; beyond them a sample of its blocks is followed.
    phases
        Called now and then with what is being done, how much of it is done, and of how much.

    Returns
    -------
    TraceReport
        Everything that the trace tells, and what it does not.
    """
    requests = trace.requests
    span_s = requests[-1].time_s if trace.timed else None
    reuse = _reuse_of(trace, asked, kv, sampled_accesses, phases)
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
        unknown=trace.unknown,
        notes=(*trace.notes, *reuse.pop("notes", ())),
        **reuse,
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


def _reuse_of(
    trace: Trace, asked: TraceAsked, kv: KvBytes | None, sampled_accesses: int, phases: Phases | None
) -> dict[str, Any]:
    """Find what a trace says of reuse: nothing without ids, counted up to a limit, sampled beyond it."""
    if not trace.block_tokens or trace.requests[0].blocks is None:
        return {}
    scale = Scale(trace.block_tokens, kv)
    prompts = [Prompt(request.time_s, request.blocks or (), request.input_tokens) for request in trace.requests]
    accesses = sum(len(prompt.blocks) for prompt in prompts)
    every = sample_every(accesses, sampled_accesses)
    if every > 1:
        # Where ids do not stand for prefixes a sample says nothing, so that the long way is taken.
        with suppress(NotChainedError):
            found = sampled_reuse(prompts, scale, every, asked.target, phases)
            return found | {"notes": sampled_notes(accesses, sampled_accesses, every)}
    return _Reuse(prompts, scale, phases).fields(asked, timed=trace.timed)


class _Reuse:
    """Reuse in a trace with block ids, at the sizes that are reported."""

    def __init__(self, prompts: Sequence[Prompt], scale: Scale, phases: Phases | None) -> None:
        self._scale = scale
        self._phases = phases
        self.prompts = prompts
        told = partial(phases, "finding reuse") if phases else None
        self.distances = stack_distances(self.prompts, scale.block_tokens, progress=told)
        self._sizes = compared_sizes(self.distances.unique_blocks)

    def fields(self, asked: TraceAsked, *, timed: bool) -> dict[str, Any]:
        """Return the fields of the report; rates and times to live need arrivals that differ."""
        found, kv = self.distances, self._scale.kv
        tokens = found.unique_blocks * found.block_tokens
        timed = timed and found.times_s[-1] > 0
        return {
            "block_accesses": sum(found.blocks),
            "unique_blocks": found.unique_blocks,
            "infinite_hit_ratio": ratio(found.whole.reused_blocks, found.whole.blocks),
            "infinite_token_hit_ratio": ratio(found.whole.reused_tokens, found.whole.tokens),
            "working_set_tokens": tokens,
            "working_set_bytes": self._scale.bytes(tokens),
            "capacity_for_target": self._scale.capacity(capacity_for(found.whole, asked.target), asked.target),
            "curve": self.curve(found.whole),
            "belady": self.belady(),
            "warm": self.warm(asked.target),
            "rates": rates_of(found, kv, asked.fleet_scale) if timed else None,
            "ttl": ttls_of(found, kv, asked.fleet_scale) if timed else (),
            "what_ifs": self.what_ifs(),
            "tiers": tiers_of(self.prompts, found, asked, kv),
        }

    def curve(self, histogram: Histogram) -> tuple[CurvePoint, ...]:
        """Return the hits of LRU caches from a thousandth of the working set to all of it."""
        return tuple(
            self._scale.point(point.capacity_blocks, point.hit_ratio, point.token_hit_ratio)
            for point in curve(histogram, curve_sizes(self.distances.unique_blocks))
        )

    def warm(self, target: float) -> WarmWindow:
        """Return the figures of the requests that find the cache filled."""
        found = self.distances
        return WarmWindow(
            from_request=found.warm_from,
            from_s=found.times_s[min(found.warm_from, len(found.times_s) - 1)],
            requests=len(found.times_s) - found.warm_from,
            infinite_token_hit_ratio=ratio(found.warm.reused_tokens, found.warm.tokens),
            capacity_for_target=self._scale.capacity(capacity_for(found.warm, target), target),
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
        in_turn = self._points("trying fifo", partial(fifo, self.prompts, self._scale.block_tokens))
        again = tuple(
            self._scale.point(
                size,
                ratio(second.whole.hit_blocks(size), found.whole.blocks),
                ratio(second.whole.hit_tokens(size), found.whole.tokens),
            )
            for size in self._sizes
        )
        write_share = ratio(second.unique_blocks, found.unique_blocks)
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
                self._scale.point(
                    size, ratio(outcome.hit_blocks, whole.blocks), ratio(outcome.hit_tokens, whole.tokens)
                )
            )
        return tuple(points)


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
