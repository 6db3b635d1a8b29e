"""A controller at another address than the design has for it.

Files follow the Site. Drawings, port tables and imports made from the Plan alone show the design's address.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import servers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare with the design."""
    for loc, server, device in servers(context):
        planned = device.management_address.partition("/")[0]
        if server.bmc.address != planned:
            yield Found(
                server.name, f"controller at {server.bmc.address}, the design has {planned}", (*loc, "bmc", "address")
            )


CHECK = Check(
    id="KV-NET-003",
    severity="info",
    title="Controllers are where the design has them",
    expected="`bmc.address` as the design has it",
    remedy="give the controller the design's address, or keep in mind that tables differ",
    manual="kvplan network plan.json --table devices",
    source="the Plan's design: addresses follow from a machine's number",
    run=run,
)
