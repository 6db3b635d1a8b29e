"""Data drives of another size than the Plan has.

The smallest drive of a declustered array decides what the others are used for. Makers give a size of 7.68 TB as 7,680
or 7,681 GB, so one percent is let pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import servers
from kvplan.units import GB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context

SLACK = 0.01
"""How far a label may be from the size that the maker counts."""


def run(context: Context) -> Iterator[Found]:
    """Compare sizes."""
    planned = context.plan.profile.drive_bytes
    for loc, server, _ in servers(context, "storage"):
        drives = server.data_drives
        if drives and abs(drives.size_gb * GB - planned) > SLACK * planned:
            what = f"data drives of {drives.size_gb:,} GB, the Plan has {planned // GB:,} GB"
            yield Found(server.name, what, (*loc, "data_drives", "size_gb"))


CHECK = Check(
    id="KV-SIT-014",
    severity="error",
    title="Data drives have the Plan's size",
    expected="the size of the Plan's drive, within one percent",
    remedy="correct `data_drives.size_gb`, fit the drives, or size another Plan",
    manual="lsblk -d -b -o NAME,SERIAL,SIZE",
    source="IBM Storage Scale ECE documentation: drives of a declustered array have one size",
    run=run,
)
