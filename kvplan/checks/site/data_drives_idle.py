"""Data drives of a server that stores nothing.

Only storage nodes are in a recovery group. Drives named elsewhere are for nothing, or the entry is that of another
machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import servers
from kvplan.schema.roles import ROLE_NOUNS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Look for data drives outside storage nodes."""
    for loc, server, device in servers(context, "client", "control"):
        if server.data_drives:
            yield Found(server.name, f"a {ROLE_NOUNS[device.role][0]} with data drives", (*loc, "data_drives"))


CHECK = Check(
    id="KV-SIT-017",
    severity="warning",
    title="Only storage nodes have data drives",
    expected="no `data_drives` on GPU servers and control nodes",
    remedy="take `data_drives` out, or correct the server's name",
    manual="lsblk -d -o NAME,SERIAL,SIZE",
    source="the Plan's design: roles of devices",
    run=run,
)
