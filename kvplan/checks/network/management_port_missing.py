"""Servers without a port in the management network.

Whoever deploys logs in over the management network, before the fabric has an address. With no port there, a server
can be installed but not set up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import servers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Look for servers without one."""
    for loc, server, device in servers(context):
        if not any(port.kind == "host" for port in context.deployment.ports[device.name]):
            yield Found(server.name, "has no port in the management network", loc)


CHECK = Check(
    id="KV-NET-020",
    severity="error",
    title="Every server has a management port",
    expected="`build.management.host_ports` at least 1",
    remedy="set `build.management.host_ports` to 1",
    manual="kvplan network plan.json --table ports",
    source="the Plan's design: management ports of hosts",
    run=run,
    blocks=True,
)
