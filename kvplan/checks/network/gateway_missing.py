"""Services outside the management network, and no gateway to them.

Hosts and switches have no other way out than the management network's gateway.
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import management, site_services
from kvplan.units import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Look for services beyond the prefix."""
    prefix = management(context)
    beyond = [entry.owner for entry in site_services(context) if ip_address(entry.value) not in prefix]
    if beyond and context.site.network.management_gateway is None:
        yield Found("network.management_gateway", f"is missing, and {listed(beyond)} is outside {prefix}", ("network",))


CHECK = Check(
    id="KV-NET-009",
    severity="error",
    title="There is a gateway where one is needed",
    expected="`network.management_gateway`, or every service within the management network",
    remedy="set `network.management_gateway`",
    manual="ip route show default",
    source="the Plan's design: addresses follow from a machine's number",
    run=run,
)
