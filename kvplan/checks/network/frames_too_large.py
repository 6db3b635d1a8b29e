"""Frames that a host sends and a switch drops.

A frame beyond a switch port's limit is dropped without an answer: small messages pass, large writes hang.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare the two."""
    network = context.site.network
    if network.host_mtu_bytes > network.fabric_mtu_bytes:
        what = f"{network.host_mtu_bytes} B, switches take {network.fabric_mtu_bytes} B"
        yield Found("network.host_mtu_bytes", what, ("network", "host_mtu_bytes"))


CHECK = Check(
    id="KV-NET-017",
    severity="error",
    title="Switches take the frames of hosts",
    expected="`network.host_mtu_bytes` at most `network.fabric_mtu_bytes`",
    remedy="raise `fabric_mtu_bytes`, or lower `host_mtu_bytes`",
    manual="ping -M do -s 8972 ADDRESS",
    source="IEEE 802.3; NVIDIA Cumulus Linux documentation, MTU",
    run=run,
)
