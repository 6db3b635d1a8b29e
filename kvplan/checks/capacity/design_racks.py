"""What the design found about racks.

Height and weight are limits, and a rack that is lost takes what stands in it.
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
    yield from passed_on(context, "racks")


CHECK = Check(
    id="KV-CAP-005",
    severity="warning",
    title="Racks hold what is put into them",
    expected="no error and no warning of the design in this group",
    remedy="what the finding says",
    manual="kvplan network plan.json --table findings",
    source="docs/design-rules.md, with the source of each rule",
    run=run,
)
