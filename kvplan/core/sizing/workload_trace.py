"""A workload from what a trace says of its requests, so that a tier is sized for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvplan.schema.workload import Spread, Workload, replacing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvplan.schema.tracing import Lengths, TraceReport


def workload_of_trace(
    report: TraceReport,
    base: Workload,
    given: Mapping[str, Any] | None = None,
    *,
    target: float,
    scale: float | None = None,
) -> Workload:
    """Return the workload that a trace shows.

    Parameters
    ----------
    report
        What the trace says: lengths [tokens], rates [1/s], hits by how long blocks are kept [s].
    base
        Gives what a trace does not tell: decode, routing, and how busy the GPUs are where no scale is given.
    given
        Fields that count more than the trace; one of them says what repeats where the trace has no ids of blocks.
    target
        Share of the hits of an endless cache that is wanted [1]; the retention is the shortest that has it.
    scale
        How many times the traced traffic the fleet has [1]; without it the fleet is as busy as `base` has it.

    Returns
    -------
    Workload
        The workload.

    Notes
    -----
    The hits are those of the whole trace, its cold start with them: a floor of what a fleet sees in steady state.

    References
    ----------
    `kvplan.core.reuse`, which counts them.

    Examples
    --------
    >>> from types import SimpleNamespace as Of
    >>> report = Of(requests_per_s=3.4, input_tokens=Of(median=6_909, p90=27_367, p99=85_400),
    ...             output_tokens=Of(mean=342.5), infinite_token_hit_ratio=0.374, rates=None,
    ...             ttl=(Of(ttl_s=60.0, token_hit_ratio=0.1), Of(ttl_s=600.0, token_hit_ratio=0.35)))
    >>> base = Workload(busy_share=0.7, prompt_tokens=8_000, hit_share=0.5)
    >>> found = workload_of_trace(report, base, target=0.9, scale=10)
    >>> found.requests_per_s, found.hit_share, found.retention_s
    (34.0, 0.374, 600.0)
    """
    taken = base.model_dump(exclude_none=True, exclude={"prompt_tokens", "suffix_tokens", "hit_share", "burst_factor"})
    found: dict[str, Any] = {
        "prompt_tokens": _spread(report.input_tokens),
        "output_tokens": float(report.output_tokens.mean),
        **_reuse(report, target),
    }
    if scale is not None and report.requests_per_s:
        found["requests_per_s"] = report.requests_per_s * scale
    return Workload.model_validate(replacing(replacing(taken, found), given or {}))


def _spread(lengths: Lengths) -> Spread:
    """Return lengths as a spread, which wants percentiles that do not fall and are above 0."""
    median = float(max(lengths.median, 1))
    return Spread(
        p50=median, p90=max(float(lengths.p90), median), p99=max(float(lengths.p99), float(lengths.p90), median)
    )


def _reuse(report: TraceReport, target: float) -> dict[str, Any]:
    """Return what the trace says of reuse, where it has ids of blocks."""
    hits = report.infinite_token_hit_ratio
    if hits is None:
        return {}
    found: dict[str, Any] = {"hit_share": hits}
    enough = [row.ttl_s for row in report.ttl if row.token_hit_ratio >= target * hits]
    if enough:
        found["retention_s"] = min(enough)
    read = report.rates.read_tokens_per_s if report.rates else None
    if read and read.mean and read.peak >= read.mean:
        found["burst_factor"] = read.peak / read.mean
    return found
