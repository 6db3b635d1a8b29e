"""Servers that the Site has and the design has not.

Nothing is rendered for such a machine: it would stand in the rack without a role. Often the name is misspelled, and
the machine that was meant is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.errors import did_you_mean
from kvplan.schema.roles import SERVER_ROLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare names, and guess what was meant."""
    known = [device.name for device in context.design.devices if device.role in SERVER_ROLES]
    for index, server in enumerate(context.site.servers):
        if server.name not in known:
            hint = did_you_mean(server.name, known)
            yield Found(
                server.name,
                "; ".join(filter(None, ("the design has no such server", hint))),
                ("servers", index, "name"),
            )


CHECK = Check(
    id="KV-SIT-002",
    severity="error",
    title="Every server of the Site is in the design",
    expected="names in `servers` are those of the design",
    remedy="correct the name, take the server out, or size a Plan with more machines",
    manual="kvplan network plan.json --table devices",
    source="the Plan's design: its list of devices",
    run=run,
)
