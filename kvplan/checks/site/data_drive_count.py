"""Another number of data drives than the Plan has.

Capacity, tolerance and the vdisk set follow from the drives of each node, and a recovery group wants as many in every
one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import servers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare counts."""
    planned = context.plan.profile.drives_per_node
    for loc, server, _ in servers(context, "storage"):
        if server.data_drives is None:
            yield Found(server.name, f"says nothing of data drives, the Plan has {planned}", loc)
        elif server.data_drives.count != planned:
            yield Found(
                server.name,
                f"{server.data_drives.count} data drives, the Plan has {planned}",
                (*loc, "data_drives", "count"),
            )


CHECK = Check(
    id="KV-SIT-013",
    severity="error",
    title="Storage nodes have the Plan's number of data drives",
    expected="as many data drives on each storage node as the Plan has",
    remedy="correct `data_drives.count`, fit the drives, or size another Plan",
    manual="nvme list | grep -c /dev/nvme",
    source="IBM Storage Scale ECE documentation: servers of a recovery group have the same drives",
    run=run,
    blocks=True,
)
