"""The report on a trace as sections; every figure says whether it was counted or derived."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.core.paths import scalars
from kvplan.render.figures import per_token, significant
from kvplan.render.view import Grid, Section, View
from kvplan.units import counted, format_bytes, format_duration, format_percent, format_rate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kvplan.schema.tracing import CurvePoint, Lengths, Rate, StandardErrors, TraceReport, TraceSample

COUNTED: Final = "counted"
DERIVED: Final = "derived"
SHOWN_SIZES: Final = 6
"""Sizes that the table shows of a sampled curve; saved ones have them all."""
HOW: Final = (
    "counted: exact for this trace; derived: counted tokens times the bytes that the back end stores or loads, or "
    "scaled to the fleet"
)
HOW_SAMPLED: Final = (
    "counted: exact for this trace; derived: estimated from a sample of its blocks, and bytes by what the back end "
    "stores or loads"
)
_POLICY_WORDS: Final = {"fifo": "FIFO", "purge-80": "Purge 80 %", "purge-50": "Purge 50 %", "second-touch": "2nd touch"}
_Figure = tuple[str, str, str]


def trace_view(report: TraceReport) -> View:
    """Arrange a report: trace, reuse, curve, other policies, rates, time to live, tiers, and what is not known."""
    sections = (
        _trace(report),
        _reuse(report),
        _curve(report),
        _policies(report),
        _rates(report),
        _ttl(report),
        _tiers(report),
        Section("What this trace cannot tell", report.unknown) if report.unknown else None,
        Section("Notes", (*report.notes, HOW_SAMPLED if report.sample else HOW)),
        _malformed(report),
    )
    return tuple(section for section in sections if section is not None)


def trace_rows(report: TraceReport) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return every value of the report as rows."""
    data = report.model_dump(mode="json")
    return ("field", "value"), [(path, "" if value is None else str(value)) for path, value in scalars(data)]


def curve_rows(report: TraceReport) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the points of all curves as rows."""
    headers = ("policy", "window", "tokens", "bytes", "hit_ratio", "token_hit_ratio")
    curves: list[tuple[str, str, Iterable[CurvePoint]]] = [("lru", "whole", report.curve)]
    if report.warm:
        curves.append(("lru", "warm", report.warm.curve))
    curves.append(("belady", "whole", report.belady))
    curves += [(what_if.policy, "whole", what_if.points) for what_if in report.what_ifs]
    rows = [
        (policy, window, *("" if value is None else str(value) for value in point.model_dump().values()))
        for policy, window, points in curves
        for point in points
    ]
    if report.sample is None:
        return headers, rows
    # Only LRU's curves are sampled, the whole trace first.
    errors = (*report.sample.whole.curve, *report.sample.warm.curve)
    return (*headers, "hit_ratio_error", "token_hit_ratio_error"), [
        (*row, str(error.hit_ratio), str(error.token_hit_ratio)) for row, error in zip(rows, errors, strict=True)
    ]


def _figures(figures: Iterable[_Figure]) -> Grid:
    """Lay figures out with how each is known."""
    return Grid(("Figure", "Value", "Known"), tuple(figures), "lrl")


def _trace(report: TraceReport) -> Section:
    """Show what was read."""
    trace = report.trace
    rows: list[_Figure] = [("requests", f"{report.requests:,}", COUNTED)]
    if trace.span_s is not None and report.requests_per_s is not None:
        rows.append(("time from first to last", format_duration(trace.span_s), COUNTED))
        rows.append(("requests per second", f"{report.requests_per_s:.3g}", COUNTED))
        tokens_per_s = report.input_tokens.total / trace.span_s
        rows.append(("prompt tokens per second", significant(tokens_per_s), COUNTED))
        if report.kv and report.rates is None:
            most = format_rate(tokens_per_s * report.kv.stored_bytes_per_token)
            rows.append(("written, if nothing is reused", most, DERIVED))
    rows += [*_length_rows("prompt", report.input_tokens), *_length_rows("answer", report.output_tokens)]
    blocks = f", blocks of {trace.block_tokens} tokens" if trace.block_tokens else ", without block ids"
    return Section(f"Trace {trace.name}", (f"{trace.kind}{blocks}",), _figures(rows))


def _length_rows(name: str, lengths: Lengths) -> list[_Figure]:
    """Show how long prompts or answers are."""
    spread = f"{lengths.median:,} / {lengths.p90:,} / {lengths.p99:,} / {lengths.max:,}"
    return [
        (f"{name} tokens, mean", f"{lengths.mean:,.0f}", COUNTED),
        (f"{name} tokens, p50 / p90 / p99 / max", spread, COUNTED),
    ]


def _reuse(report: TraceReport) -> Section | None:
    """Show the working set, the bound and what the target takes, for the whole trace and for the warm window."""
    found, warm = report.capacity_for_target, report.warm
    if found is None or warm is None or report.infinite_token_hit_ratio is None:
        return None
    share, sample = format_percent(found.target, 0), report.sample
    known = DERIVED if sample else COUNTED
    whole, last = (sample.whole, sample.warm) if sample else (None, None)
    unique_error = sample.unique_blocks * (report.trace.block_tokens or 1) if sample else None
    rows: list[_Figure] = [
        ("block look-ups", f"{report.block_accesses:,}", COUNTED),
        ("different blocks", f"{report.unique_blocks:,}", known),
        ("working set", _tokens(report.working_set_tokens, unique_error), known),
        *_byte_rows("working set", report.working_set_bytes),
        ("hit ratio, endless cache, tokens", _hits(report.infinite_token_hit_ratio, whole), known),
        ("the same, warm window", _hits(warm.infinite_token_hit_ratio, last), known),
        (f"capacity for {share} of those hits", _tokens(found.tokens, whole.capacity_tokens if whole else None), known),
        *_byte_rows(f"capacity for {share}", found.bytes),
        (
            "the same, warm window",
            _tokens(warm.capacity_for_target.tokens, last.capacity_tokens if last else None),
            known,
        ),
        *_byte_rows("the same, warm window", warm.capacity_for_target.bytes),
    ]
    lines = [f"warm window: the last {counted(warm.requests, 'request')}, from {format_duration(warm.from_s)} on"]
    if report.kv:
        kv = report.kv
        lines.append(
            f"{kv.model}, KV {kv.kv_dtype}, {kv.cache_backend}: {per_token(kv.stored_bytes_per_token)} B/token stored, "
            f"{per_token(kv.loaded_bytes_per_token)} B/token loaded"
        )
    else:
        lines.append("no bytes without --model")
    return Section("Reuse", tuple(lines), _figures(rows))


def _byte_rows(name: str, count: int | None) -> list[_Figure]:
    """Show bytes where a model says what a token is worth."""
    return [] if count is None else [(f"{name}, bytes", format_bytes(count), DERIVED)]


def _hits(share: float, errors: StandardErrors | None) -> str:
    """Write a hit ratio, with the standard error that a sample makes."""
    return format_percent(share) + _plus_minus(errors.infinite_token_hit_ratio if errors else None)


def _plus_minus(error: float | None) -> str:
    """Write the standard error of a share behind it, in points."""
    return "" if error is None else f" ± {100 * error:.2f}"


def _tokens(count: int | None, error: float | None = None) -> str:
    """Write many tokens, with a standard error where there is one."""
    if count is None:
        return ""
    unit, size = next(((unit, size) for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)) if count >= size), ("", 1))
    spread = "" if error is None else f" ± {error / size:,.2g}"
    return f"{count / size:,.4g}{spread}{unit} tokens" if unit else f"{count:,}{spread} tokens"


def _curve(report: TraceReport) -> Section | None:
    """Show the curve at the sizes at which policies are compared."""
    if not report.curve or report.warm is None:
        return None
    warm = {point.tokens: point for point in report.warm.curve}
    if report.sample:
        return _sampled_curve(report, report.sample, warm)
    sizes = {point.tokens for point in report.belady}
    bound = {point.tokens: point for point in report.belady}
    rows = tuple(
        (
            _size(point),
            format_percent(point.token_hit_ratio),
            format_percent(point.hit_ratio),
            format_percent(warm[point.tokens].token_hit_ratio),
            format_percent(bound[point.tokens].token_hit_ratio),
        )
        for point in report.curve
        if point.tokens in sizes
    )
    headers = ("Cache", "LRU", "in blocks", "warm", "bound")
    below = (
        "LRU, warm and bound in tokens; warm: the warm window alone; bound: what no policy exceeds (Belady)",
        _all_sizes(report),
    )
    return Section("Hit ratio by cache size (counted)", grid=Grid(headers, rows, "rrrrr"), below=below)


def _sampled_curve(report: TraceReport, sample: TraceSample, warm: Mapping[int, CurvePoint]) -> Section:
    """Show a sampled curve at some sizes, with the standard error of each."""
    errors = {point.tokens: point for point in sample.whole.curve}
    warm_errors = {point.tokens: point for point in sample.warm.curve}
    step = max(len(report.curve) // SHOWN_SIZES, 1)
    rows = tuple(
        (
            _size(point),
            format_percent(point.token_hit_ratio) + _plus_minus(errors[point.tokens].token_hit_ratio),
            format_percent(point.hit_ratio) + _plus_minus(errors[point.tokens].hit_ratio),
            format_percent(warm[point.tokens].token_hit_ratio) + _plus_minus(warm_errors[point.tokens].token_hit_ratio),
        )
        for point in report.curve[::-step][::-1]
    )
    headers = ("Cache", "LRU", "in blocks", "warm")
    below = (
        "LRU and warm in tokens; warm: the warm window alone; ±: standard error in points",
        _all_sizes(report),
    )
    title = f"Hit ratio by cache size (derived from 1 block in {sample.every})"
    return Section(title, grid=Grid(headers, rows, "rrrr"), below=below)


def _all_sizes(report: TraceReport) -> str:
    """Say how to have the whole curve."""
    return f"all {len(report.curve)} sizes: --save curve.svg, .csv or .json"


def _size(point: CurvePoint) -> str:
    """Write the size of a cache, in bytes where they are known."""
    return _tokens(point.tokens) if point.bytes is None else format_bytes(point.bytes)


def _policies(report: TraceReport) -> Section | None:
    """Show what other policies change, in points of the token hit ratio."""
    if not report.what_ifs:
        return None
    lru = {point.tokens: point.token_hit_ratio for point in report.curve}
    columns = [
        [f"{100 * (point.token_hit_ratio - lru[point.tokens]):+.1f}" for point in what_if.points]
        for what_if in report.what_ifs
    ]
    rows = tuple(
        (_size(point), *(column[index] for column in columns)) for index, point in enumerate(report.what_ifs[0].points)
    )
    headers = ("Cache", *(_POLICY_WORDS[what_if.policy] for what_if in report.what_ifs))
    below = [
        "FIFO: expiry by time of writing; purge: a full cache is emptied to so much of its size",
        *(
            f"2nd touch: a block is written when it is asked for again; {format_percent(what_if.write_share, 0)} of "
            "the writes"
            for what_if in report.what_ifs
            if what_if.write_share is not None
        ),
    ]
    grid = Grid(headers, rows, "r" * len(headers))
    return Section("Other policies, points of hit ratio against LRU (counted)", grid=grid, below=tuple(below))


def _rates(report: TraceReport) -> Section | None:
    """Show what an endless cache is written and read."""
    rates = report.rates
    if rates is None:
        return None
    known = COUNTED if report.fleet_scale == 1 else DERIVED
    rows = [
        ("written, new blocks", *_token_rate(rates.write_tokens_per_s), known),
        ("read, hits", *_token_rate(rates.read_tokens_per_s), known),
    ]
    if rates.write_bytes_per_s and rates.read_bytes_per_s:
        rows += [
            ("written, bytes", *_byte_rate(rates.write_bytes_per_s), DERIVED),
            ("read, bytes", *_byte_rate(rates.read_bytes_per_s), DERIVED),
        ]
    return Section(
        f"Rates{_scaled(report)}",
        ("of a cache without an end behind all engines; peak: highest mean over 10 s",),
        Grid(("Rate", "Mean", "Peak", "Known"), tuple(rows), "lrrl"),
    )


def _token_rate(rate: Rate) -> tuple[str, str]:
    """Write a rate in tokens."""
    return f"{significant(rate.mean)} tokens/s", f"{significant(rate.peak)} tokens/s"


def _byte_rate(rate: Rate) -> tuple[str, str]:
    """Write a rate in bytes."""
    return format_rate(rate.mean), format_rate(rate.peak)


def _scaled(report: TraceReport) -> str:
    """Say to how many times the traced traffic figures are scaled."""
    return f", scaled to {report.fleet_scale:g} times the traced traffic" if report.fleet_scale != 1 else ""


def _ttl(report: TraceReport) -> Section | None:
    """Show what keeping blocks for a time hits and takes."""
    if not report.ttl:
        return None
    rows = tuple(
        (
            format_duration(ttl.ttl_s),
            format_percent(ttl.token_hit_ratio),
            _tokens(ttl.mean_tokens) if ttl.mean_bytes is None else format_bytes(ttl.mean_bytes),
            _tokens(ttl.peak_tokens) if ttl.peak_bytes is None else format_bytes(ttl.peak_bytes),
        )
        for ttl in report.ttl
    )
    return Section(
        f"Kept for a time after the last touch{_scaled(report)}",
        (
            "hit ratio: counted, and the same for a fleet of any size",
            "held: derived; mean in a steady state, peak within the trace, which begins with nothing",
        ),
        Grid(("Kept for", "Token hits", "Held, mean", "Held, peak"), rows, "rrrr"),
    )


def _tiers(report: TraceReport) -> Section | None:
    """Show which tier serves what, by routing."""
    if not report.tiers:
        return None
    rows = tuple(
        (
            tier.name,
            "the rest" if tier.bytes is None else format_bytes(tier.bytes),
            format_percent(tier.sticky_token_hit_ratio),
            format_percent(tier.random_token_hit_ratio),
        )
        for tier in report.tiers
    )
    return Section(
        "Who serves the hits, of all prompt tokens (counted)",
        (),
        Grid(("Tier", "Size", "Sticky routing", "Random routing"), rows, "lrrr"),
    )


def _malformed(report: TraceReport) -> Section | None:
    """Show what was left out."""
    trace = report.trace
    if not trace.malformed:
        return None
    title = f"{counted(trace.malformed, 'line')} left out"
    shown = f", the first {len(trace.problems)}" if trace.malformed > len(trace.problems) else ""
    return Section(f"{title}{shown}", trace.problems)
