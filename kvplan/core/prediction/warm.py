"""How long an engine takes to the first token of a prompt whose beginning is cached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvplan.schema.base import Constant
    from kvplan.schema.software import CacheBackend


@dataclass(frozen=True, slots=True)
class EngineCost:
    """What a hit costs in the engine itself, whatever storage is behind it.

    `first_s` [s] is spent on every request, `token_s` [s/token] on every token of the prompt; `steps` [1] is how many
    steps of the scheduler, of `step_s` [s] each, a load of this back end waits for.
    """

    first_s: float
    token_s: float
    step_s: float
    steps: int


def engine_cost(backend: CacheBackend, constants: Mapping[str, Constant]) -> EngineCost:
    """Return what a hit costs in an engine with a cache back end.

    Parameters
    ----------
    backend
        The back end, which says for how many steps of the scheduler its loads wait; none where nobody counted them.
    constants
        The catalogue's constants: `warm.first_s` [s], `warm.token_s` [s/token], `warm.step_s` [s].

    Returns
    -------
    EngineCost
        Times [s], [s/token] and steps [1].

    References
    ----------
    The rows' own sources.

    Examples
    --------
    >>> import kvplan
    >>> tables = kvplan.load_catalogue()
    >>> [engine_cost(tables.backend(name), tables.constants()).steps for name in ("kvbm-g4", "vllm-fs")]
    [0, 3]
    """
    return EngineCost(
        first_s=constants["warm.first_s"].value,
        token_s=constants["warm.token_s"].value,
        step_s=constants["warm.step_s"].value,
        steps=backend.load_steps.steps if backend.load_steps else 0,
    )


def engine_seconds(cost: EngineCost, tokens: float) -> float:
    r"""Return what the engine itself adds to a hit.

    .. math:: E(n) = c_1 + \tau n + k t_s

    Parameters
    ----------
    cost
        Request c1 [s], token tau [s/token], and k steps [1] of t_s [s].
    tokens
        Length n of the prompt [tokens].

    Returns
    -------
    float
        Time [s].

    Notes
    -----
    No storage takes this away: 1 / tau tokens a second are the most that an engine serves from any cache. Steps grow
    with the batch, so an engine under load waits longer for a load than an idle one.

    References
    ----------
    llm-d blog, 10 February 2026, fitted by the note; inference-sim/inference-sim#1591 for the steps.

    Examples
    --------
    >>> round(engine_seconds(EngineCost(0.125, 2.31e-6, 0.02, 3), 100_000), 3)
    0.416
    """
    return cost.first_s + cost.token_s * tokens + cost.step_s * cost.steps


def warm_seconds(cost: EngineCost, tokens: float, fetch_s: float, suffix_s: float, queue_s: float = 0.0) -> float:
    r"""Return the time to the first token of a prompt whose beginning is read back.

    .. math:: T_w = c_1 + \tau n + k t_s + F + T(n, m) + Q

    Parameters
    ----------
    cost
        What the engine itself spends on a hit.
    tokens
        Length n of the whole prompt [tokens].
    fetch_s
        Time F of the fetch [s], as `fetch_seconds` or `storm_seconds` gives it.
    suffix_s
        Time to compute the m tokens that are not cached [s], as `suffix_seconds` gives it.
    queue_s
        Wait Q for the GPU [s].

    Returns
    -------
    float
        Time [s].

    Notes
    -----
    Nothing overlaps: engines that load layer by layer while they compute are faster than this by at most the shorter
    of the fetch and the suffix.

    References
    ----------
    Predicts IBM Redbook MD260021 within 17 % at 10,000 tokens and 7 % at 130,000 with constants fitted elsewhere.

    Examples
    --------
    gpt-oss-120b, 130,000 tokens at 73,728 B each over 53 GB/s; the Redbook measured 0.57 s:

    >>> cost = EngineCost(0.125, 2.31e-6, 0.0, 0)
    >>> round(warm_seconds(cost, 130_000, 130_000 * 73_728 / 53e9, 0.0), 3)
    0.606
    """
    return engine_seconds(cost, tokens) + fetch_s + suffix_s + queue_s
