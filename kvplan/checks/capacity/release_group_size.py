"""Recovery groups of a size that the release does not take.

A recovery group has a least and a most number of servers in each release.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Count the servers of each group."""
    release = context.deployment.release
    groups = Counter(device.recovery_group for device in context.design.devices if device.role == "storage")
    least, most = release.min_servers_per_recovery_group, release.max_servers_per_recovery_group
    for group, servers in sorted(groups.items()):
        if not least <= servers <= most:
            what = f"{servers} servers, {release.version} takes {least} to {most}"
            yield Found(f"recovery group {group}", what, ("versions", "storage_scale"))


CHECK = Check(
    id="KV-CAP-019",
    severity="error",
    title="The release takes the Plan's nodes",
    expected="servers of each recovery group within the release's limits",
    remedy="choose another release, or size another Plan",
    manual="mmvdisk recoverygroup list",
    source="catalogue, releases: servers per recovery group",
    run=run,
)
