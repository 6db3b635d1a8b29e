"""Marks of eviction that are too close to each other.

An eviction that starts at one mark and stops at the other lists the whole fileset first. With few percent between the
marks it runs nearly always, and takes the bandwidth of reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context

LEAST_POINTS = 5
"""Planning rule: less than this is written again while the fileset is listed."""


def run(context: Context) -> Iterator[Found]:
    """Subtract."""
    marks = context.site.storage.watermarks
    if marks.high_percent - marks.low_percent < LEAST_POINTS:
        what = f"from {marks.high_percent} % to {marks.low_percent} %"
        yield Found("storage.watermarks", what, ("storage", "watermarks"))


CHECK = Check(
    id="KV-CAP-014",
    severity="warning",
    title="Eviction runs now and then",
    expected="five points or more between low and high mark",
    remedy="lower `watermarks.low_percent`",
    manual="mmlspolicy FILE_SYSTEM -L",
    source="IBM Storage Scale documentation, THRESHOLD; the distance is a planning rule",
    run=run,
)
