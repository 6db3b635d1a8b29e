"""Two servers in the same units of a rack.

One of the two entries is wrong, and with it perhaps which machine has which serial number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import Entry, repeated, servers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Look for units that repeat."""
    entries = [
        Entry(f"{server.rack} {unit}", server.name, (*loc, "position_u"))
        for loc, server, device in servers(context)
        if server.rack is not None and server.position_u is not None
        for unit in range(server.position_u, server.position_u + device.rack_units)
    ]
    yield from repeated(entries, "unit")


CHECK = Check(
    id="KV-SIT-019",
    severity="error",
    title="Units of a rack are taken once",
    expected="each unit of each rack taken by one server",
    remedy="correct `rack` or `position_u`",
    manual="kvplan network plan.json --drawing racks -o racks.svg",
    source="derived: two things are not in one place",
    run=run,
)
