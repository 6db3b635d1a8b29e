"""A port of the host without a MAC address.

Names are pinned to MAC addresses, because names that a kernel gives change with the slot. A port without one would
get neither name nor address.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import servers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare the ports of the design with the addresses given."""
    for loc, server, device in servers(context):
        for port in context.deployment.ports[device.name]:
            if port.kind in ("fabric", "host") and port.name not in server.macs:
                yield Found(f"{server.name} {port.name}", "has no MAC address", (*loc, "macs"))


CHECK = Check(
    id="KV-SIT-007",
    severity="error",
    title="Every port of a host has a MAC address",
    expected="an entry in `macs` for each fabric and management port of the design",
    remedy="add the port's MAC address to `macs`",
    manual="ip -br link  # or the controller's inventory over Redfish",
    source="systemd.link and NetworkManager documentation: interfaces are matched by MAC address",
    run=run,
    blocks=True,
)
