"""A data drive that is named twice.

A drive is in one bay of one node. Named twice, one of the two nodes would be refused by the preflight.
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
            Entry(serial, server.name, ("servers", index, "data_drives", "serials", place))
            for index, server in enumerate(context.site.servers)
            for place, serial in enumerate(server.data_drives.serials if server.data_drives else ())
        ),
        "data drive",
    )


CHECK = Check(
    id="KV-SIT-016",
    severity="error",
    title="Data drives are named once",
    expected="each data drive's serial number once in the Site",
    remedy="read the drives again, and correct `data_drives.serials`",
    manual="nvme list -o json",
    source="derived: a drive is in one place",
    run=run,
)
