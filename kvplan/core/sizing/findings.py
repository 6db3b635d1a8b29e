"""What the reader of a Plan must know: one small function a finding, collected in a fixed order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from kvplan.core.sizing import findings_software, findings_tier, findings_workload

if TYPE_CHECKING:
    from kvplan.core.sizing.outcome import Outcome
    from kvplan.schema.plan import PlanWarning

_ORDER: dict[Literal["error", "warning", "info"], int] = {"error": 0, "warning": 1, "info": 2}
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
    found = [warning for finding in FINDINGS for warning in finding(outcome)]
    return tuple(sorted(found, key=lambda warning: _ORDER[warning.severity]))
