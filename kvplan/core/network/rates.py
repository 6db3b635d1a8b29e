"""What a network port and a PCIe slot carry once the protocol has taken its part."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvplan.schema.hardware import Nic

ROCE_PACKET_OVERHEAD_BYTES: Final = 20 + 14 + 4 + 20 + 8 + 12 + 4
"""Preamble and gap 20, Ethernet 14, FCS 4, IPv4 20, UDP 8, BTH 12, ICRC 4: 82 B around each RDMA payload."""

VXLAN_OVERHEAD_BYTES: Final = 50
"""Outer Ethernet 14, IPv4 20, UDP 8, VXLAN 8."""

TLP_OVERHEAD_BYTES: Final = 26
"""Framing, sequence number, header and CRC around the payload of one PCIe packet."""


class _Signalling(NamedTuple):
    """Bits a lane moves each second, and the share of them that is left after line code or FLIT overhead."""

    lane_bits_per_s: float
    share: float


_PCIE: Final[Mapping[int, _Signalling]] = MappingProxyType(
    {
        3: _Signalling(8e9, 128 / 130),
        4: _Signalling(16e9, 128 / 130),
        5: _Signalling(32e9, 128 / 130),
        6: _Signalling(64e9, 242 / 256),
    }
)


def line_bytes_per_s(ports: int, port_bits_per_s: float) -> float:
    """Line rate of some ports together, in bytes.

    rate = ports x bits / 8

    Parameters
    ----------
    ports
        Ports that carry the load side by side [1].
    port_bits_per_s
        Line rate of one port [bit/s].

    Returns
    -------
    float
        Line rate, one direction [B/s].

    Notes
    -----
    Ethernet is full duplex: the same holds for the other direction at the same time.

    References
    ----------
    IEEE 802.3-2022: the rate of a port is stated after its line code.

    Examples
    --------
    >>> line_bytes_per_s(2, 200e9) / 1e9
    50.0
    """
    return ports * port_bits_per_s / 8


def roce_share(mtu_bytes: int, *, vxlan: bool = False) -> float:
    """Share of the line rate left to RDMA payload by the headers of each packet.

    share = mtu / (mtu + 82), and 50 B more inside VXLAN

    Parameters
    ----------
    mtu_bytes
        RDMA MTU, the payload of one packet [B].
    vxlan
        Whether packets travel inside VXLAN.

    Returns
    -------
    float
        Payload share of the line [1].

    Notes
    -----
    Full packets of RoCEv2 over IPv4; the 16 B RETH of the first packet of a message is left out.

    References
    ----------
    InfiniBand Architecture Specification Volume 1, Annex A17 (RoCEv2); RFC 7348 (VXLAN).

    Examples
    --------
    >>> [round(roce_share(mtu), 3) for mtu in (1024, 2048, 4096)]
    [0.926, 0.962, 0.98]
    """
    overhead = ROCE_PACKET_OVERHEAD_BYTES + (VXLAN_OVERHEAD_BYTES if vxlan else 0)
    return mtu_bytes / (mtu_bytes + overhead)


def pcie_payload_share(max_payload_bytes: int) -> float:
    """Share of PCIe bandwidth left to payload by the header of each packet.

    share = mps / (mps + 26)

    Parameters
    ----------
    max_payload_bytes
        Maximum payload size that device and slot agreed on [B].

    Returns
    -------
    float
        Payload share of the link [1].

    Notes
    -----
    Full packets, no read requests or flow-control updates in the same direction.

    References
    ----------
    PCI Express Base Specification 5.0, sections 2 and 3.

    Examples
    --------
    >>> round(pcie_payload_share(256), 3), round(pcie_payload_share(512), 3)
    (0.908, 0.952)
    """
    return max_payload_bytes / (max_payload_bytes + TLP_OVERHEAD_BYTES)


def pcie_raw_bytes_per_s(generation: int, lanes: int) -> float:
    """Bandwidth of a PCIe link after its line code, before packet headers.

    rate = lanes x bits per lane x code share / 8

    Parameters
    ----------
    generation
        PCIe generation, 3 to 6 [1].
    lanes
        Lanes of the link [1].

    Returns
    -------
    float
        Bandwidth, one direction [B/s].

    Notes
    -----
    128b/130b up to generation 5; in generation 6 14 B of each 256 B FLIT go to CRC and FEC.

    References
    ----------
    PCI Express Base Specification 5.0 and 6.0.

    Examples
    --------
    >>> [round(pcie_raw_bytes_per_s(*slot) / 1e9, 2) for slot in ((5, 4), (5, 16), (4, 16), (6, 16))]
    [15.75, 63.02, 31.51, 121.0]
    """
    lane = _PCIE[generation]
    return lanes * lane.lane_bits_per_s * lane.share / 8


def pcie_usable_bytes_per_s(generation: int, lanes: int, share: float) -> float:
    """Payload bandwidth of a PCIe link.

    rate = raw rate x share

    Parameters
    ----------
    generation
        PCIe generation, 3 to 6 [1].
    lanes
        Lanes of the link [1].
    share
        Payload share of the link [1], see `pcie_payload_share`.

    Returns
    -------
    float
        Payload bandwidth, one direction [B/s].

    Notes
    -----
    A bound of the link; what root complex and memory make of it is not modelled.

    References
    ----------
    PCI Express Base Specification 5.0 and 6.0.

    Examples
    --------
    >>> round(pcie_usable_bytes_per_s(5, 16, 0.908) / 1e9, 1)
    57.2
    """
    return pcie_raw_bytes_per_s(generation, lanes) * share


def nic_line_bytes_per_s(nic: Nic, share: float, *, ports: int | None = None) -> float:
    """Share of a network adapter's line rate.

    rate = ports x port rate / 8 x share

    Parameters
    ----------
    nic
        Catalogue row of the adapter.
    share
        Share of the line rate to count on [1]: `roce_share` for what the line can carry, a calibrated planning
        factor for what may be promised.
    ports
        Ports in use [1]; all of them unless given.

    Returns
    -------
    float
        Rate of the line, one direction [B/s], whatever the slot behind it carries.

    Notes
    -----
    All ports carry the load side by side.

    References
    ----------
    IEEE 802.3-2022; InfiniBand Architecture Specification Volume 1, Annex A17.

    Examples
    --------
    >>> from kvplan.core.network.examples import B3220
    >>> nic_line_bytes_per_s(B3220, 0.98) / 1e9
    49.0
    """
    return line_bytes_per_s(nic.ports if ports is None else ports, nic.port_bits_per_s) * share


def nic_usable_bytes_per_s(nic: Nic, line_share: float, pcie_share: float, *, ports: int | None = None) -> float:
    """Payload rate of a network adapter: its ports or its slot, whichever is slower.

    rate = min(ports x line rate x line share, slot rate x pcie share)

    Parameters
    ----------
    nic
        Catalogue row of the adapter.
    line_share
        Share of the line rate to count on [1].
    pcie_share
        Payload share of the slot [1].
    ports
        Ports in use [1]; all of them unless given.

    Returns
    -------
    float
        Payload rate, one direction [B/s].

    Notes
    -----
    The slot is taken to be as fast as the adapter's own PCIe interface.

    References
    ----------
    PCI Express Base Specification 5.0; InfiniBand Architecture Specification Volume 1, Annex A17.

    Examples
    --------
    Two 400G ports behind one Gen5 x16 slot are held back by the slot.

    >>> from kvplan.core.network.examples import B3140H
    >>> nic = B3140H.model_copy(update={"ports": 2})
    >>> round(nic_usable_bytes_per_s(nic, 0.98, 0.908) / 1e9, 1)
    57.2
    >>> round(nic_usable_bytes_per_s(nic, 0.98, 0.908, ports=1) / 1e9, 1)
    49.0
    """
    line = nic_line_bytes_per_s(nic, line_share, ports=ports)
    return min(line, pcie_usable_bytes_per_s(nic.pcie_generation, nic.pcie_lanes, pcie_share))
