"""A machine that stands elsewhere than the design has it.

Lengths of cables, power of a rack and what a lost rack takes are worked out for the design's places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import servers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare the places that are given."""
    for loc, server, device in servers(context):
        if server.rack is not None and server.rack != device.rack:
            yield Found(server.name, f"stands in {server.rack}, the design has it in {device.rack}", (*loc, "rack"))
        elif server.position_u is not None and server.position_u != device.position_u:
            what = f"stands at unit {server.position_u}, the design has it at {device.position_u}"
            yield Found(server.name, what, (*loc, "position_u"))


CHECK = Check(
    id="KV-SIT-018",
    severity="warning",
    title="Servers stand where the design has them",
    expected="`rack` and `position_u` as in the design, or left out",
    remedy="move the server, correct the entry, or change `build.racks`",
    manual="kvplan network plan.json --table racks",
    source="the Plan's design: places of devices",
    run=run,
)
