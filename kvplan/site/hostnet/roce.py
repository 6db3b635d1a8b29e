"""RoCE on hosts: one file of values a port, from the same settings as the switches."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Final

from kvplan.site.hostnet import places
from kvplan.site.templating import rendered
from kvplan.site.tree import File

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.site.deployment import Deployment, HostPort, Server

PRIORITIES: Final = 8
"""Priorities of Ethernet."""
_LEAST_READ_REQUEST: Final = 128
_READ_REQUEST_SHIFT: Final = 12
"""PCI Express keeps the size of read requests in bits 12 to 14 of a register, as a power of two times 128."""


def rdma_name(port: str) -> str:
    """Name the RDMA device of a port; `kv-roce` sets it.

    Parameters
    ----------
    port
        Name of the interface.

    Returns
    -------
    str
        The device's name, which starts as that of the driver does: some programs look for it.

    Examples
    --------
    >>> rdma_name("client1p0")
    'mlx5_client1p0'
    """
    return f"mlx5_{port}"


def number(deployment: Deployment, setting_id: str) -> int:
    """Return a setting that is a whole number."""
    return int(deployment.setting(setting_id))


def traffic_class(deployment: Deployment) -> int:
    """Return the traffic class that RDMA is sent with: the switches' DSCP, and the bits that let them mark it."""
    return number(deployment, "switch.roce_dscp") << 2 | number(deployment, "nic.ect")


def roce_files(deployment: Deployment, server: Server) -> Iterator[File]:
    """Write the values of each leg of a server.

    Parameters
    ----------
    deployment
        The deployment.
    server
        One of its servers.

    Yields
    ------
    File
        The file of one port, which a shell reads.
    """
    priority = number(deployment, "switch.roce_priority")
    values = {
        "priority": priority,
        "pfc": ",".join(str(int(index == priority)) for index in range(PRIORITIES)),
        "tos": traffic_class(deployment),
        "cnp_dscp": number(deployment, "switch.cnp_dscp"),
        "cnp_priority": number(deployment, "switch.cnp_priority"),
        "acceleration": deployment.setting("nic.roce_acceleration"),
        "read_request": read_request(number(deployment, "nic.read_request_bytes")),
    }
    for leg in server.fabric:
        text = rendered(
            "hostnet/kv-roce.env.j2", server=server.name, port=leg.name, switch=leg.peer.device,
            switch_port=leg.peer.name, rdma=rdma_name(leg.name), cable_m=_cable_m(deployment, leg), **values,
        )  # fmt: skip
        yield File(places.of_server(server.name, f"{places.ROCE_ENV}/{leg.name}.env"), text)


def read_request(size_bytes: int) -> str:
    """Write the size of read requests as the device control of PCI Express has it.

    >>> read_request(4096)
    '5000'
    """
    return f"{(size_bytes // _LEAST_READ_REQUEST).bit_length() - 1 << _READ_REQUEST_SHIFT:x}"


def _cable_m(deployment: Deployment, leg: HostPort) -> int:
    """Return the length of a leg's cable, rounded up to whole metres: headroom of its buffer follows from it."""
    return max(ceil(deployment.cables[cable].length_m) for cable in leg.port.cables)
