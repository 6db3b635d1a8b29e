"""A cache that is smaller than the contexts in flight.

The vdisk set, the quota and the mark at which eviction begins each take their share of what the Plan calls usable.
What is left must hold every context that engines work on, or blocks are evicted before they are read.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Multiply the shares."""
    storage, needed = context.site.storage, context.plan.demand.capacity_bytes
    shares = (storage.set_size_percent, storage.quota_percent, storage.watermarks.high_percent)
    left = context.plan.profile.usable_bytes * prod(shares) / 100 ** len(shares)
    if left < needed:
        what = f"{format_bytes(left)} below the high mark, contexts in flight take {format_bytes(needed)}"
        yield Found("storage.quota_percent", what, ("storage", "quota_percent"))


CHECK = Check(
    id="KV-CAP-013",
    severity="error",
    title="The cache holds the contexts in flight",
    expected="usable bytes x set size x quota x high mark above the Plan's demand",
    remedy="raise `set_size_percent`, `quota_percent` or the high mark, or size a larger Plan",
    manual="mmlsquota -j FILESET FILE_SYSTEM; mmlsfileset FILE_SYSTEM",
    source="the Plan's demand: capacity_bytes",
    run=run,
)
