"""Requests made up: random arrivals and lengths, shares of hits, bursts; equal seeds give equal requests."""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from kvplan.core.fleet.jobs import Arrival, Job
from kvplan.core.sizing.workload_tiers import routed_share

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Shares:
    """What of a prompt is found where.

    `hit_share` [1] of each prompt, its beginning, is cached; of the requests `tier_share` [1] find that only in the
    shared tier, the others in their engine's own tiers. Of the latter `shared_share` [1] are on a prefix that every
    engine holds. A prefix comes again after `reuse_gap_s` [s] on average; with a `cold` start none is found that was
    last used before the beginning.
    """

    hit_share: float
    tier_share: float = 1.0
    reuse_gap_s: float = 0.0
    cold: bool = False
    shared_share: float = 0.0


def poisson_arrivals(
    requests_per_s: float, duration_s: float, tokens: float, sigma: float, seed: int
) -> tuple[Arrival, ...]:
    r"""Let requests come at random.

    .. math:: \Delta t \sim \mathrm{Exp}(\lambda), \qquad n = \bar n \exp(\sigma z - \sigma^2 / 2)

    Parameters
    ----------
    requests_per_s
        Mean rate lambda of the whole fleet [1/s].
    duration_s
        How long they come [s].
    tokens
        Mean length of a prompt [tokens].
    sigma
        Standard deviation of the logarithm of the length [1]; 0 makes all equally long.
    seed
        What the random numbers follow from [1].

    Returns
    -------
    tuple of Arrival
        Requests by their arrival [s], at least 1 token long.

    Notes
    -----
    Independent users; what one request makes the next do, an agent's fan-out for one, is a burst.

    References
    ----------
    Poisson process by its exponential gaps; lognormal lengths with the mean kept.

    Examples
    --------
    >>> some = poisson_arrivals(10, 60, 8_000, 0.5, seed=0)
    >>> len(some), some == poisson_arrivals(10, 60, 8_000, 0.5, seed=0)
    (598, True)
    """
    random, time, made = Random(seed), 0.0, []  # noqa: S311 - a simulation, not a secret
    while (time := time + random.expovariate(requests_per_s)) < duration_s:
        length = tokens * math.exp(random.gauss(0.0, sigma) - sigma * sigma / 2) if sigma else tokens
        made.append(Arrival(time, max(round(length), 1)))
    return tuple(made)


def shared_out(arrivals: Iterable[Arrival], shares: Shares, engines: int, *, sticky: bool, seed: int) -> list[Job]:
    """Send requests to engines at random, and find what the shares say.

    Parameters
    ----------
    arrivals
        Requests by their arrival [s].
    shares
        What is found where [1].
    engines
        Engines [engines].
    sticky
        Whether a request goes back to the engine that holds its prefix; where not, one in `engines` does by chance,
        and what every engine holds is found all the same.
    seed
        What the random numbers follow from [1].

    Returns
    -------
    list of Job
        The requests at their engines.

    Notes
    -----
    Gaps between uses of a prefix are exponential; real ones have a longer tail, which a trace shows.

    References
    ----------
    Share of local hits by chance 1 / N, as the replay of public traces gives it for sessions:
    `kvplan.core.sizing.workload_tiers.routed_share`.

    Examples
    --------
    >>> found = shared_out([Arrival(0.0, 1_000)], Shares(0.9), 4, sticky=False, seed=0)
    >>> found[0].tier_tokens, found[0].local_tokens
    (900, 0)
    """
    random = Random(seed)  # noqa: S311 - a simulation, not a secret
    local_share = routed_share(1 - shares.tier_share, "sticky" if sticky else "random", engines, shares.shared_share)
    jobs = []
    for arrival in arrivals:
        engine, place, gap = random.randrange(engines), random.random(), random.random()
        hit = round(shares.hit_share * arrival.tokens)
        # The prefix was last used before the beginning, where nothing was kept.
        if shares.cold and -shares.reuse_gap_s * math.log(1 - gap) > arrival.time_s:
            hit = 0
        local = hit if place < local_share else 0
        jobs.append(Job(arrival.time_s, engine, arrival.tokens, local, hit - local))
    return jobs


def burst(requests: int, time_s: float, tokens: int, hit_share: float, engines: int) -> list[Job]:
    """Let requests come all at once, spread over the engines, what is cached of them only in the shared tier.

    Parameters
    ----------
    requests
        How many come [1].
    time_s
        When [s].
    tokens
        Length of each [tokens].
    hit_share
        Share of it that the tier holds [1].
    engines
        Engines [engines].

    Returns
    -------
    list of Job
        The requests at their engines.

    References
    ----------
    The storm of `kvplan.core.prediction.storm.storm_seconds`, with the engines' part added.

    Examples
    --------
    >>> [job.engine for job in burst(3, 60.0, 1_000, 0.9, 2)]
    [0, 1, 0]
    """
    hit = round(hit_share * tokens)
    return [Job(time_s, index % engines, tokens, 0, hit) for index in range(requests)]
