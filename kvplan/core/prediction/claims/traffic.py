"""Claims about what the throughput test moved, how many requests were in it, and what noise cost it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.prediction.claims.finding import Finding, agrees, close, text

if TYPE_CHECKING:
    from kvplan.core.prediction.claims.facts import ClaimFacts


def client_network(facts: ClaimFacts) -> Finding:
    r"""Compute what the cached run moved on average.

    .. math:: r = N n B / T

    Parameters
    ----------
    facts
        Tokens of the run [tokens], B bytes of each in the tier [B/token], and the run's time T [s].

    Returns
    -------
    Finding
        The mean rate r [B/s].

    Notes
    -----
    A mean: short peaks may be higher.

    References
    ----------
    IBM Redbook MD260021, throughput test.

    Examples
    --------
    >>> import kvplan
    >>> from kvplan.claims import facts_of
    >>> client_network(facts_of(kvplan.load_catalogue())).computed
    '37.7 GB/s'
    """
    figures = facts.figures
    moved = figures["run.tokens"] * facts.tier.per_token / figures["run.cached_s"]
    limit, storage = figures["client.bytes_per_s"], figures["storage.bytes_per_s"]
    return Finding(
        published=text(limit, "B/s"),
        computed=text(moved, "B/s"),
        value=moved,
        unit="B/s",
        verdict=agrees(holds=moved >= limit),
        why=f"the run moved {100 * moved / limit:.0f} % of what the client's network carries and "
        f"{100 * moved / storage:.0f} % of what storage does: neither was full",
    )


def concurrency(facts: ClaimFacts) -> Finding:
    r"""Apply Little's law, N = X R, to the requests in flight.

    .. math:: R = N / X

    Parameters
    ----------
    facts
        N requests in flight [requests] and the rates X [requests/s].

    Returns
    -------
    Finding
        Mean time R of a request in the system with cache [s].

    Notes
    -----
    It holds where a request is in the system no shorter than it takes alone.

    References
    ----------
    IBM Redbook MD260021, throughput test. Little's law.

    Examples
    --------
    >>> import kvplan
    >>> from kvplan.claims import facts_of
    >>> concurrency(facts_of(kvplan.load_catalogue())).computed
    '147 s cold, 6.57 s cached'
    """
    figures = facts.figures
    cold_s, cached_s = (
        figures["run.concurrency"] * figures[name] / figures["run.requests"] for name in ("run.cold_s", "run.cached_s")
    )
    alone_s = facts.ttft.cached_seconds(facts.prompt_tokens)
    return Finding(
        published=text(figures["run.concurrency"], "requests"),
        computed=f"{cold_s:.0f} s cold, {cached_s:.2f} s cached",
        value=cached_s,
        unit="s",
        verdict=agrees(holds=cold_s >= facts.cold_prompt_s and cached_s >= alone_s),
        why=f"Little's law: so long was a request in the system, against {facts.cold_prompt_s:.1f} s and {alone_s:.2f} "
        "s alone; with cache it mostly waited for something other than storage",
    )


def noise_time(facts: ClaimFacts) -> Finding:
    r"""Compare the run times with and without noise.

    .. math:: T_{noise} / T - 1

    Parameters
    ----------
    facts
        Run times with and without noise [s].

    Returns
    -------
    Finding
        The share of time that the noise adds [1].

    References
    ----------
    IBM Redbook MD260021, throughput test.

    Examples
    --------
    >>> import kvplan
    >>> from kvplan.claims import facts_of
    >>> noise_time(facts_of(kvplan.load_catalogue())).computed
    '18.4 %'
    """
    figures = facts.figures
    slower = figures["noise.run_s"] / figures["run.cached_s"] - 1
    return Finding(
        published=text(figures["noise.slower"], "ratio"),
        computed=text(slower, "ratio"),
        value=slower,
        unit="ratio",
        verdict=agrees(holds=close(slower, figures["noise.slower"], figures["tolerance.printed"])),
        why=f"of time: {figures['noise.run_s']:g} s after {figures['run.cached_s']:g} s; of the rate it is less",
    )


def noise_rate(facts: ClaimFacts) -> Finding:
    r"""Compare the rates with and without noise, as printed and from the run times.

    .. math:: 1 - T / T_{noise}

    Parameters
    ----------
    facts
        Run times with and without noise [s], and the rates as printed [requests/s].

    Returns
    -------
    Finding
        The share of the rate that the noise takes [1].

    References
    ----------
    IBM Redbook MD260021, throughput test.

    Examples
    --------
    >>> import kvplan
    >>> from kvplan.claims import facts_of
    >>> noise_rate(facts_of(kvplan.load_catalogue())).computed
    '15.5 %'
    """
    figures = facts.figures
    said = 1 - figures["noise.per_s"] / figures["run.cached_per_s"]
    lost = 1 - figures["run.cached_s"] / figures["noise.run_s"]
    return Finding(
        published=text(said, "ratio"),
        computed=text(lost, "ratio"),
        value=lost,
        unit="ratio",
        verdict=agrees(holds=close(lost, said, figures["tolerance.printed"])),
        why=f"of the rate; the same noise costs {text(1 / (1 - lost) - 1, 'ratio')} of time: both hold",
    )
