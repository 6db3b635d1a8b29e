"""What a sample of its blocks says of a trace that is too long to be counted whole."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from kvplan.core.reuse.curve import capacity_for
from kvplan.core.reuse.distances import WARM_SHARE
from kvplan.core.reuse.sampling import REPLICATES, estimate, sample, sampled_curve
from kvplan.schema.tracing import PointErrors, StandardErrors, TraceSample, WarmWindow
from kvplan.traces.points import curve_sizes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kvplan.core.reuse.histogram import Histogram
    from kvplan.core.reuse.prompt import Prompt
    from kvplan.schema.tracing import CurvePoint
    from kvplan.traces.points import Scale

    Phases = Callable[[str, int, int], None]


def sampled_reuse(
    prompts: Sequence[Prompt], scale: Scale, every: int, target: float, phases: Phases | None = None
) -> dict[str, Any]:
    """Say what a sample tells of the reuse in a trace.

    Parameters
    ----------
    prompts
        The requests in order of arrival, with chained ids.
    scale
        Tokens of a block [tokens], and bytes of a token.
    every
        Blocks that each followed block stands for [blocks].
    target
        Share of the hits of an endless cache that is wanted [1].
    phases
        Called now and then with what is being done, how much of it is done, and of how much.

    Returns
    -------
    dict of str to Any
        Fields of `TraceReport`. Those that need every look-up are left out, and a note says so.

    Raises
    ------
    NotChainedError
        Where an id was seen after another block.

    References
    ----------
    `kvplan.core.reuse.sampling`.
    """
    warm_from = len(prompts) - round(len(prompts) * WARM_SHARE)
    told = partial(phases, "sampling reuse") if phases else None
    found = sample(prompts, scale.block_tokens, every, warm_from=warm_from, progress=told)
    unique = max(round(found.unique_blocks.mean), 1)
    whole, warm = (_Window(window, unique, target) for window in (found.whole, found.warm))
    tokens = unique * scale.block_tokens
    return {
        "block_accesses": found.whole[0].blocks,
        "unique_blocks": unique,
        "infinite_hit_ratio": whole.hits.mean,
        "infinite_token_hit_ratio": whole.token_hits.mean,
        "working_set_tokens": tokens,
        "working_set_bytes": scale.bytes(tokens),
        "capacity_for_target": scale.capacity(whole.capacity.mean, target),
        "curve": whole.curve(scale),
        "warm": WarmWindow(
            from_request=warm_from,
            from_s=prompts[min(warm_from, len(prompts) - 1)].time_s,
            requests=len(prompts) - warm_from,
            infinite_token_hit_ratio=warm.token_hits.mean,
            capacity_for_target=scale.capacity(warm.capacity.mean, target),
            curve=warm.curve(scale),
        ),
        "sample": TraceSample(
            every=every,
            samples=REPLICATES,
            unique_blocks=found.unique_blocks.standard_error,
            whole=whole.errors(scale),
            warm=warm.errors(scale),
        ),
    }


class _Window:
    """What the samples of some requests say, at the sizes of a curve."""

    def __init__(self, found: Sequence[Histogram], unique_blocks: int, target: float) -> None:
        self.hits = estimate([one.reused_blocks / max(one.blocks, 1) for one in found])
        self.token_hits = estimate([one.reused_tokens / max(one.tokens, 1) for one in found])
        self.capacity = estimate([capacity_for(one, target) for one in found])
        self.points = sampled_curve(found, curve_sizes(unique_blocks))

    def curve(self, scale: Scale) -> tuple[CurvePoint, ...]:
        """Write the estimates as a curve."""
        return tuple(
            scale.point(point.capacity_blocks, point.hit_ratio, point.token_hit_ratio) for point in self.points
        )

    def errors(self, scale: Scale) -> StandardErrors:
        """Write how far the estimates may be off."""
        return StandardErrors(
            infinite_hit_ratio=self.hits.standard_error,
            infinite_token_hit_ratio=self.token_hits.standard_error,
            capacity_tokens=self.capacity.standard_error * scale.block_tokens,
            curve=tuple(
                PointErrors(
                    tokens=point.capacity_blocks * scale.block_tokens,
                    hit_ratio=point.standard_error,
                    token_hit_ratio=point.token_standard_error,
                )
                for point in self.points
            ),
        )


def sampled_notes(accesses: int, limit: int, every: int) -> tuple[str, ...]:
    """Say that a trace was sampled, and what is left out for it.

    Parameters
    ----------
    accesses
        Block look-ups of the trace [blocks].
    limit
        Look-ups up to which a trace is counted whole [blocks].
    every
        Blocks that each followed block stands for [blocks].

    Returns
    -------
    tuple of str
        The notes.

    Examples
    --------
    >>> print(sampled_notes(2_000, 1_000, 2)[0])
    sampled: 2,000 block look-ups are more than 1,000 (trace.sampled_accesses), so 1 block in 2 was followed
    """
    beyond = f"{accesses:,} block look-ups are more than {limit:,} (trace.sampled_accesses)"
    what = "the choice of blocks only, not that another day brings other prompts"
    return (
        f"sampled: {beyond}, so 1 block in {every} was followed",
        f"±: standard error over {REPLICATES} samples; it shows {what}",
        "left out, for they need every look-up: the bound, other policies, rates, blocks kept for a time, and tiers",
    )
