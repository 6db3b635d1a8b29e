"""How long an engine computes a prompt that nothing has cached, or the rest of one that something has."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kvplan.schema.base import Confidence


@dataclass(frozen=True, slots=True)
class PrefillModel:
    """The time of a prefill on one engine as a quadratic in the length of the prompt.

    `c0_s` [s], `a_s_per_token` [s/token] and `b_s_per_token2` [s/token^2] describe an engine that is not disturbed;
    `derate` [1] is how many times as long real software takes.
    """

    c0_s: float
    a_s_per_token: float
    b_s_per_token2: float
    derate: float
    confidence: Confidence
    source: str


def cold_seconds(model: PrefillModel, tokens: float) -> float:
    r"""Return the time in which an engine computes a whole prompt.

    .. math:: T(n) = \delta (c_0 + a n + b n^2)

    Parameters
    ----------
    model
        Coefficients c0 [s], a [s/token], b [s/token^2], and the derate delta [1].
    tokens
        Length n of the prompt [tokens].

    Returns
    -------
    float
        Time [s].

    Notes
    -----
    One prompt at a time and no chunks; the linear part is that of the weights, the quadratic one of attention.

    References
    ----------
    The model's own source; the form fits NVIDIA's measured kernel tables within 0 to 6 %.

    Examples
    --------
    gpt-oss-120b on one H200, current software:

    >>> model = PrefillModel(0.036, 17.3e-6, 0.313e-9, 1.15, "derived", "aiconfigurator 0.12.0")
    >>> round(cold_seconds(model, 10_000), 3), round(cold_seconds(model, 128_000), 2)
    (0.276, 8.49)
    """
    return suffix_seconds(model, tokens, tokens) + model.derate * model.c0_s


def suffix_seconds(model: PrefillModel, tokens: float, new_tokens: float) -> float:
    r"""Return the time in which an engine computes the end of a prompt whose beginning is cached.

    .. math:: T(n, m) = \delta (a m + b (n^2 - (n - m)^2))

    Parameters
    ----------
    model
        Coefficients a [s/token] and b [s/token^2], and the derate delta [1].
    tokens
        Length n of the whole prompt [tokens].
    new_tokens
        Tokens m at its end that are not cached [tokens], at most n.

    Returns
    -------
    float
        Time [s].

    Notes
    -----
    What the engine spends on every request, c0, is left to whoever adds the parts up.

    References
    ----------
    As `cold_seconds`; each new token attends to all before it.

    Examples
    --------
    >>> model = PrefillModel(0.036, 17.3e-6, 0.313e-9, 1.15, "derived", "aiconfigurator 0.12.0")
    >>> round(suffix_seconds(model, 66_000, 2_000), 3)
    0.133
    """
    cached = tokens - new_tokens
    return model.derate * (model.a_s_per_token * new_tokens + model.b_s_per_token2 * (tokens**2 - cached**2))


def chunk_seconds(tokens: float, chunk_tokens: float, weights_bytes: float, memory_bytes_per_s: float) -> float:
    r"""Return what computing a prompt in chunks adds because every chunk reads the weights again.

    .. math:: T(n) = \lceil n / c \rceil \, W / M

    Parameters
    ----------
    tokens
        Tokens n to compute [tokens].
    chunk_tokens
        Length c of a chunk [tokens].
    weights_bytes
        Weights W that one GPU holds [B].
    memory_bytes_per_s
        Memory bandwidth M of the GPU [B/s].

    Returns
    -------
    float
        Time [s].

    Notes
    -----
    For mixtures of experts and chunks of up to 2,048 tokens, `prefill.chunk_limit_tokens`: a chunk of them touches all
    experts but computes too little to hide the read. A dense model hides it. The first read may be in c0 already.

    References
    ----------
    Reading takes bytes over bandwidth: 60 GB at 1.79 TB/s are 34 ms, and 64 chunks about 2 s.

    Examples
    --------
    gpt-oss-120b on an RTX PRO 6000, 130,000 tokens in chunks of 2,048:

    >>> round(chunk_seconds(130_000, 2_048, 60e9, 1.792e12), 2)
    2.14
    """
    return math.ceil(tokens / chunk_tokens) * weights_bytes / memory_bytes_per_s
