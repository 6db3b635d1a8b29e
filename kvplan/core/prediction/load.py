"""How long a cached prefix takes to come back, and whether reading it back pays off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kvplan.schema.plan import Plan

_BREAK_EVEN_SYSTEM: Final = ("openai/gpt-oss-120b", "rtx-pro-6000")
"""Model and GPU whose measurements gave `guidance.break_even_tokens`, as its note says."""


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


def break_even_tokens(plan: Plan) -> float | None:
    """Return the length from which reading a prefix back beats computing it anew, where it was derived for the system.

    Parameters
    ----------
    plan
        The Plan with its model and GPU.

    Returns
    -------
    float or None
        Length [tokens]; None for a model or GPU of which nothing was measured.

    References
    ----------
    `guidance.break_even_tokens`, from the measurements of IBM Redbook MD260021.

    Examples
    --------
    >>> import kvplan
    >>> tokens = 130_000
    >>> break_even_tokens(kvplan.size(kvplan.Request(model="gpt-oss-120b", context_tokens=tokens, gpus=128)))
    3700.0
    >>> break_even_tokens(kvplan.size(kvplan.Request(model="llama-3.1-8b-instruct", context_tokens=tokens, gpus=8)))
    """
    measured = (plan.model.id, plan.request.gpu) == _BREAK_EVEN_SYSTEM
    return plan.constants["guidance.break_even_tokens"].value if measured else None


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
        None where both hold but the break-even was derived for another system, so that nothing is predicted.

    References
    ----------
    The Plan's `hbm.needs_shared_tier`, and `guidance.break_even_tokens`.

    Examples
    --------
    >>> import kvplan
    >>> requests = [kvplan.Request(model="gpt-oss-120b", context_tokens=tokens, gpus=16) for tokens in (130_000, 2_000)]
    >>> [pays_off(kvplan.size(request)) for request in requests]
    [True, False]
    """
    if not plan.hbm.needs_shared_tier:
        return False
    if plan.request.context_tokens < plan.constants["guidance.break_even_tokens"].value:
        return False
    return None if break_even_tokens(plan) is None else True
