"""A list of data drives that is not as long as it says.

Where data drives are named, a preflight looks for exactly these. A list too short leaves a drive unchecked, one too
long asks for a drive that has no bay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import servers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare the list with the count."""
    for loc, server, _ in servers(context):
        drives = server.data_drives
        if drives and drives.serials and len(drives.serials) != drives.count:
            what = f"{len(drives.serials)} serial numbers for {drives.count} data drives"
            yield Found(server.name, what, (*loc, "data_drives", "serials"))


CHECK = Check(
    id="KV-SIT-015",
    severity="error",
    title="Data drives are all named, or none is",
    expected="as many serial numbers in `data_drives.serials` as `count`, or none",
    remedy="add the missing serial numbers, or leave the list out",
    manual="nvme list -o json",
    source="derived: the list and its length agree",
    run=run,
)
