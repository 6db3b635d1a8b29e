"""Another Storage Scale release than the Plan's software set.

Codes, counts of servers and drives, and failure domains were judged by the limits of the Plan's release.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import same_release

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare releases."""
    planned, chosen = context.plan.parts.software.storage_scale, context.site.versions.storage_scale
    if not same_release(planned, chosen):
        yield Found(
            "versions.storage_scale", f"is {chosen}, the Plan's set has {planned}", ("versions", "storage_scale")
        )


CHECK = Check(
    id="KV-REL-010",
    severity="warning",
    title="Storage Scale is the Plan's release",
    expected="`versions.storage_scale` as the Plan's software set has it",
    remedy="size the Plan again with the other set, or run the Plan's release",
    manual="mmdiag --version",
    source="the Plan's parts: software",
    run=run,
)
