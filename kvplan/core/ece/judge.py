"""One limit judged."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from kvplan.schema.ece import Limit
from kvplan.units import YES_NO


@lru_cache(maxsize=8192)
def judge(
    name: str,
    need: float,
    have: float,
    unit: str,
    *,
    text: str = "",
    source: str = "",
    severity: Literal["error", "warning"] = "error",
    bound: Literal["least", "most"] = "least",
) -> Limit:
    """Judge one limit: it holds when have >= need; the margin is have / need - 1.

    Parameters
    ----------
    name
        Stable name of the limit.
    need
        What the rule or the request asks for [unit].
    have
        What there is [unit].
    unit
        Unit of both.
    text
        The rule in one sentence.
    source
        Where the rule comes from.
    severity
        Whether breaking it is an error or a warning.
    bound
        Whether the rule asks for at least so much, or allows at most so much.

    Returns
    -------
    Limit
        The verdict; the margin [1] is absent when nothing is needed, and where the answer is yes or no.

    Notes
    -----
    For an upper bound, the bound is what there is and the candidate's value is what is needed.

    References
    ----------
    Definition of margin in `kvplan.schema.ece.Limit`.

    Examples
    --------
    >>> verdict = judge("servers", 8, 10, "nodes")
    >>> verdict.holds, verdict.margin
    (True, 0.25)
    """
    margin = have / need - 1 if need and unit != YES_NO else None
    holds = have >= need
    return Limit(
        name=name,
        need=need,
        have=have,
        unit=unit,
        margin=margin,
        holds=holds,
        bound=bound,
        severity=severity,
        text=text,
        source=source,
    )
