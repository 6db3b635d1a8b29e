"""Frames too small for the largest packet of RDMA.

RDMA over Converged Ethernet takes the largest of its own packet sizes that fits the frame: below 4,096 bytes and
their headers it falls to 2,048 or less, and needs twice the packets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context

PAYLOAD_BYTES = 4096
"""The largest packet of RDMA."""
HEADER_BYTES = 40 + 8 + 12 + 16 + 4 + 4
"""IPv6, UDP, base transport, RDMA extended transport, immediate data, invariant check."""


def run(context: Context) -> Iterator[Found]:
    """Compare with payload and headers."""
    mtu = context.site.network.host_mtu_bytes
    if mtu < PAYLOAD_BYTES + HEADER_BYTES:
        yield Found("network.host_mtu_bytes", f"{mtu} B", ("network", "host_mtu_bytes"))


CHECK = Check(
    id="KV-NET-018",
    severity="warning",
    title="Frames carry RDMA packets of 4,096 bytes",
    expected="`network.host_mtu_bytes` at least 4,180",
    remedy="set `host_mtu_bytes` to 9000",
    manual="ibv_devinfo | grep active_mtu",
    source="InfiniBand Architecture Specification, volume 1, annex A17 (RoCEv2)",
    run=run,
)
