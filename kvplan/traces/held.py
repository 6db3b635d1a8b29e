"""What a trace says of time and place: rates, what is held for how long, and which tier serves what."""

from __future__ import annotations

from itertools import accumulate
from math import sqrt
from typing import TYPE_CHECKING, Final

from kvplan.core.reuse.lifetimes import Lifetimes
from kvplan.core.reuse.rates import rates
from kvplan.core.reuse.routing import random_local_share, route
from kvplan.schema.tracing import Rate, Rates, TierShare, Ttl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.core.reuse import rates as reuse_rates
    from kvplan.core.reuse.distances import Distances
    from kvplan.core.reuse.prompt import Prompt
    from kvplan.core.reuse.routing import Routing
    from kvplan.schema.tracing import KvBytes, TraceAsked

TIMES_TO_LIVE_S: Final = (60.0, 120.0, 300.0, 600.0, 1_800.0, 3_600.0, 21_600.0, 86_400.0, 604_800.0)
"""Times for which blocks are kept; those beyond the trace are left out."""


def rates_of(found: Distances, kv: KvBytes | None, scale: float) -> Rates:
    r"""Return how fast an endless cache is written and read by a fleet with so many times the traced traffic.

    .. math:: mean = k\,m, \qquad peak = k\,m + \sqrt{k}\,(p - m)

    Parameters
    ----------
    found
        Every reuse of the trace.
    kv
        Bytes of a token, stored and loaded.
    scale
        How many times the traced traffic, k [1].

    Returns
    -------
    Rates
        Means, and highest means over 10 s.

    Notes
    -----
    Users of a larger fleet act on their own, so what a burst adds to the mean m grows with the root of k.

    Examples
    --------
    >>> from kvplan.core.reuse.distances import stack_distances
    >>> from kvplan.core.reuse.prompt import Prompt
    >>> trace = [Prompt(0.0, (1, 2), 32), Prompt(5.0, (1, 2, 3), 48), Prompt(20.0, (1,), 16)]
    >>> rates_of(stack_distances(trace, 16), None, 4).write_tokens_per_s
    Rate(mean=9.6, peak=14.4)
    """
    counted = rates(found)
    write, read = _scaled(counted.write, scale), _scaled(counted.read, scale)
    return Rates(
        write_tokens_per_s=write,
        read_tokens_per_s=read,
        write_bytes_per_s=_times(write, kv.stored_bytes_per_token) if kv else None,
        read_bytes_per_s=_times(read, kv.loaded_bytes_per_token) if kv else None,
    )


def ttls_of(found: Distances, kv: KvBytes | None, scale: float) -> tuple[Ttl, ...]:
    """Return what keeping blocks for a time hits, and what a fleet with so many times the traced traffic then holds.

    Parameters
    ----------
    found
        Every reuse of the trace.
    kv
        Bytes of a token.
    scale
        How many times the traced traffic [1].

    Returns
    -------
    tuple of Ttl
        One for each time that is shorter than the trace.
    """
    lived = Lifetimes(found)
    return tuple(_ttl(lived, found, kv, ttl_s, scale) for ttl_s in TIMES_TO_LIVE_S if ttl_s < found.span_s)


def tiers_of(
    prompts: Sequence[Prompt], found: Distances, asked: TraceAsked, kv: KvBytes | None
) -> tuple[TierShare, ...]:
    """Split the hits among tiers, each spread over the engines, and the shared one below them.

    Parameters
    ----------
    prompts
        The requests.
    found
        Every reuse of them.
    asked
        Sizes of the tiers [B], and over how many engines they are spread.
    kv
        Bytes of a token; without them, sizes in bytes say nothing.

    Returns
    -------
    tuple of TierShare
        The tiers asked for and the shared one; empty where none was asked for.

    Notes
    -----
    What falls out of a tier lies in the next, so that the first j tiers act as one cache of their summed size. Random
    routing is simulated as turn by turn. Where ids do not stand for prefixes nothing can be routed by them, and
    sticky routing is taken for one pooled cache.
    """
    if not asked.tier_bytes or kv is None:
        return ()
    token_bytes = found.block_tokens * kv.stored_bytes_per_token
    bounds = [int(size / token_bytes) for size in accumulate(asked.tier_bytes)]
    reused = found.whole.reused_tokens
    sticky = [0, *(_local(prompts, found, blocks, asked.instances, "sticky") for blocks in bounds), reused]
    random = [0, *(_local(prompts, found, blocks, asked.instances, "round-robin") for blocks in bounds), reused]
    sizes: tuple[int | None, ...] = (*asked.tier_bytes, None)
    return tuple(
        TierShare(
            name="shared" if size is None else f"tier {index + 1}",
            bytes=size,
            sticky_token_hit_ratio=(sticky[index + 1] - sticky[index]) / found.whole.tokens,
            random_token_hit_ratio=(random[index + 1] - random[index]) / found.whole.tokens,
        )
        for index, size in enumerate(sizes)
    )


def _local(prompts: Sequence[Prompt], found: Distances, blocks: int, instances: int, routing: Routing) -> int:
    """Return the tokens that engines find in their own caches, all of which hold so many blocks."""
    if instances == 1 or (routing == "sticky" and not found.chained):
        return found.whole.hit_tokens(blocks)
    if not found.chained:
        return int(random_local_share(found.whole.hit_tokens(blocks), 0, instances))
    return route(prompts, found.block_tokens, instances, blocks // instances, routing=routing).local_tokens


def _ttl(lived: Lifetimes, found: Distances, kv: KvBytes | None, ttl_s: float, scale: float) -> Ttl:
    """Return one time to live."""
    mean = round(scale * lived.mean_blocks(ttl_s) * found.block_tokens)
    peak = round(scale * lived.peak_blocks(ttl_s) * found.block_tokens)
    return Ttl(
        ttl_s=ttl_s,
        hit_ratio=lived.hit_blocks(ttl_s) / found.whole.blocks,
        token_hit_ratio=lived.hit_tokens(ttl_s) / found.whole.tokens,
        mean_tokens=mean,
        peak_tokens=peak,
        mean_bytes=round(mean * kv.stored_bytes_per_token) if kv else None,
        peak_bytes=round(peak * kv.stored_bytes_per_token) if kv else None,
    )


def _scaled(rate: reuse_rates.Rate, scale: float) -> Rate:
    """Scale a rate to more users, whose bursts even out."""
    mean, peak = rate.mean_tokens_per_s, rate.peak_tokens_per_s
    return Rate(mean=scale * mean, peak=scale * mean + sqrt(scale) * (peak - mean))


def _times(rate: Rate, bytes_per_token: float) -> Rate:
    """Turn tokens into bytes."""
    return Rate(mean=rate.mean * bytes_per_token, peak=rate.peak * bytes_per_token)
