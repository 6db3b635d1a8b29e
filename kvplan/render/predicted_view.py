"""What a Plan predicts, as sections: times to the first token, when they pay off, and what writes do to the flash."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.render.figures import significant
from kvplan.render.view import Section
from kvplan.units import counted, format_bytes, format_duration, format_percent, format_rate

if TYPE_CHECKING:
    from kvplan.schema.plan import Plan


def predicted_sections(plan: Plan) -> tuple[Section, ...]:
    """Arrange the predictions."""
    return (
        Section("Time to first token (predicted)", (_warm(plan), *_cold(plan), _storm(plan))),
        Section("Endurance (predicted)", _endurance(plan)),
    )


def _warm(plan: Plan) -> str:
    """Say how soon a cached context answers."""
    predicted = plan.performance
    alone, late = format_duration(predicted.warm_ttft_s), format_duration(predicted.warm_ttft_p99_s)
    return (
        f"cached: {alone} alone, {late} for 99 of 100 when the tier is as busy as planned, at most "
        f"{format_rate(predicted.stream_bytes_per_s)} into an engine"
    )


def _cold(plan: Plan) -> tuple[str, ...]:
    """Say how long computing takes instead, and from when on the tier gains."""
    predicted, prefill = plan.performance, plan.performance.prefill
    if prefill is None or not (predicted.cold_ttft_s and predicted.cold_tokens_per_s and predicted.speedup):
        return ("computed: not predicted, nothing is known of this model on this GPU",)
    gains = ", ".join(
        f"{format_percent(point.hit_share, 0)} {significant(point.speedup, 2)}x" for point in predicted.amdahl
    )
    least = "never" if predicted.break_even_tokens is None else f"from {predicted.break_even_tokens:,.0f} tokens on"
    return (
        (
            f"computed: {format_duration(predicted.cold_ttft_s)}, {significant(predicted.cold_tokens_per_s)} tokens/s "
            f"and engine ({prefill.confidence}: {prefill.source}; x {prefill.derate:g} for real software)"
        ),
        f"{significant(predicted.speedup, 2)}x sooner for one hit; of the whole, by the share that hits: {gains}",
        (
            f"reading back wins {least}, for up to {predicted.break_even_gpus or 0:,.0f} GPUs at once; "
            f"beyond {format_percent(predicted.break_even_hit_share or 0, 0)} of tokens from the tier it is the limit, "
            "not the GPUs"
        ),
    )


def _storm(plan: Plan) -> str:
    """Say how long the whole fleet waits when it asks at once."""
    served = format_duration(plan.performance.storm_s)
    return f"storm: {counted(plan.hbm.engines, 'engine')} at once are served after {served}"


def _endurance(plan: Plan) -> tuple[str, ...]:
    """Say how long context stays, how the flash wears, and how many files there are."""
    wear = plan.endurance
    return (
        (
            f"at {format_rate(wear.write_bytes_per_s)} of writes context stays {format_duration(wear.retention_s)}; "
            f"{significant(wear.drive_writes_per_day, 2)} drive writes a day, rated {wear.rated_drive_writes_per_day:g}"
        ),
        (
            f"{wear.files / 1e6:,.0f} million files of {format_bytes(wear.file_bytes)} when full, "
            f"{wear.creates_per_s:,.0f} made a second; eviction must delete {format_rate(wear.eviction_bytes_per_s)}"
        ),
    )
