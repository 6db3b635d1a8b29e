"""Servers that the design has and the Site has not.

A machine that nobody described has no serial number to be found by and no controller to be reached by. Every file
that names all nodes would lack it, and a recovery group with a node too few is another design.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.schema.roles import ROLE_NOUNS, SERVER_ROLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare names."""
    known = {server.name for server in context.site.servers}
    for device in sorted(context.design.devices, key=lambda device: device.name):
        if device.role in SERVER_ROLES and device.name not in known:
            yield Found(
                device.name, f"the design has this {ROLE_NOUNS[device.role][0]}, the Site has not", ("servers",)
            )


CHECK = Check(
    id="KV-SIT-001",
    severity="error",
    title="Every server of the design is in the Site",
    expected="one entry in `servers` for each server of the design",
    remedy="add the server to `servers`, or size a Plan with fewer machines",
    manual="kvplan network plan.json --table devices",
    source="the Plan's design: its list of devices",
    run=run,
    blocks=True,
)
