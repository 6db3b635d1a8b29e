"""What the reader of a Plan must know: one small function a finding, collected in a fixed order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.sizing import findings_software, findings_tier, findings_workload
from kvplan.schema.base import gravest_first

if TYPE_CHECKING:
    from kvplan.core.sizing.outcome import Outcome
    from kvplan.schema.plan import PlanWarning

FINDINGS = (*findings_tier.FINDINGS, *findings_workload.FINDINGS, *findings_software.FINDINGS)


def findings(outcome: Outcome) -> tuple[PlanWarning, ...]:
    """Collect every finding of an outcome, the gravest first.

    Parameters
    ----------
    outcome
        Everything that the engine computed.

    Returns
    -------
    tuple of PlanWarning
        Errors, then warnings, then information, each in the order of `FINDINGS`.

    Examples
    --------
    >>> import kvplan
    >>> plan = kvplan.size(kvplan.Request(model="gpt-oss-120b", context_tokens=130_000, gpus=128))
    >>> "thin-tolerance" in [warning.id for warning in plan.warnings]
    True

    References
    ----------
    Each finding names its own source; figures in the texts carry their unit, such as [GB] or [tokens].
    """
    return gravest_first(warning for finding in FINDINGS for warning in finding(outcome))
