"""A boot drive that is a data drive too.

An installer wipes the drives that it is given. A drive that Storage Scale owns must never be among them, and a drive
of the system must never be given to a recovery group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Look for serial numbers in both lists."""
    boots = {serial.casefold(): server.name for server in context.site.servers for serial in server.boot_drives.serials}
    for index, server in enumerate(context.site.servers):
        for place, serial in enumerate(server.data_drives.serials if server.data_drives else ()):
            if serial.casefold() in boots:
                loc = ("servers", index, "data_drives", "serials", place)
                yield Found(server.name, f"data drive {serial} is a boot drive of {boots[serial.casefold()]}", loc)


CHECK = Check(
    id="KV-SIT-010",
    severity="error",
    title="No boot drive is a data drive",
    expected="boot and data drives have no serial number in common, on any server",
    remedy="decide what the drive is, and take it out of the other list",
    manual="lsblk -d -o NAME,SERIAL,SIZE; mmvdisk pdisk list --rg all -L",
    source="Storage Scale ECE documentation: drives of a recovery group belong to it alone",
    run=run,
    blocks=True,
)
