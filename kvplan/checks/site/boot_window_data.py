"""A window of boot drive sizes that lets a data drive through.

Where data drives are within the window too, only the serial number keeps an installer from them; a mistyped one would
be the data drive's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import servers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare the window with the data drives."""
    for loc, server, _ in servers(context, "storage"):
        data, boot = server.data_drives, server.boot_drives
        if data and boot.least_gb <= data.size_gb <= boot.most_gb:
            what = f"data drives of {data.size_gb:,} GB are within {boot.least_gb:,} to {boot.most_gb:,} GB"
            yield Found(server.name, what, (*loc, "boot_drives", "most_gb"))


CHECK = Check(
    id="KV-SIT-012",
    severity="warning",
    title="Data drives are outside the window of boot drive sizes",
    expected="the size of data drives outside `least_gb` to `most_gb`",
    remedy="narrow the window around the boot drives' size",
    manual="lsblk -d -b -o NAME,SERIAL,SIZE",
    source="derived: two guards are better than one",
    run=run,
)
