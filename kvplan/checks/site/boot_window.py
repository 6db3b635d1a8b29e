"""A window of boot drive sizes that no drive can be in.

The window is a second guard beside the serial number: a drive outside it is refused. One that ends before it begins
refuses every drive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare the two ends."""
    for index, server in enumerate(context.site.servers):
        drives = server.boot_drives
        if drives.least_gb >= drives.most_gb:
            yield Found(
                server.name,
                f"from {drives.least_gb:,} GB to {drives.most_gb:,} GB",
                ("servers", index, "boot_drives", "least_gb"),
            )


CHECK = Check(
    id="KV-SIT-011",
    severity="error",
    title="The window of boot drive sizes is one",
    expected="`least_gb` below `most_gb`",
    remedy="exchange the two, or widen the window",
    manual="lsblk -d -b -o NAME,SERIAL,SIZE",
    source="derived: an installer refuses drives outside the window",
    run=run,
)
