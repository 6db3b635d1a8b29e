"""A service of the site inside a prefix of the fabric.

Hosts send everything for these prefixes into the fabric, where nobody but their own kind answers. A service there is
never reached.
"""

from __future__ import annotations

from ipaddress import IPv4Network, ip_address
from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import site_services

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare with every prefix but that of management."""
    prefixes = {
        entry.option: IPv4Network(entry.prefix) for entry in context.design.addresses if entry.option != "management"
    }
    for service in site_services(context):
        for option, prefix in prefixes.items():
            if ip_address(service.value) in prefix:
                yield Found(service.owner, f"{service.value} is within {option} {prefix}", service.loc)


CHECK = Check(
    id="KV-NET-007",
    severity="error",
    title="The site's services are outside the fabric's prefixes",
    expected="addresses of services outside every prefix of `build.addresses` but the management network",
    remedy="give `build.addresses` prefixes that are free at the site",
    manual="ip route get ADDRESS",
    source="the Plan's design: addresses follow from a machine's number",
    run=run,
)
