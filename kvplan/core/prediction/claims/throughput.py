"""Claims about the gain of the throughput test, and what ran it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.prediction.claims.finding import Finding, agrees, close, text
from kvplan.core.prediction.payoff import amdahl_speedup

if TYPE_CHECKING:
    from kvplan.core.prediction.claims.facts import ClaimFacts


def rates(facts: ClaimFacts) -> Finding:
    r"""Divide requests by times.

    .. math:: X = N / T

    Parameters
    ----------
    facts
        N requests [requests] and both run times T [s].

    Returns
    -------
    Finding
        The rate with cache X [requests/s].

    References
    ----------
    IBM Redbook MD260021, throughput test.

    Examples
    --------
    >>> import kvplan
    >>> from kvplan.claims import facts_of
    >>> rates(facts_of(kvplan.load_catalogue())).computed
    '0.191 to 4.261 requests/s'
    """
    figures, tolerance = facts.figures, facts.figures["tolerance.printed"]
    cold, cached = (figures["run.requests"] / figures[name] for name in ("run.cold_s", "run.cached_s"))
    near = close(cold, figures["run.cold_per_s"], tolerance) and close(cached, figures["run.cached_per_s"], tolerance)
    return Finding(
        published=f"{figures['run.cold_per_s']:g} to {text(figures['run.cached_per_s'], 'requests/s')}",
        computed=f"{cold:.3f} to {cached:.3f} requests/s",
        value=cached,
        unit="requests/s",
        verdict=agrees(holds=near),
        why=f"{figures['run.requests']:g} requests over {figures['run.cold_s']:,g} s and {figures['run.cached_s']:g} s",
    )


def run_gain(facts: ClaimFacts) -> Finding:
    r"""Divide the run times, and say what is left of the gain when not every request hits.

    .. math:: s = T_{cold} / T_{cached}, \qquad S(h) = \frac{1}{1 - h + h / s}

    Parameters
    ----------
    facts
        Both run times [s]; requests and unique prompts, which give the hit share h [1] from an empty cache.

    Returns
    -------
    Finding
        The gain s [1] where every request hits.

    Notes
    -----
    Hits are counted by request, each prompt as long as the next.

    References
    ----------
    IBM Redbook MD260021, throughput test. Amdahl's law for S(h).

    Examples
    --------
    >>> import kvplan
    >>> from kvplan.claims import facts_of
    >>> run_gain(facts_of(kvplan.load_catalogue())).verdict
    'depends'
    """
    figures, found = facts.figures, facts.run_gain
    near = close(found, figures["run.gain"], figures["tolerance.printed"])
    row = ", ".join(f"{text(amdahl_speedup(hits, found), 'x')} at {100 * hits:g} %" for hits in (0.95, 0.9, 0.8))
    return Finding(
        published=text(figures["run.gain"], "x"),
        computed=f"{text(found, 'x')} if all hit, {text(_from_empty(facts), 'x')} if {100 * facts.hit_share:g} % do",
        value=found,
        unit="x",
        verdict="depends" if near else "contradicts",
        why=f"the share of requests that hit decides: {text(found, 'x')} takes a cache filled before the run; it is "
        f"{row}, and {text(_from_empty(facts), 'x')} where every prompt appears "
        f"{figures['run.requests'] / figures['run.unique_prompts']:g} times and its first time fills the cache",
    )


def time_saved(facts: ClaimFacts) -> Finding:
    r"""Compare the run times.

    .. math:: 1 - T_{cached} / T_{cold}

    Parameters
    ----------
    facts
        Both run times [s].

    Returns
    -------
    Finding
        The share of the time that is saved [1].

    References
    ----------
    IBM Redbook MD260021, throughput test.

    Examples
    --------
    >>> import kvplan
    >>> from kvplan.claims import facts_of
    >>> time_saved(facts_of(kvplan.load_catalogue())).computed
    '95.5 %'
    """
    figures = facts.figures
    saved = 1 - 1 / facts.run_gain
    return Finding(
        published=text(figures["run.time_saved"], "ratio"),
        computed=text(saved, "ratio"),
        value=saved,
        unit="ratio",
        verdict=agrees(holds=close(saved, figures["run.time_saved"], figures["tolerance.printed"])),
        why=f"{figures['run.cached_s']:g} s instead of {figures['run.cold_s']:,g} s; filling the cache is not in it",
    )


def empty_cache(facts: ClaimFacts) -> Finding:
    r"""Compute the gain of a run that fills the cache itself.

    .. math:: S = \frac{1}{1 - h + h / s}, \qquad h = 1 - \frac{u}{N}

    Parameters
    ----------
    facts
        N requests, u unique prompts and the gain s [1] of a run in which all hit.

    Returns
    -------
    Finding
        The gain S [1] of a run that fills the cache itself.

    Notes
    -----
    Filling costs what the published cold points give for the mean length.

    References
    ----------
    IBM Redbook MD260021, throughput test. Amdahl's law.

    Examples
    --------
    >>> import kvplan
    >>> from kvplan.claims import facts_of
    >>> empty_cache(facts_of(kvplan.load_catalogue())).computed
    '1.91x'
    """
    figures, found = facts.figures, _from_empty(facts)
    filling_s = figures["run.unique_prompts"] * facts.cold_prompt_s
    return Finding(
        published=text(figures["run.gain"], "x"),
        computed=text(found, "x"),
        value=found,
        unit="x",
        verdict=agrees(holds=close(found, figures["run.gain"], figures["tolerance.printed"])),
        why=f"{figures['run.unique_prompts']:g} of {figures['run.requests']:g} requests would be computed: "
        f"{filling_s:,.0f} GPU-seconds for {facts.prompt_tokens:,.0f} tokens each; "
        f"{figures['run.cached_s']:g} s takes a cache filled beforehand",
    )


def one_gpu(facts: ClaimFacts) -> Finding:
    r"""Count the GPUs that the cold run must have kept busy.

    .. math:: g = N T_{cold}(n) / T

    Parameters
    ----------
    facts
        N requests of n tokens [tokens], the cold time [s] of one of them, and the run's time T [s].

    Returns
    -------
    Finding
        GPUs that were busy all the time, g [GPUs].

    Notes
    -----
    Decode comes on top, so it is a lower bound; it agrees only if repeats that hit GPU memory explain the rest.

    References
    ----------
    IBM Redbook MD260021, throughput test. The cold time is on the quadratic through both published points.

    Examples
    --------
    >>> import kvplan
    >>> from kvplan.claims import facts_of
    >>> one_gpu(facts_of(kvplan.load_catalogue())).computed
    '5.3 GPUs'
    """
    figures = facts.figures
    busy = figures["run.requests"] * facts.cold_prompt_s / figures["run.cold_s"]
    fewest = busy * (1 - facts.hit_share)
    return Finding(
        published=text(figures["run.gpus"], "GPUs"),
        computed=text(busy, "GPUs"),
        value=busy,
        unit="GPUs",
        verdict=agrees(holds=fewest <= figures["run.gpus"]),
        why=f"{figures['run.requests']:g} prompts of {facts.prompt_tokens:,.0f} tokens at {facts.cold_prompt_s:.1f} s "
        f"are {figures['run.requests'] * facts.cold_prompt_s:,.0f} GPU-seconds in {figures['run.cold_s']:,g} s; "
        f"{fewest:.2f} GPUs even if every repeat hit GPU memory",
    )


def _from_empty(facts: ClaimFacts) -> float:
    """Return the gain of a run whose first request for each prompt computes it [1]."""
    return amdahl_speedup(facts.hit_share, facts.run_gain)
