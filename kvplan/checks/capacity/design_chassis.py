"""What the design found about chassis.

Slots, bays and lanes are fixed. A card too many is found when it is in the hand.
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
    yield from passed_on(context, "chassis")


CHECK = Check(
    id="KV-CAP-003",
    severity="warning",
    title="Chassis hold what is put into them",
    expected="no error and no warning of the design in this group",
    remedy="what the finding says",
    manual="kvplan network plan.json --table findings",
    source="docs/design-rules.md, with the source of each rule",
    run=run,
)
