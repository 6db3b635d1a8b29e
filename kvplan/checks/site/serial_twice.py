"""A serial number that two machines share.

Installer, zero touch provisioning and asset list find a machine by its serial number. Shared, one machine gets the
other's disk layout and addresses.
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
    entries = [
        Entry(server.serial, server.name, ("servers", index, "serial"))
        for index, server in enumerate(context.site.servers)
    ]
    entries += [
        Entry(switch.serial, switch.name, ("switches", index, "serial"))
        for index, switch in enumerate(context.site.switches)
    ]
    yield from repeated(entries, "serial number")


CHECK = Check(
    id="KV-SIT-005",
    severity="error",
    title="Serial numbers are given once",
    expected="each serial number once among servers and switches",
    remedy="read the label or the controller again, and correct the entry",
    manual="ipmitool -H BMC fru print 0  # Product Serial; on a switch: decode-syseeprom",
    source="derived: machines are matched by serial number",
    run=run,
)
