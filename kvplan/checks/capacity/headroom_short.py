"""Too little room between the high mark and the quota.

Eviction takes minutes to begin. Until it has freed something, writes go on, and at the quota they fail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.units import format_duration, format_rate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context

LEAST_S = 600
"""Planning rule: time that eviction may take to begin [s]."""


def run(context: Context) -> Iterator[Found]:
    """Divide the room by the rate of writes."""
    storage, rate = context.site.storage, context.plan.demand.write_bytes_per_s
    quota = context.plan.profile.usable_bytes * storage.set_size_percent * storage.quota_percent / 100**2
    room_s = quota * (100 - storage.watermarks.high_percent) / 100 / rate if rate else LEAST_S
    if room_s < LEAST_S:
        what = f"full {format_duration(room_s)} after the high mark, at {format_rate(rate)} of writes"
        yield Found("storage.watermarks", what, ("storage", "watermarks", "high_percent"))


CHECK = Check(
    id="KV-CAP-015",
    severity="warning",
    title="Writes go on while eviction begins",
    expected="ten minutes of the Plan's writes between high mark and quota",
    remedy="lower `watermarks.high_percent`",
    manual="mmlsquota -j FILESET FILE_SYSTEM",
    source="IBM Storage Scale documentation, lowDiskSpace; the time is a planning rule",
    run=run,
)
