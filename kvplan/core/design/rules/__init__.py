"""The rules that a design is judged by: one small function each, its findings with a stable id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.core.design.rules import addresses, cables, chassis, fabric, power, racks
from kvplan.schema.base import gravest_first

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kvplan.core.design.inputs import DesignInputs
    from kvplan.schema.design import Design, Finding

RULES: Final[tuple[Callable[[DesignInputs, Design], Iterator[Finding]], ...]] = (
    *cables.RULES,
    *fabric.RULES,
    *chassis.RULES,
    *power.RULES,
    *racks.RULES,
    *addresses.RULES,
)


def findings_of(inputs: DesignInputs, design: Design) -> tuple[Finding, ...]:
    """Judge a design by every rule, the gravest findings first.

    Parameters
    ----------
    inputs
        The Plan, the options and the catalogue rows.
    design
        The design without findings.

    Returns
    -------
    tuple of Finding
        Errors, then warnings, then information, each in the order of `RULES`.

    References
    ----------
    docs/design-rules.md lists every rule with its source.

    Examples
    --------
    >>> from kvplan.core.design.engine import design_of
    >>> from kvplan.reference import INPUTS
    >>> [finding.id for finding in design_of(INPUTS).findings if finding.severity == "warning"][:2]
    ['storage-single-port', 'single-spine']
    """
    return gravest_first(finding for rule in RULES for finding in rule(inputs, design))
