"""How long a cached prefix takes to come back, and whether reading it back pays off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.prediction.prefill import PrefillModel, cold_seconds

if TYPE_CHECKING:
    from kvplan.schema.plan import Plan


def load_bytes(plan: Plan, tokens: float) -> float:
    r"""Return what a hit of a cached prefix reads.

    .. math:: L(n) = \max(L - b c, 0) + b n

    Parameters
    ----------
    plan
        The Plan: a hit of the whole context of c tokens reads L [B], b of it for each token [B/token].
    tokens
        Length n of the cached prefix [tokens].

    Returns
    -------
    float
        Bytes [B]; what is read once whatever the length, windows and states, is in them.

    Notes
    -----
    Whole files and windows that are not full yet are left out.

    References
    ----------
    The Plan's `kv.loaded_bytes_per_token` and `kv.context_loaded_bytes`, IBM Redbook MD260021 for the model.

    Examples
    --------
    >>> import kvplan
    >>> plan = kvplan.size(kvplan.Request(model="gpt-oss-120b", context_tokens=130_000, gpus=128))
    >>> load_bytes(plan, 130_000) == plan.kv.context_loaded_bytes, load_bytes(plan, 1_000)
    (True, 73728000.0)
    """
    per_token = plan.kv.loaded_bytes_per_token
    once = max(plan.kv.context_loaded_bytes - per_token * plan.request.context_tokens, 0.0)
    return once + per_token * tokens


def load_seconds(plan: Plan, tokens: float) -> float:
    r"""Return the time in which one engine reads a cached prefix back, nobody else reading.

    .. math:: t(n) = t \, L(n) / L

    Parameters
    ----------
    plan
        The Plan: the whole context of L [B] loads in t [s].
    tokens
        Length n of the cached prefix [tokens], which reads L(n) [B] as `load_bytes` gives it.

    Returns
    -------
    float
        Time [s].

    Notes
    -----
    A lower bound of the time to the first token: queueing, the engine's own cost per hit and the tokens that are
    new to it come on top.

    References
    ----------
    The Plan's `buys.load_s`, at the same rate into the engine.

    Examples
    --------
    gpt-oss-120b over a PCIe Gen5 x16 link:

    >>> import kvplan
    >>> plan = kvplan.size(kvplan.Request(model="gpt-oss-120b", context_tokens=130_000, gpus=128))
    >>> load_seconds(plan, 130_000) == plan.buys.load_s, round(load_seconds(plan, 65_000), 3)
    (True, 0.084)
    """
    whole = plan.kv.context_loaded_bytes
    return plan.buys.load_s * load_bytes(plan, tokens) / whole if whole else 0.0


def warm_seconds_of(plan: Plan, tokens: float) -> float:
    r"""Return the time to the first token of a prompt that is cached as a whole, nobody else reading.

    .. math:: T_w(n) = h + \tau n + L(n) / r

    Parameters
    ----------
    plan
        The Plan: what every hit costs in the engine h [s] and for each token tau [s/token], and the rate r into
        one engine [B/s].
    tokens
        Length n of the prompt [tokens], of which L(n) [B] are read, as `load_bytes` gives it.

    Returns
    -------
    float
        Time [s].

    References
    ----------
    `kvplan.core.prediction.warm.warm_seconds`, at another length than the Plan's own.

    Examples
    --------
    >>> import kvplan
    >>> plan = kvplan.size(kvplan.Request(model="gpt-oss-120b", context_tokens=130_000, gpus=128))
    >>> warm_seconds_of(plan, 130_000) == plan.performance.warm_ttft_s, round(warm_seconds_of(plan, 10_000), 3)
    (True, 0.163)
    """
    predicted = plan.performance
    engine = predicted.hit_s + plan.constants["warm.token_s"].value * tokens
    return engine + load_bytes(plan, tokens) / predicted.stream_bytes_per_s


def cold_seconds_of(plan: Plan, tokens: float) -> float | None:
    """Return the time in which an engine of the Plan computes a prompt of another length.

    Parameters
    ----------
    plan
        The Plan with its model of a cold prefill.
    tokens
        Length of the prompt [tokens].

    Returns
    -------
    float or None
        Time [s]; None where no model of it can be had.

    Notes
    -----
    What short chunks add is left out.

    References
    ----------
    `kvplan.core.prediction.prefill.cold_seconds`.

    Examples
    --------
    >>> import kvplan
    >>> plan = kvplan.size(kvplan.Request(model="gpt-oss-120b", context_tokens=130_000, gpus=128))
    >>> round(cold_seconds_of(plan, 10_000), 3)
    0.51
    """
    found = plan.performance.prefill
    if found is None:
        return None
    model = PrefillModel(
        found.c0_s, found.a_s_per_token, found.b_s_per_token2, found.derate, found.confidence, found.source
    )
    return cold_seconds(model, tokens)


def pays_off(plan: Plan) -> bool | None:
    r"""Say whether the tier pays off.

    .. math:: fit < flight \land n \ge n^*

    Parameters
    ----------
    plan
        The Plan: contexts of n tokens, of which fewer fit into GPU memory than are in flight; n* is the break-even.

    Returns
    -------
    bool or None
        None where contexts do not fit and nothing is known of how long computing them takes. With a workload its
        advice decides; what is marginal is None.

    References
    ----------
    The Plan's `hbm.needs_shared_tier` and `performance.break_even_tokens`.

    Examples
    --------
    >>> import kvplan
    >>> requests = [kvplan.Request(model="gpt-oss-120b", context_tokens=tokens, gpus=16) for tokens in (130_000, 2_000)]
    >>> [pays_off(kvplan.size(request)) for request in requests]
    [True, False]
    """
    if plan.workload is not None:
        return {"worth it": True, "marginal": None, "not worth it": False}[plan.workload.advice.verdict]
    if not plan.hbm.needs_shared_tier:
        return False
    if plan.performance.prefill is None:
        return None
    least = plan.performance.break_even_tokens
    return least is not None and plan.request.context_tokens >= least
