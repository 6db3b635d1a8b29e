"""A MAC address that two ports share.

Interface names are pinned to MAC addresses. With one address on two ports the wrong one is named and addressed, and a
switch that sees both moves the entry back and forth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import Entry, repeated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Look for MAC addresses that repeat."""
    entries = []
    for index, server in enumerate(context.site.servers):
        entries += [
            Entry(mac, f"{server.name} {port}", ("servers", index, "macs", port)) for port, mac in server.macs.items()
        ]
        if server.bmc.mac:
            entries.append(Entry(server.bmc.mac, f"{server.name} bmc", ("servers", index, "bmc", "mac")))
    entries += [
        Entry(switch.mac, switch.name, ("switches", index, "mac")) for index, switch in enumerate(context.site.switches)
    ]
    yield from repeated(entries, "MAC address")


CHECK = Check(
    id="KV-SIT-006",
    severity="error",
    title="MAC addresses are given once",
    expected="each MAC address once among ports, controllers and switches",
    remedy="read the label or the controller again, and correct the entry",
    manual="ip -br link; ipmitool -H BMC lan print 1",
    source="IEEE 802, section 8: an address identifies one station",
    run=run,
)
