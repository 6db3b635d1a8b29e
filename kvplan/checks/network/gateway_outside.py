"""A gateway that is not in the management network.

A gateway must be a neighbour. One outside the prefix is refused by NetworkManager, by netplan and by the switches.
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import management

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare with the prefix and its two reserved addresses."""
    gateway, prefix = context.site.network.management_gateway, management(context)
    if gateway is None:
        return
    if ip_address(gateway) not in prefix:
        yield Found("network.management_gateway", f"{gateway} is outside {prefix}", ("network", "management_gateway"))
    elif ip_address(gateway) in (prefix.network_address, prefix.broadcast_address):
        yield Found(
            "network.management_gateway", f"{gateway} is no host of {prefix}", ("network", "management_gateway")
        )


CHECK = Check(
    id="KV-NET-010",
    severity="error",
    title="The gateway is in the management network",
    expected="`network.management_gateway` a host address of `build.addresses.management`",
    remedy="correct the gateway or the prefix",
    manual="ip route show default; ip neigh",
    source="RFC 1812 section 2.2.5; the prefix of the management network",
    run=run,
)
