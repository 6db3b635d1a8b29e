"""A gateway at an address that a machine or a service has.

Every packet that leaves the management network would go to that machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import machine_addresses, site_services

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare with machines and services."""
    gateway = context.site.network.management_gateway
    owners = {entry.value: entry.owner for entry in site_services(context)} | machine_addresses(context)
    if gateway in owners:
        yield Found(
            "network.management_gateway",
            f"{gateway} is the address of {owners[gateway]}",
            ("network", "management_gateway"),
        )


CHECK = Check(
    id="KV-NET-011",
    severity="error",
    title="The gateway's address is nobody else's",
    expected="`network.management_gateway` apart from machines and services",
    remedy="correct the gateway",
    manual="arping -c 3 ADDRESS",
    source="the Plan's design: addresses follow from a machine's number",
    run=run,
)
