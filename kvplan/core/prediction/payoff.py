"""From when on reading context back beats computing it anew: hit share, prompt length, fleet size."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kvplan.core.prediction.warm import engine_seconds

if TYPE_CHECKING:
    from kvplan.core.prediction.prefill import PrefillModel
    from kvplan.core.prediction.warm import EngineCost


def amdahl_speedup(hit_share: float, speedup: float) -> float:
    r"""Return how many times as many requests a fleet serves when some of them are hits.

    .. math:: G(h) = \frac{1}{(1 - h) + h / s}

    Parameters
    ----------
    hit_share
        Share h of the requests that are hits [1].
    speedup
        How many times as fast a hit is as a miss, s [1].

    Returns
    -------
    float
        Speed-up of the whole [1].

    Notes
    -----
    Hits and misses of the same length, one after the other on the same engines.

    References
    ----------
    G. M. Amdahl, 1967; IBM Redbook MD260021 for 22.3x, measured with every prompt cached beforehand.

    Examples
    --------
    A workload in which each prompt comes twice, from an empty cache, gains 1.9x, not 22.3x:

    >>> [round(amdahl_speedup(share, 22.3), 1) for share in (0.5, 0.8, 0.9, 0.95, 1.0)]
    [1.9, 4.2, 7.1, 10.8, 22.3]
    """
    return 1 / ((1 - hit_share) + hit_share / speedup)


def break_even_tokens(
    prefill: PrefillModel,
    cost: EngineCost,
    bytes_per_token: float,
    stream_bytes_per_s: float,
    new_tokens: float = 0,
) -> float | None:
    r"""Return the length of the prompt from which on reading its beginning back beats computing it.

    .. math:: \delta b x^2 + (\delta a - \tau - B / r) x + \delta c_0 - c_1 - k t_s - \tau m = 0, \qquad n = x + m

    Parameters
    ----------
    prefill
        Coefficients c0 [s], a [s/token], b [s/token^2], and the derate delta [1].
    cost
        What the engine itself spends on a hit: c1 [s], tau [s/token], k steps [1] of t_s [s].
    bytes_per_token
        What a hit reads for each cached token, B [B/token].
    stream_bytes_per_s
        Rate r at which it is read [B/s].
    new_tokens
        Tokens m at the end of the prompt that are computed in both cases [tokens].

    Returns
    -------
    float or None
        Length n [tokens], the new ones included; None when reading back never wins.

    Notes
    -----
    One request alone; under load put the rate that a fetch gets into r. The cost of what is read once whatever the
    length is left out. x are the cached tokens at which both ways take equally long.

    References
    ----------
    `cold_seconds` = `warm_seconds`. The fits of IBM Redbook MD260021 cross at 3,700 tokens.

    Examples
    --------
    >>> from kvplan.core.prediction.prefill import PrefillModel
    >>> from kvplan.core.prediction.warm import EngineCost
    >>> cold = PrefillModel(0.0, 41.36e-6, 1.5836e-9, 1.0, "derived", "IBM Redbook MD260021")
    >>> warm = EngineCost(0.1616, 0.0, 0.0, 0)
    >>> round(break_even_tokens(cold, warm, 73_728, 73_728 / 3.142e-6), -2)
    3700.0
    """
    square = prefill.derate * prefill.b_s_per_token2
    linear = prefill.derate * prefill.a_s_per_token - cost.token_s - bytes_per_token / stream_bytes_per_s
    saved = prefill.derate * prefill.c0_s - engine_seconds(cost, new_tokens)
    cached = _last_root(square, linear, saved)
    return None if cached is None else cached + new_tokens


def _last_root(square: float, linear: float, constant: float) -> float | None:
    """Return from where on a parabola that opens upwards, or a line, stays above 0; 0 when it always is, None if never.

    The form of the larger root depends on the sign of the linear term, lest two near numbers cancel.
    """
    if square == 0:
        if linear <= 0:
            return 0.0 if linear == 0 and constant > 0 else None
        return max(-constant / linear, 0.0)
    inside = linear * linear - 4 * square * constant
    if inside < 0:
        return 0.0
    if linear > 0:
        return max(-2 * constant / (linear + math.sqrt(inside)), 0.0)
    return (math.sqrt(inside) - linear) / (2 * square)


def break_even_engines(cold_s: float, fixed_s: float, tier_bytes_per_s: float, context_bytes: float) -> float:
    r"""Return how many engines may fetch at once before computing would be as fast for them.

    .. math:: N^* = C (T_c - L_0) / S

    Parameters
    ----------
    cold_s
        Time T_c in which an engine computes the context [s].
    fixed_s
        What a hit costs without the fetch, L_0 [s], as `engine_seconds` gives it.
    tier_bytes_per_s
        Rate C that the tier gives to reads [B/s].
    context_bytes
        What a hit reads, S [B].

    Returns
    -------
    float
        Engines [engines]; 0 where a hit costs more than computing before anything is read.

    Notes
    -----
    All fetch at the same moment, whole contexts. An engine of several GPUs counts once: times its GPUs, these are GPUs.
    Fewer engines gain all the more; beyond it the tier makes the crowd slower than it would be without.

    References
    ----------
    Where `storm_seconds` of the tier's term equals what computing takes longer.

    Examples
    --------
    128,000 tokens of gpt-oss-120b on H100 beside 315 GB/s:

    >>> round(break_even_engines(8.41, 0.42, 315e9, 128_000 * 73_728))
    267
    """
    return max(tier_bytes_per_s * (cold_s - fixed_s) / context_bytes, 0.0)


def break_even_hit_share(
    tier_bytes_per_s: float, prefill_tokens_per_s: float, bytes_per_token: float, shared_share: float = 1.0
) -> float:
    r"""Return the hit share beyond which the tier, not the GPUs, decides how much a fleet serves.

    .. math:: h^* = \frac{\beta}{\beta + f_4 P B}

    Parameters
    ----------
    tier_bytes_per_s
        Rate beta that the tier gives to reads [B/s], of one GPU or of the fleet.
    prefill_tokens_per_s
        Tokens that the same GPU or fleet computes in a second, P [tokens/s].
    bytes_per_token
        What a hit reads for each token, B [B/token].
    shared_share
        Share f4 of the hit tokens that must come from the shared tier, not from GPU, host or node memory [1].

    Returns
    -------
    float
        Share of the prompt tokens [1]; 1 when nothing is read from the tier.

    Notes
    -----
    At h the GPUs take P / (1 - h) prompt tokens a second and the tier lets beta / (f4 h B) through; they are equal
    at h*. Beyond it more hits do not serve more requests: an engine does better to compute what it would queue for.

    References
    ----------
    Balance of the two rates; P B is the rate at which a GPU makes KV cache.

    Examples
    --------
    1.2 GB/s a GPU beside an H200 that computes 35,000 tokens of gpt-oss-120b a second:

    >>> [round(break_even_hit_share(1.2e9, 35_000, 73_728, share), 2) for share in (1.0, 0.1)]
    [0.32, 0.82]
    """
    demand = shared_share * prefill_tokens_per_s * bytes_per_token
    return tier_bytes_per_s / (tier_bytes_per_s + demand)
