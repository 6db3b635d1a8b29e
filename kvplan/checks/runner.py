"""Runs checks: those of Plan and Site first, those of rendered files when nothing stands in the way of rendering."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.schema.base import gravest_first
from kvplan.schema.checking import CheckFinding, CheckReport

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvplan.checks.framework import Check, Context, Found
    from kvplan.inputs.document import Document


def examine(
    context: Context,
    checks: Iterable[Check],
    *,
    plan: str,
    document: Document | None = None,
    skipped: frozenset[str] = frozenset(),
) -> CheckReport:
    """Run checks and report what they found, the gravest first.

    Parameters
    ----------
    context
        What is looked at.
    checks
        The checks; those that need machines which answer are left out.
    plan
        Name of the Plan's file.
    document
        The Site's file, from which places are told; findings have none without it.
    skipped
        Ids of checks that do not run.

    Returns
    -------
    CheckReport
        Equal input gives an equal report.
    """
    offered = [check for check in checks if check.needs != "live"]
    asked = [check for check in offered if check.id not in skipped]
    found = [finding for check in asked if check.needs == "offline" for finding in _findings(check, context, document)]
    # What makes rendering impossible does so whether or not anybody wants to hear of it.
    blocking = {check.id for check in offered if check.blocks and any(check.run(context))}
    of_tree = [check for check in asked if check.needs == "tree"]
    if not blocking:
        found += [finding for check in of_tree for finding in _findings(check, context, document)]
    return CheckReport(
        plan=plan,
        site=document.name if document else "",
        run=tuple(check.id for check in asked if not (blocking and check in of_tree)),
        skipped=tuple(check.id for check in offered if check.id in skipped),
        not_run=tuple(check.id for check in of_tree if blocking),
        held_up_by=tuple(sorted(blocking)),
        findings=gravest_first(found),
    )


def _findings(check: Check, context: Context, document: Document | None) -> list[CheckFinding]:
    """Run one check."""
    return [_finding(check, found, document) for found in check.run(context)]


def _finding(check: Check, found: Found, document: Document | None) -> CheckFinding:
    """Put what was found together with what the check says of itself."""
    return CheckFinding(
        id=check.id,
        severity=found.severity or check.severity,
        title=check.title,
        where=found.where,
        place=document.where(found.loc) if document and found.loc is not None else "",
        what=found.what,
        expected=check.expected,
        remedy=found.remedy or check.remedy,
        manual=check.manual,
        source=check.source,
    )
