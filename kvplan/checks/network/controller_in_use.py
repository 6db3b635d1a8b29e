"""A controller address that the design gives to something else.

Ports, switches and loopbacks take addresses by a rule. A controller on one of them answers for the other machine, now
and then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import design_addresses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare with everything that is no controller."""
    taken = design_addresses(context)
    for index, server in enumerate(context.site.servers):
        if server.bmc.address in taken:
            what = f"controller address {server.bmc.address} is that of {taken[server.bmc.address]}"
            yield Found(server.name, what, ("servers", index, "bmc", "address"))


CHECK = Check(
    id="KV-NET-002",
    severity="error",
    title="Controllers take no address of the design",
    expected="`bmc.address` apart from the addresses of ports, switches and loopbacks",
    remedy="give the controller the address that the design has for it, or another one",
    manual="kvplan network plan.json --table ports",
    source="the Plan's design: addresses follow from a machine's number",
    run=run,
)
