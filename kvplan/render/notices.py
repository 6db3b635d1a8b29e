"""What was found on the way from the request to the quote, each thing said once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kvplan.schema.bom import Bom
    from kvplan.schema.design import Design, Finding
    from kvplan.schema.plan import Plan, PlanWarning

_JUDGED_AGAIN: Final = "fabric-note"
"""What sizing says of the fabric; the rules of the design say it again, of the fabric as it is built."""


def plan_warnings(plan: Plan) -> tuple[PlanWarning, ...]:
    """Return the warnings of a Plan that its design does not repeat.

    >>> from kvplan.reference import PLAN
    >>> any(warning.id == "fabric-note" for warning in plan_warnings(PLAN))
    False
    """
    return tuple(warning for warning in plan.warnings if warning.id != _JUDGED_AGAIN)


def all_found(plan: Plan, design: Design, bom: Bom) -> tuple[PlanWarning | Finding, ...]:
    """Return everything that was found by sizing, design and pricing."""
    return (*plan_warnings(plan), *design.findings, *bom.findings)
