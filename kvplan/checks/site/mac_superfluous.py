"""A MAC address for a port that the design does not have.

Either the port is misspelled, so that the one that was meant has none, or the machine has an adapter more than
planned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import servers
from kvplan.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Look for keys that are no ports, and guess what was meant."""
    for loc, server, device in servers(context):
        known = [port.name for port in context.deployment.ports[device.name]]
        for port in server.macs:
            if port not in known:
                hint = did_you_mean(port, known)
                yield Found(
                    f"{server.name} {port}",
                    "; ".join(filter(None, ("the design has no such port", hint))),
                    (*loc, "macs", port),
                )


CHECK = Check(
    id="KV-SIT-008",
    severity="error",
    title="MAC addresses belong to ports of the design",
    expected="keys of `macs` are the names of the server's ports in the design",
    remedy="correct the port's name, or take the entry out",
    manual="kvplan network plan.json --table ports",
    source="the Plan's design: its list of ports",
    run=run,
)
