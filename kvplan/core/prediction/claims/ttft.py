"""Claims about the time to the first token."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.prediction.claims.finding import Finding, agrees, close, text
from kvplan.core.prediction.prefill import cold_seconds
from kvplan.core.prediction.warm import EngineCost, warm_seconds

if TYPE_CHECKING:
    from kvplan.core.prediction.claims.facts import ClaimFacts


def cold_growth(facts: ClaimFacts) -> Finding:
    """Check that a cold prefill grows as weights and attention do: between the length and its square."""
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
    """Compare the long cold prefill with kvplan's own model of the GPU."""
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
        f"predicts for current software on this GPU (times {facts.prefill.derate:g}; {facts.prefill.source}), against "
        f"which the tier gains {text(own / points.cached_long_s, 'x')}",
    )


def cached_short(facts: ClaimFacts) -> Finding:
    """Predict the short cached prompt from constants fitted elsewhere."""
    return _cached(facts, facts.ttft.short_tokens, facts.ttft.cached_short_s)


def cached_long(facts: ClaimFacts) -> Finding:
    """Predict the long cached prompt from constants fitted elsewhere."""
    return _cached(facts, facts.ttft.long_tokens, facts.ttft.cached_long_s)


def gain(facts: ClaimFacts) -> Finding:
    """Divide the long prompt's times."""
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
    """Compare the press release's pair with the measured one."""
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
