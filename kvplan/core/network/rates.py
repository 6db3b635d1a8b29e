"""What a network port and a PCIe slot carry once the protocol has taken its part."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvplan.schema.hardware import Nic


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
        Payload share of the link [1].

    Returns
    -------
    float
        Payload bandwidth, one direction [B/s].

    Notes
    -----
    A bound of the link; what root complex and memory make of it is not modelled. Each packet carries 26 B of framing,
    sequence number, header and CRC around its payload: a share of 256 / 282 at a maximum payload size of 256 B.

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
        Share of the line rate to count on [1]: what packet headers leave for what the line can carry, a calibrated
        planning factor for what may be promised.
    ports
        Ports in use [1]; all of them unless given.

    Returns
    -------
    float
        Rate of the line, one direction [B/s], whatever the slot behind it carries.

    Notes
    -----
    All ports carry the load side by side. A RoCEv2 packet has 82 B around its RDMA payload (preamble and gap 20,
    Ethernet 14, FCS 4, IPv4 20, UDP 8, BTH 12, ICRC 4): a share of 4096 / 4178 at an MTU of 4096 B.

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


def nic_usable_bytes_per_s(
    nic: Nic, line_share: float, pcie_share: float, *, ports: int | None = None, slot_generation: int | None = None
) -> float:
    """Payload rate of a network adapter: its ports or its slot, whichever is slower.

    rate = min(ports x line rate x line share, PCIe rate of the slower generation of adapter and slot x pcie share)

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
    slot_generation
        PCIe generation of the slot [1]; the adapter's own unless given.

    Returns
    -------
    float
        Payload rate, one direction [B/s].

    Notes
    -----
    The slot is taken to have all lanes of the adapter.

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

    A Gen4 x16 slot does not even carry one.

    >>> round(nic_usable_bytes_per_s(nic, 0.98, 0.908, ports=1, slot_generation=4) / 1e9, 1)
    28.6
    """
    line = nic_line_bytes_per_s(nic, line_share, ports=ports)
    generation = min(nic.pcie_generation, slot_generation or nic.pcie_generation)
    return min(line, pcie_usable_bytes_per_s(generation, nic.pcie_lanes, pcie_share))
