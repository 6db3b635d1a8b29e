"""A media server that controllers do not reach.

Controllers fetch boot media themselves, from their own network, and many have no route beyond it.
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
    """Compare with the prefix."""
    address, prefix = context.site.media.address, management(context)
    if ip_address(address) not in prefix:
        yield Found("media.address", f"{address} is outside {prefix}", ("media", "address"))


CHECK = Check(
    id="KV-NET-005",
    severity="error",
    title="The media server is in the management network",
    expected="`media.address` within `build.addresses.management`",
    remedy="run the media server on a machine of the management network",
    manual="curl -I http://ADDRESS:PORT/",
    source="DMTF Redfish, VirtualMedia.InsertMedia: the controller fetches the image",
    run=run,
)
