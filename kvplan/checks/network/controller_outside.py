"""A controller outside the management network.

Controllers hang on the management switches. An address of another network is not reached there, neither by the media
server nor by whoever deploys.
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
    """Look for addresses outside the prefix."""
    prefix = management(context)
    for index, server in enumerate(context.site.servers):
        if ip_address(server.bmc.address) not in prefix:
            what = f"controller address {server.bmc.address} is outside {prefix}"
            yield Found(server.name, what, ("servers", index, "bmc", "address"))


CHECK = Check(
    id="KV-NET-004",
    severity="error",
    title="Controllers are in the management network",
    expected="`bmc.address` within `build.addresses.management`",
    remedy="correct the address, or make `build.addresses.management` that of the site",
    manual="ip route get ADDRESS",
    source="the Plan's design: addresses follow from a machine's number",
    run=run,
)
