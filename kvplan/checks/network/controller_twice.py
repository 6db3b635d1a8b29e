"""A controller address that two machines share.

Everything that is done before a system runs goes through the controller: power, boot order, media. Shared, one server
is installed twice and the other not at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import Entry, repeated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Look for addresses that repeat."""
    yield from repeated(
        (
            Entry(server.bmc.address, server.name, ("servers", index, "bmc", "address"))
            for index, server in enumerate(context.site.servers)
        ),
        "controller address",
    )


CHECK = Check(
    id="KV-NET-001",
    severity="error",
    title="Controllers have addresses of their own",
    expected="each `bmc.address` once",
    remedy="correct `bmc.address`",
    manual="ipmitool -H ADDRESS lan print 1; arping -D ADDRESS",
    source="RFC 5227: an address is one machine's",
    run=run,
)
