"""Private caches behind a router, over a tier that all of them share: what stays local and what the tier must serve."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from kvplan.core.reuse.prompt import REPORT_EVERY, tokens_of_head
from kvplan.core.reuse.stack import ChainedStack, Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.core.reuse.prompt import Progress, Prompt

Routing: TypeAlias = Literal["sticky", "round-robin"]
"""Whether a request goes where its prefix was served last, or to the next instance whatever it asks for."""


PREFIX_WEIGHT: Final = 10
"""Computed blocks by which the holder of a prefix may be ahead, for each block of the prefix: a session comes back."""


class RoutingHits(NamedTuple):
    """Where the tokens of a trace were found.

    Attributes
    ----------
    local_tokens
        In the instance's own cache [tokens].
    shared_tokens
        In the shared tier and not in the own cache [tokens].
    tokens
        Looked up [tokens].
    imbalance
        Blocks computed by the busiest instance over the mean [1].
    """

    local_tokens: int
    shared_tokens: int
    tokens: int
    imbalance: float


@dataclass
class _Instance:
    stack: ChainedStack = field(default_factory=ChainedStack)
    computed_blocks: int = 0


def route(
    prompts: Sequence[Prompt],
    block_tokens: int,
    instances: int,
    local_blocks: int,
    *,
    routing: Routing = "sticky",
    shared_blocks: int | None = None,
    first: int = 0,
    progress: Progress | None = None,
) -> RoutingHits:
    """Send a trace through instances with LRU caches of their own above a shared LRU tier.

    Parameters
    ----------
    prompts
        The requests in order of arrival, with chained ids.
    block_tokens
        Tokens of a whole block [tokens].
    instances
        How many engines have a cache of their own [engines].
    local_blocks
        Size of each of these caches [blocks].
    routing
        How requests find an instance.
    shared_blocks
        Size of the shared tier [blocks]; None for one without an end.
    first
        The first request that counts; those before it fill the caches.
    progress
        Told now and then how many prompts are done.

    Returns
    -------
    RoutingHits
        Tokens found locally and in the tier.

    Raises
    ------
    NotChainedError
        Where an id was seen after another block; the closed rule `random_local_share` needs no ids.

    Notes
    -----
    The tier sees every prompt, because engines write through. A sticky router sends a request to the instance that
    served its longest known prefix, unless that instance has computed far more than the least busy one, measured by
    the length of the prefix. On the public traces it hits locally what one pooled cache would hit, within one point.

    References
    ----------
    The trade of overlap against load that Dynamo's KV router makes.

    Examples
    --------
    >>> from kvplan.core.reuse.prompt import Prompt
    >>> trace = [Prompt(float(turn), (1, 2, 3), 48) for turn in range(4)]
    >>> route(trace, 16, 2, 3).local_tokens, route(trace, 16, 2, 3, routing="round-robin")
    (144, RoutingHits(local_tokens=96, shared_tokens=48, tokens=192, imbalance=2.0))
    """
    shared = ChainedStack()
    engines = [_Instance() for _ in range(instances)]
    served_by: list[int] = []
    local_tokens = shared_tokens = tokens = 0
    for request, prompt in enumerate(prompts):
        known = shared.touch(prompt.blocks)
        chosen = _choose(engines, known, served_by) if routing == "sticky" else request % instances
        served_by.append(chosen)
        engine = engines[chosen]
        local = _held(engine.stack.touch(prompt.blocks), local_blocks)
        in_tier = _held(known, shared_blocks)
        engine.computed_blocks += len(prompt.blocks) - max(local, in_tier)
        if request >= first:
            found = tokens_of_head(prompt, local, block_tokens)
            local_tokens += found
            shared_tokens += max(tokens_of_head(prompt, in_tier, block_tokens) - found, 0)
            tokens += prompt.tokens
        if progress and not request % REPORT_EVERY:
            progress(request, len(prompts))
    if progress:
        progress(len(prompts), len(prompts))
    computed = [engine.computed_blocks for engine in engines]
    imbalance = max(computed) * instances / sum(computed) if sum(computed) else 1.0
    return RoutingHits(local_tokens, shared_tokens, tokens, imbalance)


def _choose(engines: list[_Instance], known: list[Run], served_by: list[int]) -> int:
    """Return the instance that last served the longest known prefix, or the least busy one where that pays more."""
    least = min(range(len(engines)), key=lambda number: engines[number].computed_blocks)
    if not known:
        return least
    holder = served_by[known[-1].owner]
    saved = sum(run.length for run in known)
    ahead = engines[holder].computed_blocks - engines[least].computed_blocks
    return holder if ahead <= PREFIX_WEIGHT * saved else least


def _held(runs: list[Run], capacity_blocks: int | None) -> int:
    """Return how many blocks of a prompt a cache holds, from the first on."""
    if capacity_blocks is None:
        return sum(run.length for run in runs)
    return sum(min(max(capacity_blocks - run.depth, 0), run.length) for run in runs)


def random_local_share(pooled_share: float, everywhere_share: float, instances: int) -> float:
    r"""Return what private caches hit locally if requests reach them at random, from one LRU curve.

    .. math:: local = E + (H - E) / N

    Parameters
    ----------
    pooled_share
        Hit ratio H of one cache as large as all private ones together [1].
    everywhere_share
        Part E of it that every instance holds after a few requests, such as a shared system prompt [1].
    instances
        Private caches N [caches].

    Returns
    -------
    float
        Hit ratio of the private caches [1].

    Notes
    -----
    A lower bound for sessions of many turns: with k earlier turns in reach the chance to meet one of them is
    1 - (1 - 1/N)^k, not 1/N. With sticky routing the local hit ratio is that of the pooled cache.

    Examples
    --------
    >>> round(random_local_share(0.345, 0.045, 8), 4)
    0.0825
    """
    return everywhere_share + (pooled_share - everywhere_share) / instances
