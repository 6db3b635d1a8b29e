"""Claims about the time to the first token."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.prediction.claims.finding import Finding, agrees, close, text
from kvplan.core.prediction.prefill import cold_seconds
from kvplan.core.prediction.warm import EngineCost, warm_seconds

if TYPE_CHECKING:
    from kvplan.core.prediction.claims.facts import ClaimFacts


def cold_growth(facts: ClaimFacts) -> Finding:
    r"""Check that a cold prefill grows as weights and attention do: between the length and its square.

    .. math:: n_2/n_1 \le T_2/T_1 \le (n_2/n_1)^2

    Parameters
    ----------
    facts
        Times T1, T2 [s] of cold prompts of n1, n2 tokens [tokens].

    Returns
    -------
    Finding
        The growth T2/T1 [1].

    References
    ----------
    IBM Redbook MD260021, times to the first token.

    Examples
    --------
    >>> import kvplan
    >>> from kvplan.claims import facts_of
    >>> cold_growth(facts_of(kvplan.load_catalogue())).verdict
    'agrees'
    """
    points = facts.ttft
    growth, longer = points.cold_long_s / points.cold_short_s, points.long_tokens / points.short_tokens
    return Finding(
        published=f"{text(points.cold_short_s, 's')}, {text(points.cold_long_s, 's')}",
        computed=f"grows {text(growth, 'x')}",
        value=growth,
        unit="x",
        verdict=agrees(holds=longer <= growth <= longer**2),
        why=f"for {longer:g}x the tokens weights alone give {longer:g}x, attention alone {longer**2:g}x; this growth "
        f"has nothing to do with the {text(points.gain, 'x')} of cached against cold",
    )


def cold_long(facts: ClaimFacts) -> Finding:
    r"""Compare the long cold prefill with kvplan's own model of the GPU.

    .. math:: T(n_2) = \delta (c_0 + a n_2 + b n_2^2)

    Parameters
    ----------
    facts
        kvplan's own prefill model of the GPU, and the measured time [s] of the long cold prompt of n2 tokens [tokens].

    Returns
    -------
    Finding
        kvplan's time [s]; `depends` where it is not near the measured one.

    Notes
    -----
    A baseline that is slower than the model is no error of either: the kernels of its engine are older.

    References
    ----------
    IBM Redbook MD260021, times to the first token. aiconfigurator 0.12.0 for the model.

    Examples
    --------
    >>> import kvplan
    >>> from kvplan.claims import facts_of
    >>> cold_long(facts_of(kvplan.load_catalogue())).computed
    '15.99 s'
    """
    points = facts.ttft
    own = cold_seconds(facts.prefill, points.long_tokens)
    near = close(own, points.cold_long_s, facts.figures["tolerance.predicted"])
    return Finding(
        published=text(points.cold_long_s, "s"),
        computed=text(own, "s"),
        value=own,
        unit="s",
        verdict="agrees" if near else "depends",
        why=f"the software decides: this baseline took {text(points.cold_long_s / own, 'x')} as long as kvplan "
        f"predicts for current software on this GPU, against which the tier gains "
        f"{text(own / points.cached_long_s, 'x')} ({facts.prefill.source}; times {facts.prefill.derate:g} for engines)",
    )


def cached_short(facts: ClaimFacts) -> Finding:
    r"""Predict the short cached prompt from constants fitted elsewhere.

    .. math:: T_w = c_1 + \tau n + n B / r

    Parameters
    ----------
    facts
        c1 [s], tau [s/token], rate r [B/s], B bytes a token [B/token], the short prompt of n tokens [tokens].

    Returns
    -------
    Finding
        The predicted time [s].

    Notes
    -----
    Out of sample: no constant was fitted on this system.

    References
    ----------
    IBM Redbook MD260021, times to the first token. llm-d's blog for the constants.

    Examples
    --------
    >>> import kvplan
    >>> from kvplan.claims import facts_of
    >>> cached_short(facts_of(kvplan.load_catalogue())).computed
    '0.162 s'
    """
    return _cached(facts, facts.ttft.short_tokens, facts.ttft.cached_short_s)


def cached_long(facts: ClaimFacts) -> Finding:
    r"""Predict the long cached prompt from constants fitted elsewhere.

    .. math:: T_w = c_1 + \tau n + n B / r

    Parameters
    ----------
    facts
        As `cached_short`, for the long prompt.

    Returns
    -------
    Finding
        The predicted time [s].

    Notes
    -----
    Out of sample, as `cached_short`.

    References
    ----------
    IBM Redbook MD260021, times to the first token. llm-d's blog for the constants.

    Examples
    --------
    >>> import kvplan
    >>> from kvplan.claims import facts_of
    >>> cached_long(facts_of(kvplan.load_catalogue())).computed
    '0.6061 s'
    """
    return _cached(facts, facts.ttft.long_tokens, facts.ttft.cached_long_s)


def gain(facts: ClaimFacts) -> Finding:
    r"""Divide the long prompt's times.

    .. math:: s = T_{cold} / T_{cached}

    Parameters
    ----------
    facts
        Both times [s] of the long prompt.

    Returns
    -------
    Finding
        The gain s [1].

    Notes
    -----
    One request alone; with several in flight nothing was published at this length.

    References
    ----------
    IBM Redbook MD260021, times to the first token.

    Examples
    --------
    >>> import kvplan
    >>> from kvplan.claims import facts_of
    >>> gain(facts_of(kvplan.load_catalogue())).computed
    '56.4x'
    """
    figure, found = facts.figures["ttft.gain"], facts.ttft.gain
    own = cold_seconds(facts.prefill, facts.ttft.long_tokens) / facts.ttft.cached_long_s
    return Finding(
        published=text(figure, "x"),
        computed=text(found, "x"),
        value=found,
        unit="x",
        verdict=agrees(holds=close(found, figure, facts.figures["tolerance.printed"])),
        why=f"{text(facts.ttft.cold_long_s, 's')} / {text(facts.ttft.cached_long_s, 's')}, one request alone; against "
        f"current software it would be {text(own, 'x')} (see cold-130k)",
    )


def press(facts: ClaimFacts) -> Finding:
    r"""Compare the press release's pair with the measured one.

    .. math:: s = T_{cold} / T_{cached}

    Parameters
    ----------
    facts
        The pair of times [s] that the press release names, and the measured pair [s].

    Returns
    -------
    Finding
        The measured gain s [1].

    References
    ----------
    Press release of 5 November 2026; IBM Redbook MD260021, times to the first token.

    Examples
    --------
    >>> import kvplan
    >>> from kvplan.claims import facts_of
    >>> press(facts_of(kvplan.load_catalogue())).verdict
    'contradicts'
    """
    cold_s, cached_s = facts.figures["press.cold_s"], facts.figures["press.cached_s"]
    said, found = cold_s / cached_s, facts.ttft.gain
    increase = facts.ttft.cached_long_s - facts.ttft.cached_short_s
    return Finding(
        published=f"{text(cold_s, 's')} to {text(cached_s, 's')}, {text(said, 'x')}",
        computed=text(found, "x"),
        value=found,
        unit="x",
        verdict=agrees(holds=close(said, found, facts.figures["tolerance.printed"])),
        why=f"{text(increase, 's')} is how much longer a cached prompt of {facts.ttft.long_tokens:,} tokens takes than "
        f"one of {facts.ttft.short_tokens:,}, not a time to the first token; never calibrate on this pair",
    )


def _cached(facts: ClaimFacts, tokens: int, measured_s: float) -> Finding:
    """Predict a cached prompt: the engine's own time, and reading every token once at one stream's rate."""
    figures = facts.figures
    cost = EngineCost(figures["llmd.first_s"], figures["llmd.token_s"], 0.0, 0)
    fetch_s = tokens * facts.tier.per_token / figures["llmd.stream_bytes_per_s"]
    predicted = warm_seconds(cost, tokens, fetch_s, 0.0)
    return Finding(
        published=text(measured_s, "s"),
        computed=text(predicted, "s"),
        value=predicted,
        unit="s",
        verdict=agrees(holds=close(predicted, measured_s, figures["tolerance.predicted"])),
        why=f"out of sample: {cost.first_s:g} s + {1e6 * cost.token_s:g} us a token + {facts.tier.per_token:,.0f} B a "
        f"token at {text(figures['llmd.stream_bytes_per_s'], 'B/s')}, fitted on other machines, is off by "
        f"{100 * (predicted / measured_s - 1):+.0f} %",
    )
