"""What the design found about the fabric.

Single points of failure and lost bandwidth are choices that somebody must know of before the machines arrive.
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
    yield from passed_on(context, "fabric")


CHECK = Check(
    id="KV-CAP-002",
    severity="warning",
    title="The fabric carries what the Plan promises",
    expected="no error and no warning of the design in this group",
    remedy="what the finding says",
    manual="kvplan network plan.json --table findings",
    source="docs/design-rules.md, with the source of each rule",
    run=run,
)
