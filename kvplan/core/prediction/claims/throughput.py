"""Claims about the throughput test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.prediction.claims.finding import Finding, agrees, close, text
from kvplan.core.prediction.payoff import amdahl_speedup

if TYPE_CHECKING:
    from kvplan.core.prediction.claims.facts import ClaimFacts


def rates(facts: ClaimFacts) -> Finding:
    """Divide requests by times."""
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
    """Divide the run times, and say what is left of the gain when not every request hits."""
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
    """Compare the run times."""
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
    """Compute the gain of a run that fills the cache itself."""
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
    """Count the GPUs that the cold run must have kept busy."""
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


def client_network(facts: ClaimFacts) -> Finding:
    """Compute what the cached run moved on average."""
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
    r"""Apply Little's law, N = X R, to the requests in flight."""
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
    """Compare the run times with and without noise."""
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
    """Compare the rates with and without noise, as printed and from the run times."""
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


def _from_empty(facts: ClaimFacts) -> float:
    """Return the gain of a run whose first request for each prompt computes it [1]."""
    return amdahl_speedup(facts.hit_share, facts.run_gain)
