"""A simulated fleet as sections, as Markdown's and the table's source, and as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.paths import scalars
from kvplan.render.view import Grid, Section, View
from kvplan.units import counted, format_bytes, format_percent, format_rate

if TYPE_CHECKING:
    from kvplan.schema.simulating import Moments, Side, SimulationReport

_LINES = 12
"""Spans of time that the table shows; the JSON has them all."""


def simulate_view(report: SimulationReport) -> View:
    """Arrange what came of a simulation: times, the tier, what happened when, what to know of it."""
    notes = (Section("What to know", tuple(report.notes)),) if report.notes else ()
    return (_times(report), _tier(report), _over_time(report), _fleet(report), *notes)


def simulate_rows(report: SimulationReport) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return every value of the report as rows."""
    data = report.model_dump(mode="json")
    return ("field", "value"), [(path, "" if value is None else str(value)) for path, value in scalars(data)]


def seconds(time_s: float) -> str:
    """Write a time to the first token.

    >>> seconds(0.3944), seconds(12.345), seconds(4321)
    ('0.394 s', '12.3 s', '4,321 s')
    """
    places = 3 if time_s < 1 else 2 if time_s < 10 else 1 if time_s < 1000 else 0  # noqa: PLR2004 - three digits
    return f"{time_s:,.{places}f} s"


def _times(report: SimulationReport) -> Section:
    """Show the time to the first token with the tier and without it."""
    sides = ("with tier", report.with_tier), ("without", report.without_tier)
    return Section(
        f"Time to first token: {counted(report.requests, 'request')} in {report.duration_s:,.0f} s",
        (
            f"{report.source}; {report.mean_prompt_tokens:,.0f} tokens a prompt on average, seed {report.request.seed}",
            *_workload(report),
            f"mean {report.mean_speedup:.3g} times as fast with the tier",
        ),
        Grid(
            ("Fleet", "Mean", "p50", "p90", "p99", "Cached", "Engines busy"),
            tuple((name, *_side(side)) for name, side in sides),
            "lrrrrrr",
        ),
    )


def _workload(report: SimulationReport) -> tuple[str, ...]:
    """Show what the workload became."""
    request = report.request
    if report.workload is None:
        return ()
    parts = [f"{request.requests_per_s:,.3g} requests/s"] if request.requests_per_s else []
    if request.hit_share is not None:
        parts.append(f"{format_percent(request.hit_share)} of a prompt cached")
        parts.append(f"{format_percent(request.tier_share)} of that in the shared tier only")
    return (f"workload {report.workload}: {', '.join(parts) or f'{request.routing} routing'}",)


def _side(side: Side) -> tuple[str, ...]:
    """Write the figures of one fleet."""
    ttft = side.ttft
    times = ttft.mean_s, ttft.p50_s, ttft.p90_s, ttft.p99_s
    shares = format_percent(side.cached_share), format_percent(side.engine_busy_share)
    return (*(seconds(time) for time in times), *shares)


def _tier(report: SimulationReport) -> Section:
    """Show what the fetches took."""
    fetches = report.fetches
    lost = f", {fetches.lost:,} of them lost and computed instead" if fetches.lost else ""
    return Section(
        "Shared tier",
        (
            f"{counted(fetches.count, 'fetch')}{lost}".replace("fetchs", "fetches"),
            (
                f"{format_bytes(fetches.bytes)} read, {format_percent(report.tier_busy_share)} of what it carries with "
                "nothing lost"
            ),
            (
                f"a fetch takes {seconds(fetches.mean_s)} on average, 99 % of them {seconds(fetches.p99_s)} at most; "
                f"{seconds(fetches.alone_s)} with the tier to itself"
            ),
        ),
    )


def _over_time(report: SimulationReport) -> Section:
    """Show what happened when, by a few spans, each the worst of what it spans."""
    failures = tuple(f"{failure.at_s:,g} s: {_failure(failure.lost)}" for failure in report.request.fails)
    burst = report.request.burst
    crowd = (f"{burst.at_s:,g} s: {counted(burst.requests, 'request')} at once",) if burst else ()
    size = max(len(report.timeline) // _LINES, 1)
    spans = [report.timeline[at : at + size] for at in range(0, len(report.timeline), size)]
    return Section(
        "Over time",
        (*failures, *crowd),
        Grid(
            ("From", "Requests", "p50 with", "p99 with", "p50 without", "p99 without", "Tier busy", "Engines"),
            tuple(_span(span) for span in spans),
            "rrrrrrrr",
        ),
        ("each line shows the worst of its parts; engines are those of the fleet with the tier",),
    )


def _failure(lost: str) -> str:
    """Say what is lost."""
    return "all is well again" if lost == "nothing" else f"a {lost} is lost"


def _span(span: tuple[Moments, ...]) -> tuple[str, ...]:
    """Write one line."""
    times = (
        [getattr(part, name) for part in span if getattr(part, name) is not None]
        for name in ("with_p50_s", "with_p99_s", "without_p50_s", "without_p99_s")
    )
    return (
        f"{span[0].start_s:,.0f} s",
        f"{sum(part.requests for part in span):,}",
        *(seconds(max(found)) if found else "" for found in times),
        format_percent(max(part.read_share for part in span)),
        format_percent(max(part.with_engine_share for part in span)),
    )


def _fleet(report: SimulationReport) -> Section:
    """Show what was simulated."""
    fleet, request = report.fleet, report.request
    placed = "striped over all storage nodes" if request.placement == "striped" else "on one storage node each"
    return Section(
        "What was simulated",
        (
            (
                f"{counted(fleet.engines, 'engine')} of {counted(fleet.tp, 'GPU')}, {request.routing} routing, "
                f"{fleet.local_tokens:,} tokens cached in each"
            ),
            (
                f"a fetch runs at {format_rate(fleet.stream_bytes_per_s)} at most; a NIC of "
                f"{format_rate(fleet.nic_bytes_per_s)} is shared by {counted(fleet.engines_behind_a_nic, 'engine')}, "
                f"{format_rate(fleet.shared_bytes_per_s)} by all, beside {format_rate(fleet.write_bytes_per_s)} of "
                f"writes; prompts {placed}"
            ),
            (
                f"cold prefill {fleet.cold_tokens_per_s:,.0f} tokens/s at the Plan's context "
                f"({fleet.prefill_confidence}): {fleet.prefill_source}"
            ),
        ),
    )
