"""The time to the first token, computed and read back, over the prompt's length, and when every engine asks at once."""

from __future__ import annotations

from itertools import groupby
from math import floor, log10
from typing import TYPE_CHECKING

from kvplan.core.prediction.load import cold_seconds_of, warm_seconds_of
from kvplan.core.prediction.storm import planned_read_left, storm_knee, storm_seconds
from kvplan.render.figures import significant
from kvplan.render.report.blocks import Figure, Pair, Part, Prose, Table
from kvplan.render.report.charts.curves import Curve, Point, Series, load_chart, storm_chart
from kvplan.render.report.scales import spaced
from kvplan.render.report.words import sentence
from kvplan.render.view import Grid
from kvplan.units import counted, format_bytes, format_duration, format_percent, format_rate

if TYPE_CHECKING:
    from kvplan.render.report.source import Source
    from kvplan.schema.measurement import Measurement
    from kvplan.schema.plan import Plan

_SAMPLES = 25
_LOOKS = {"cold": ("square", "second"), "cached": ("ring", "third")}


def speed(source: Source) -> Part:
    """Draw the times to the first token and a storm, and say what they are not."""
    charts = Pair((_load(source), _storm(source)))
    return Part("speed", "Time to first token", (charts, Prose(_limits(source)), *_gains(source.plan)))


def _load(source: Source) -> Figure:
    """Draw the predicted times over the prompt's length, with what was published of the same system."""
    plan = source.plan
    title = "Computing a prompt, and reading it back"
    words = _load_words(plan, source.measurements)
    curves = _curves(plan)
    ends = tuple(Point(*curve.points[-1], format_duration(curve.points[-1][1])) for curve in curves)
    series = (*_published(source.measurements), *(Series((end,), "") for end in ends))
    drawn = load_chart("load", title, words, curves, series, plan.performance.break_even_tokens)
    return Figure("load", title, drawn, words)


def _curves(plan: Plan) -> tuple[Curve, ...]:
    """Compute both times from a hundredth of the context up to all of it."""
    longest = plan.request.context_tokens
    lengths = spaced(10.0 ** max(floor(log10(longest)) - 2, 0), max(longest, 2), _SAMPLES)
    back = tuple((tokens, warm_seconds_of(plan, tokens)) for tokens in lengths)
    warm = Curve(back, "curve first", "read back, nobody else reading (predicted)")
    cold = [(tokens, seconds) for tokens in lengths if (seconds := cold_seconds_of(plan, tokens)) is not None]
    if not cold:
        return (warm,)
    return warm, Curve(tuple(cold), "curve dashed second", "computed (predicted)")


def _published(measurements: tuple[Measurement, ...]) -> list[Series]:
    """Group what was published by cold and cached."""
    ordered = sorted(measurements, key=lambda row: (row.prompt, row.confidence, row.context_tokens))
    series = []
    for (prompt, confidence), rows in groupby(ordered, key=lambda row: (row.prompt, row.confidence)):
        points = tuple(Point(row.context_tokens, row.ttft_s, f"{row.ttft_s:g} s", *_LOOKS[prompt]) for row in rows)
        series.append(Series(points, f"time to first token, {prompt} (published, {confidence})"))
    return series


def _load_words(plan: Plan, measurements: tuple[Measurement, ...]) -> str:
    """Say what the chart of times shows."""
    predicted = plan.performance
    alone, late = format_duration(predicted.warm_ttft_s), format_duration(predicted.warm_ttft_p99_s)
    text = (
        f"A prompt of {plan.request.context_tokens:,} tokens that is cached as a whole is "
        f"{format_bytes(plan.kv.context_loaded_bytes)}; its first token comes after {alone} while nobody else reads, "
        f"after {late} in 99 of 100 cases when the tier is as busy as planned"
    )
    if predicted.cold_ttft_s and predicted.cold_tokens_per_s and predicted.speedup:
        text += (
            f", and after {format_duration(predicted.cold_ttft_s)} when it is computed, "
            f"{significant(predicted.cold_tokens_per_s)} tokens a second: {significant(predicted.speedup, 2)} times "
            "later"
        )
    if not measurements:
        return f"{text}."
    shown = ", ".join(
        f"{row.prompt} {row.ttft_s:g} s at {row.context_tokens:,} tokens ({row.confidence})" for row in measurements
    )
    return f"{text}. Published: {shown}. Dotted lines only join the published points."


def _storm(source: Source) -> Figure:
    """Draw the time until all engines that ask at once are served, as built and with a node lost."""
    plan = source.plan
    engines, size, rate = plan.hbm.engines, plan.kv.context_loaded_bytes, plan.buys.engine_read_bytes_per_s
    title = "A storm: every engine at once"
    curves, points, words = [], [], []
    for name, tier, look, shape in _tiers(plan):
        curves.append(_storm_curve(engines, size, (rate, tier), f"{look[0]} {look[1]}", name))
        until = storm_seconds(engines, size, rate, tier)
        points.append(Point(engines, until, format_duration(until), shape, look[1]))
        words.append(f"{name}: {counted(engines, 'engine')} served in {format_duration(until)}")
    return Figure(
        "storm", title, storm_chart("storm", title, "; ".join(words), curves, points), _storm_words(plan, words)
    )


def _tiers(plan: Plan) -> list[tuple[str, float, tuple[str, str], str]]:
    """Name the states with the rate that the tier plans for reads in each, and how they are drawn."""
    share = plan.constants["guidance.planned_read_share"].value
    lost = planned_read_left(plan.network.degraded.node, share)
    tiers = [("as built (derived)", plan.buys.planned_read_bytes_per_s, ("curve", "first"), "disc")]
    if lost:
        tiers.append(("one node lost (derived)", lost, ("curve dashed", "second"), "square"))
    return tiers


def _storm_curve(engines: int, size: int, rates: tuple[float, float], look: str, name: str) -> Curve:
    """Compute a storm from one engine to all, with the point from which engines slow each other down."""
    knee = storm_knee(*rates)
    at = sorted({0.0, min(knee, engines), float(engines)})
    points = tuple((n, storm_seconds(n, size, *rates)) for n in at)
    return Curve(points, look, f"{name}: {format_rate(rates[1])} planned for reads")


def _storm_words(plan: Plan, served: list[str]) -> str:
    """Say what the chart of the storm shows."""
    knee = storm_knee(plan.buys.engine_read_bytes_per_s, plan.buys.planned_read_bytes_per_s)
    alone = format_duration(plan.buys.load_s)
    if knee >= plan.hbm.engines:
        first = f"All engines together load as fast as one alone, in {alone}."
    else:
        first = f"Up to {counted(int(knee), 'engine')} at once load in {alone} each; beyond, they share the tier."
    return f"{first} {sentence('; '.join(served))}"


def _limits(source: Source) -> tuple[str, ...]:
    """Say what the predictions rest on and leave out, and what was published."""
    prefill, measurements = source.plan.performance.prefill, source.measurements
    if prefill is None:
        rests = "The time of computing a prompt is not predicted: nothing is known of this model on this GPU."
    else:
        rests = (
            f"Computing is predicted for one request alone, real software {prefill.derate:g} times as slow as the "
            f"source: {prefill.source} ({prefill.confidence}). The storm is a lower bound from bytes and planned rates."
        )
    if not measurements:
        return (rests, "Nothing was published for this model on this GPU.")
    systems = "; ".join(dict.fromkeys(f"{row.setup} ({row.source})" for row in measurements))
    return (rests, f"The published points are of {systems}.", *_gain(measurements))


def _gains(plan: Plan) -> tuple[Table, ...]:
    """Show what the whole gains at a hit share: a gain of one request is not that of a fleet."""
    if not plan.performance.amdahl:
        return ()
    rows = tuple(
        (format_percent(point.hit_share, 0), f"{significant(point.speedup, 2)}x") for point in plan.performance.amdahl
    )
    return (
        Table("What the fleet gains when so many requests are hits", Grid(("Hits", "Requests served"), rows, "rr")),
    )


def _gain(measurements: tuple[Measurement, ...]) -> tuple[str, ...]:
    """Compare cold with cached at the longest prompt that was published both ways."""
    cold, cached = (
        {row.context_tokens: row.ttft_s for row in measurements if row.prompt == prompt}
        for prompt in ("cold", "cached")
    )
    both = cold.keys() & cached.keys()
    if not both:
        return ()
    longest = max(both)
    slow, fast = cold[longest], cached[longest]
    text = (
        f"At {longest:,} tokens they are {slow:g} s without a cache and {fast:g} s with one, "
        f"{significant(slow / fast, 2)} times sooner."
    )
    return (text,)
