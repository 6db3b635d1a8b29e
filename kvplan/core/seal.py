"""The hash of a Plan: how everything made from it names it, and how a Plan altered by hand is found out."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kvplan.schema.plan import Plan


def plan_sha256(plan: Plan) -> str:
    """Hash a Plan.

    SHA-256 over its JSON without the hash itself

    Parameters
    ----------
    plan
        The Plan.

    Returns
    -------
    str
        The hash in hexadecimal [1].

    References
    ----------
    FIPS 180-4.

    Examples
    --------
    >>> from kvplan.reference import PLAN
    >>> plan_sha256(PLAN) == plan_sha256(sealed(PLAN))
    True
    """
    return sha256(plan.model_dump_json(exclude={"sha256"}).encode()).hexdigest()


def sealed(plan: Plan) -> Plan:
    """Write the hash into a Plan that is about to be saved.

    Parameters
    ----------
    plan
        The Plan.

    Returns
    -------
    Plan
        The same Plan with its hash [1].

    References
    ----------
    As `plan_sha256`.

    Examples
    --------
    >>> from kvplan.reference import PLAN
    >>> is_altered(sealed(PLAN)), is_altered(PLAN)
    (False, False)
    """
    return plan.model_copy(update={"sha256": plan_sha256(plan)})


def is_altered(plan: Plan) -> bool:
    """Tell whether a Plan says something else than when it was sealed.

    hash of the content != hash written in it

    Parameters
    ----------
    plan
        A Plan that was read.

    Returns
    -------
    bool
        False also for a Plan that was never sealed, as programs make it.

    Notes
    -----
    Against mistakes, not against malice: who alters a Plan may write a new hash.

    References
    ----------
    As `plan_sha256`; unit [1].

    Examples
    --------
    >>> from kvplan.reference import PLAN
    >>> is_altered(sealed(PLAN).model_copy(update={"reason": "because"}))
    True
    """
    return bool(plan.sha256) and plan.sha256 != plan_sha256(plan)
