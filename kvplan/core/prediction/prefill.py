"""How long an engine computes a prompt that nothing has cached, or the rest of one that something has."""

from __future__ import annotations

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
