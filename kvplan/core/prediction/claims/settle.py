"""Settling all claims: which check belongs to which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.core.prediction.claims import throughput, traffic, ttft, volume
from kvplan.schema.claims import SettledClaim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kvplan.core.prediction.claims.facts import ClaimFacts
    from kvplan.core.prediction.claims.finding import Finding
    from kvplan.schema.claims import Claim

CHECKS: Final[Mapping[str, Callable[[ClaimFacts], Finding]]] = {
    "cold-growth": ttft.cold_growth,
    "cold-130k": ttft.cold_long,
    "cached-10k": ttft.cached_short,
    "cached-130k": ttft.cached_long,
    "gain-56x": ttft.gain,
    "press-78x": ttft.press,
    "rates": throughput.rates,
    "gain-22x": throughput.run_gain,
    "time-95": throughput.time_saved,
    "empty-cache": throughput.empty_cache,
    "volume-825gb": volume.volume,
    "tokens-24m": volume.tokens,
    "prompts-240k": volume.long_prompts,
    "one-gpu": throughput.one_gpu,
    "pool-tokens": volume.pool_tokens,
    "request-80gb": volume.request_bytes,
    "client-network": traffic.client_network,
    "concurrency-28": traffic.concurrency,
    "noise-time": traffic.noise_time,
    "noise-rate": traffic.noise_rate,
}
"""The check of each claim, by the id of its row."""


def settled(claims: Iterable[Claim], facts: ClaimFacts) -> tuple[SettledClaim, ...]:
    """Compute every claim anew.

    Parameters
    ----------
    claims
        The rows, each with an id that `CHECKS` knows.
    facts
        Published figures, measured times [s] and kvplan's own models.

    Returns
    -------
    tuple of SettledClaim
        The claims in the order of their rows, with verdict and reason.

    Notes
    -----
    A verdict follows from the figures: other figures in a user's table may turn it.

    References
    ----------
    IBM Redbook MD260021 "Context without Limits"; the rows' own sources.

    Examples
    --------
    >>> import kvplan.api
    >>> {claim.id: claim.verdict for claim in kvplan.api.reference_claims().claims}["press-78x"]
    'contradicts'
    """
    return tuple(_settled(claim, CHECKS[claim.id](facts)) for claim in claims)


def _settled(claim: Claim, finding: Finding) -> SettledClaim:
    """Put a row and what its check found together."""
    return SettledClaim(
        id=claim.id,
        claim=claim.title,
        published=finding.published,
        computed=finding.computed,
        computed_value=finding.value,
        unit=finding.unit,
        verdict=finding.verdict,
        why=finding.why,
        source=claim.source,
        confidence=claim.confidence,
    )
