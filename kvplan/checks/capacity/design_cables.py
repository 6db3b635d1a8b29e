"""What the design found about cables.

A cable that no family has, that is too short, or that does not fit its ends is found when the racks stand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.design_groups import passed_on
from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Pass on what the design found."""
    yield from passed_on(context, "cables")


CHECK = Check(
    id="KV-CAP-001",
    severity="warning",
    title="Cables join their ends",
    expected="no error and no warning of the design in this group",
    remedy="what the finding says",
    manual="kvplan network plan.json --table findings",
    source="docs/design-rules.md, with the source of each rule",
    run=run,
)
