"""A boot drive that is named twice.

The system is mirrored on two drives. One serial number twice leaves no mirror, and one that two servers share is at
least once wrong: an installer would find no drive, or stop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import Entry, repeated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Look for serial numbers that repeat."""
    yield from repeated(
        (
            Entry(serial, server.name, ("servers", index, "boot_drives", "serials", place))
            for index, server in enumerate(context.site.servers)
            for place, serial in enumerate(server.boot_drives.serials)
        ),
        "boot drive",
    )


CHECK = Check(
    id="KV-SIT-009",
    severity="error",
    title="Boot drives are named once",
    expected="each boot drive's serial number once in the Site",
    remedy="read the drives' labels or the controller again, and correct `boot_drives.serials`",
    manual="nvme list -o json; lsblk -d -o NAME,SERIAL,SIZE",
    source="derived: an installer matches drives by serial number",
    run=run,
)
