"""Engines as queues: each computes one prompt after the other, in the order in which they are ready."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kvplan.core.prediction.prefill import suffix_seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.core.fleet.jobs import Job
    from kvplan.core.prediction.prefill import PrefillModel
    from kvplan.core.prediction.warm import EngineCost


@dataclass(frozen=True, slots=True)
class EngineTimes:
    """What an engine takes: to compute [s], for a hit in the shared tier [s], and how decoding slows both.

    Work on the GPU takes `interference` times as long as on an engine that decodes nothing [1].
    """

    prefill: PrefillModel
    hit: EngineCost
    interference: float


@dataclass(frozen=True, slots=True)
class Served:
    """What came of the jobs: time to the first token of each [s], when its engine began and ended it [s]."""

    first_token_s: list[float]
    begins_s: list[float]
    ends_s: list[float]


def work(times: EngineTimes, job: Job, *, from_tier: bool) -> tuple[float, float]:
    r"""Return how long a job holds its engine, and what comes on top until its first token.

    .. math:: W = \phi T(n, m) + [\tau n]_{\text{hit}}, \qquad
              L = c_1 + k t_s \text{ for a hit, else } \phi \delta c_0

    Parameters
    ----------
    times
        What an engine takes.
    job
        The request; n tokens, of which m are cached nowhere.
    from_tier
        Whether the tier's part arrived; where not, it is computed with the rest.

    Returns
    -------
    tuple of float
        Time W on the engine, and time L beside it [s].

    Notes
    -----
    What a prefill spends once, c0, is not on the engine's account: prompts that wait for each other are computed in
    common steps and share it.

    References
    ----------
    As `suffix_seconds` and `kvplan.core.prediction.warm.warm_seconds`.

    Examples
    --------
    >>> from kvplan.core.fleet.jobs import Job
    >>> from kvplan.core.prediction.prefill import PrefillModel
    >>> from kvplan.core.prediction.warm import EngineCost
    >>> h200 = PrefillModel(0.036, 17.3e-6, 0.313e-9, 1.0, "derived", "aiconfigurator 0.12.0")
    >>> times = EngineTimes(h200, EngineCost(0.125, 2.31e-6, 0.0, 0), 1.15)
    >>> job = Job(0.0, 0, 60_000, 0, 57_000)
    >>> [tuple(round(part, 3) for part in work(times, job, from_tier=here)) for here in (True, False)]
    [(0.325, 0.125), (2.49, 0.041)]
    """
    cached = job.local_tokens + (job.tier_tokens if from_tier else 0)
    computed = times.interference * suffix_seconds(times.prefill, job.tokens, job.tokens - cached)
    if from_tier and job.tier_tokens:
        return computed + times.hit.token_s * job.tokens, times.hit.first_s + times.hit.step_s * times.hit.steps
    return computed, times.interference * times.prefill.derate * times.prefill.c0_s


def serve(
    jobs: Sequence[Job], ready_s: Sequence[float], from_tier: Sequence[bool], times: EngineTimes, engines: int
) -> Served:
    r"""Let engines compute their jobs, first ready, first served.

    .. math:: b_j = \max(r_j, e_{j-1}), \qquad e_j = b_j + W_j, \qquad \mathrm{TTFT}_j = e_j + L_j - a_j

    Parameters
    ----------
    jobs
        The requests at their engines.
    ready_s
        When the tier's part of each has arrived [s].
    from_tier
        Whether it arrived at all.
    times
        What an engine takes.
    engines
        Engines [engines].

    Returns
    -------
    Served
        Time to the first token of each job [s], and when its engine worked on it [s].

    Notes
    -----
    A prompt that waits for its fetch lets others pass, as engines with asynchronous loads do. Chunks of several prompts
    in one step are not told apart: their work is the same, but the first is done a little later and the last is not.

    References
    ----------
    Lindley's recursion; within 2 % of NVIDIA AISimulate's mean on the public conversation trace.

    Examples
    --------
    >>> from kvplan.core.fleet.jobs import Job
    >>> from kvplan.core.prediction.prefill import PrefillModel
    >>> from kvplan.core.prediction.warm import EngineCost
    >>> times = EngineTimes(PrefillModel(0.0, 1e-4, 0.0, 1.0, "assumed", ""), EngineCost(0.0, 0.0, 0.0, 0), 1.0)
    >>> both = [Job(0.0, 0, 10_000), Job(0.5, 0, 10_000)]
    >>> serve(both, [0.0, 0.5], [False, False], times, 1).first_token_s
    [1.0, 1.5]
    """
    free = [0.0] * engines
    count = len(jobs)
    served = Served([0.0] * count, [0.0] * count, [0.0] * count)
    for index in sorted(range(count), key=ready_s.__getitem__):
        job = jobs[index]
        held, beside = work(times, job, from_tier=from_tier[index])
        begin = max(ready_s[index], free[job.engine])
        free[job.engine] = end = begin + held
        served.begins_s[index], served.ends_s[index] = begin, end
        served.first_token_s[index] = end + beside - job.arrival_s
    return served
