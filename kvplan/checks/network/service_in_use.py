"""A service of the site at an address of a machine.

The design hands out addresses by a rule from the prefixes that it is given. A resolver, a clock or the media server
on one of them clashes with the machine as soon as that is installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import machine_addresses, site_services

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare with the addresses in use."""
    owners = machine_addresses(context)
    for entry in site_services(context):
        if entry.value in owners:
            yield Found(entry.owner, f"{entry.value} is the address of {owners[entry.value]}", entry.loc)


CHECK = Check(
    id="KV-NET-006",
    severity="error",
    title="The site's services take no address of a machine",
    expected="DNS, NTP, syslog, telemetry, media server and further hosts apart from the design's addresses",
    remedy="move the service, or give `build.addresses` prefixes without it",
    manual="kvplan network plan.json --table ports",
    source="the Plan's design: addresses follow from a machine's number",
    run=run,
)
