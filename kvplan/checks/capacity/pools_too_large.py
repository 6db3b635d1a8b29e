"""Disk caches of all engines that are larger than the quota.

Where each engine has a pool of its own, they fill together. The last ones fail at the quota while the first ones have
room.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.units import GB, format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Multiply."""
    storage, each = context.site.storage, context.site.inference.engines.disk_cache_gb
    quota = context.plan.profile.usable_bytes * storage.set_size_percent * storage.quota_percent / 100**2
    asked = context.plan.hbm.engines * each * GB
    if asked > quota:
        what = f"{format_bytes(asked)} for {context.plan.hbm.engines:,} engines, the quota is {format_bytes(quota)}"
        yield Found("inference.engines.disk_cache_gb", what, ("inference", "engines", "disk_cache_gb"))


CHECK = Check(
    id="KV-CAP-017",
    severity="error",
    title="The engines' pools fit the quota",
    expected="engines x `disk_cache_gb` at most the quota",
    remedy="lower `disk_cache_gb`, or leave it to be computed",
    manual="mmlsquota -j FILESET FILE_SYSTEM",
    source="NVIDIA Dynamo documentation, KVBM disk cache",
    run=run,
)
