"""What the checks of claims compute with: published figures, measured times, and kvplan's own models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kvplan.core.prediction.prefill import PrefillModel, cold_seconds

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class TierBytes:
    """What kvplan counts for the model of the reference system.

    `per_token` [B/token] and `context` [B] are what the tier stores of a token and of the long prompt;
    `pool_tokens_alone` and `pool_tokens_together` [tokens] are what the published memory of one GPU holds with one GPU
    and with all of a server's GPUs in an engine; `longest_prompt` [tokens] is the model's own limit.
    """

    per_token: float
    context: int
    pool_tokens_alone: int
    pool_tokens_together: int
    longest_prompt: int


@dataclass(frozen=True, slots=True)
class TtftPoints:
    """Measured times to the first token [s] of a short and a long prompt [tokens], without and with cache."""

    short_tokens: int
    long_tokens: int
    cold_short_s: float
    cold_long_s: float
    cached_short_s: float
    cached_long_s: float

    @property
    def gain(self) -> float:
        """How many times as long the long prompt takes without cache [1]."""
        return self.cold_long_s / self.cached_long_s

    @property
    def cold(self) -> PrefillModel:
        """The quadratic through zero and both cold points."""
        return prefill_through(
            (self.short_tokens, self.cold_short_s), (self.long_tokens, self.cold_long_s), "published cold points"
        )

    def cached_seconds(self, tokens: float) -> float:
        """Return the time of a cached prompt [s] on the line through both cached points."""
        share = (tokens - self.short_tokens) / (self.long_tokens - self.short_tokens)
        return self.cached_short_s + share * (self.cached_long_s - self.cached_short_s)


@dataclass(frozen=True, slots=True)
class ClaimFacts:
    """Everything that the checks take; `prefill` is kvplan's own model of the GPU with current software."""

    figures: Mapping[str, float]
    ttft: TtftPoints
    tier: TierBytes
    prefill: PrefillModel

    @property
    def prompt_tokens(self) -> float:
        """Mean length of a prompt of the throughput test, all requests counted [tokens]."""
        return self.figures["run.tokens"] / self.figures["run.requests"]

    @property
    def cold_prompt_s(self) -> float:
        """Time that one GPU takes for such a prompt, by the published cold points [s]."""
        return cold_seconds(self.ttft.cold, self.prompt_tokens)

    @property
    def hit_share(self) -> float:
        """Share of the requests that find their prompt cached when the cache begins empty [1]."""
        return 1 - self.figures["run.unique_prompts"] / self.figures["run.requests"]

    @property
    def run_gain(self) -> float:
        """How many times as fast the throughput test ran with cache [1]."""
        return self.figures["run.cold_s"] / self.figures["run.cached_s"]


def prefill_through(short: tuple[int, float], long: tuple[int, float], source: str) -> PrefillModel:
    r"""Lay the quadratic without a constant through two measured prefills.

    .. math:: b = \frac{T_2 / n_2 - T_1 / n_1}{n_2 - n_1}, \qquad a = T_1 / n_1 - b n_1

    Parameters
    ----------
    short
        Tokens n1 [tokens] and time T1 [s].
    long
        Tokens n2 [tokens] and time T2 [s].
    source
        Where both come from.

    Returns
    -------
    PrefillModel
        a [s/token] and b [s/token^2], nothing fixed, not derated.

    Notes
    -----
    Two points leave a third unknown open: b is known to 4 %, a to 28 %, times between the points to 3 %.

    References
    ----------
    The two points of IBM Redbook MD260021.

    Examples
    --------
    >>> model = prefill_through((10_000, 0.572), (130_000, 32.14), "Redbook")
    >>> round(model.a_s_per_token * 1e6, 2), round(model.b_s_per_token2 * 1e9, 4)
    (41.36, 1.5836)
    """
    (few, first_s), (many, last_s) = short, long
    square = (last_s / many - first_s / few) / (many - few)
    return PrefillModel(0.0, first_s / few - square * few, square, 1.0, "derived", source)
