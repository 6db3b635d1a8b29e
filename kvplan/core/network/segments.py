"""The eight segments of the path from drive to GPU, as rates and traffic factors; demand comes later."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from kvplan.core.arithmetic import ceil_div
from kvplan.core.network.rates import (
    line_bytes_per_s,
    nic_line_bytes_per_s,
    nic_usable_bytes_per_s,
    pcie_usable_bytes_per_s,
)
from kvplan.core.network.sides import NOTHING_LOST
from kvplan.core.network.traffic import cross_leaf_share, degraded_read_factor, read_traffic, write_traffic

if TYPE_CHECKING:
    from kvplan.core.network.sides import Calibration, ClientSide, Loss, StorageSide
    from kvplan.schema.hardware import Nic
    from kvplan.schema.network import Fabric

DRIVES: Final = "drives"
DRIVE_PCIE: Final = "pcie to drives"
STORAGE_NIC: Final = "storage nic"
STORAGE_CLIENT_NIC: Final = "client nic of the storage node"
LEAF: Final = "leaf"
UPLINK: Final = "uplink"
CLIENT_NIC: Final = "client server nic"
GPU_PCIE: Final = "gpu pcie"

_SLOT_BOUND: Final = "held back by its PCIe slot, not by the line"


class Traffic(NamedTuple):
    """Bytes that pass a segment for each byte that a client reads and writes [1]."""

    read: float
    write: float


class Segment(NamedTuple):
    """One segment: so many instances, their rates [B/s], and the traffic that client bytes make there.

    `adds` tells that reads and writes share both directions, so that their loads add up.
    """

    name: str
    instances: int
    unit_bytes_per_s: float
    unit_planned_bytes_per_s: float
    unit_planned_write_bytes_per_s: float
    traffic: Traffic
    adds: bool
    note: str = ""

    @property
    def read_limit_bytes_per_s(self) -> float:
        """Client bytes that the segment lets through while nobody writes [B/s]."""
        planned = self.instances * self.unit_planned_bytes_per_s
        return planned / self.traffic.read if self.traffic.read else math.inf

    @property
    def write_limit_bytes_per_s(self) -> float:
        """Client bytes that the segment lets through while nobody reads [B/s]."""
        planned = self.instances * self.unit_planned_write_bytes_per_s
        return planned / self.traffic.write if self.traffic.write else math.inf


class _Adapters(NamedTuple):
    """Network adapters of one kind that are left, the ports of each, and their slots' PCIe generation if known."""

    nic: Nic
    cards: int
    ports: int
    slot_generation: int | None = None


@lru_cache(maxsize=1024)
def storage_segments(storage: StorageSide, calibration: Calibration, loss: Loss = NOTHING_LOST) -> tuple[Segment, ...]:
    """Build drives, PCIe to drives, storage NIC and client NIC of the storage nodes, in the order of the path.

    traffic = bytes per client byte x skew, skew = instances left / (groups x instances left in the worst-hit group)

    Parameters
    ----------
    storage
        The storage nodes.
    calibration
        Shares of the rated speeds to count on [1].
    loss
        What is lost; nothing unless given.

    Returns
    -------
    tuple of Segment
        Rates of one instance [B/s] and traffic per client byte [1].

    Notes
    -----
    Data lies evenly over the recovery groups, so the group that is hit by a loss sets the pace: its share of the
    traffic is spread over what it has left. Cached, for many requests share few storage tiers.

    References
    ----------
    IBM Redbook MD260021 for the two calibrated factors; derived otherwise.

    Examples
    --------
    >>> from kvplan.core.network.examples import CALIBRATION, STORAGE
    >>> [round(part.read_limit_bytes_per_s / 1e9) for part in storage_segments(STORAGE, CALIBRATION)]
    [1792, 1831, 366, 315]
    """
    strips = degraded_read_factor(storage.code.data, _lost_share(storage, loss))
    left = storage.nodes - loss.nodes
    skew = _skew(storage, loss)
    # A single storage port takes its whole node along, which `left` counts already.
    storage_loss = loss if storage.storage_ports > 1 else NOTHING_LOST
    storage_nics = _adapters(left, storage.storage_nic, storage.storage_nics, storage_loss)
    client_nics = _adapters(left, storage.client_nic, storage.client_nics, loss)
    return (
        _drives(storage, left, strips, loss),
        _drive_pcie(storage, calibration, left, Traffic(strips * skew, _parity_factor(storage) * skew)),
        _nic(STORAGE_NIC, storage_nics, calibration, storage_traffic(storage, loss), adds=True),
        _nic(STORAGE_CLIENT_NIC, client_nics, calibration, Traffic(skew, skew), adds=False),
    )


def fabric_segments(
    storage: StorageSide, fabric: Fabric, calibration: Calibration, loss: Loss = NOTHING_LOST
) -> tuple[Segment, ...]:
    """Build leaf and uplink.

    traffic of the uplinks = (1 - 1 / leaves) + a x share of the strips that cross; of the leaves = that + 1 + a,
    with a the bytes on the storage network per client byte

    Parameters
    ----------
    storage
        The storage nodes.
    fabric
        The switches between storage nodes and clients.
    calibration
        Shares of the rated speeds to count on [1].
    loss
        What is lost; nothing unless given.

    Returns
    -------
    tuple of Segment
        Rates of one instance [B/s] and traffic per client byte [1].

    Notes
    -----
    A leaf forwards each byte of both networks once, and the bytes that cross the spine a second time. The worst case:
    client traffic is not rail-aligned, and a recovery group is spread over all leaves.

    References
    ----------
    Derived, see `kvplan.core.network.traffic.cross_leaf_share`.

    Examples
    --------
    >>> from kvplan.core.network.examples import CALIBRATION, FABRIC, STORAGE
    >>> [round(part.traffic.read, 3) for part in fabric_segments(STORAGE, FABRIC, CALIBRATION)]
    [2.875, 1.0]
    """
    leaves = fabric.leaf_switches - (1 if loss.leaf_of else 0)
    strips = storage_traffic(storage, loss)
    group = storage.nodes_in_group - loss.group_nodes
    # A client hangs on any one leaf, so that only one read in `leaves` stays there.
    strips_cross, client_cross = cross_leaf_share(group, leaves), 1 - 1 / leaves
    cross = Traffic(client_cross + strips_cross * strips.read, client_cross + strips_cross * strips.write)
    forwarded = Traffic(1 + strips.read + cross.read, 1 + strips.write + cross.write)
    cage = line_bytes_per_s(1, fabric.cage_bits_per_s)
    # Where the legs do not divide by the spines some uplink cages are half cabled: they count by what is cabled.
    cabled = fabric.spine_cages_used * fabric.spine_switches / (fabric.leaf_switches * fabric.uplinks_per_leaf)
    return (
        _line(LEAF, leaves, fabric.cages_per_switch * cage, calibration, forwarded),
        _line(UPLINK, leaves * fabric.uplinks_per_leaf, min(cabled, 1.0) * cage, calibration, cross),
    )


def client_segments(client: ClientSide, calibration: Calibration, loss: Loss = NOTHING_LOST) -> tuple[Segment, ...]:
    """Build the NICs of the client servers and the PCIe links of their GPUs.

    traffic = 1 byte per client byte

    Parameters
    ----------
    client
        The GPU servers.
    calibration
        Shares of the rated speeds to count on [1].
    loss
        What is lost; nothing unless given.

    Returns
    -------
    tuple of Segment
        Rates of one instance [B/s] and traffic per client byte [1].

    Notes
    -----
    Only GPUs of whole engines count. Each rank loads its own part, so all ranks together load a byte once. NICs and
    GPUs sit in slots of the host's PCIe generation, and a link runs at the slower generation of its two ends.

    References
    ----------
    IBM Redbook MD260021: up to 80 GB/s for one client server with 2 x 400 Gb/s.

    Examples
    --------
    >>> from kvplan.core.network.examples import CALIBRATION, CLIENTS
    >>> [round(part.read_limit_bytes_per_s / 1e9) for part in client_segments(CLIENTS, CALIBRATION)]
    [320, 915]
    """
    gpu, host = client.gpu, client.gpu.host_pcie_generation
    nics = _adapters(client.servers, client.nic, gpu.nics_per_server, loss)._replace(slot_generation=host)
    slot = pcie_usable_bytes_per_s(min(gpu.pcie_generation, host), gpu.pcie_lanes, calibration.pcie_share)
    return (
        _nic(CLIENT_NIC, nics, calibration, Traffic(1.0, 1.0), adds=False),
        Segment(GPU_PCIE, client.busy_gpus, slot, slot, slot, Traffic(1.0, 1.0), adds=False),
    )


@lru_cache(maxsize=1024)
def storage_traffic(storage: StorageSide, loss: Loss = NOTHING_LOST) -> Traffic:
    """Count the bytes on the storage network for each byte that a client reads and writes.

    a_r = (N - 1) / N x degraded read factor x skew, a_w = (d + p) / d x (N - 1) / N x skew

    Parameters
    ----------
    storage
        The storage nodes.
    loss
        What is lost; nothing unless given.

    Returns
    -------
    Traffic
        Bytes per client byte read and written [1].

    Notes
    -----
    N counts the nodes that the worst-hit recovery group has left; `skew` as in `storage_segments`.

    References
    ----------
    As `kvplan.core.network.traffic`.

    Examples
    --------
    >>> from kvplan.core.network.examples import STORAGE
    >>> storage_traffic(STORAGE)
    Traffic(read=0.875, write=1.09375)
    """
    group = max(storage.nodes_in_group - loss.group_nodes, 1)
    strips = degraded_read_factor(storage.code.data, _lost_share(storage, loss))
    skew = _skew(storage, loss)
    return Traffic(
        read_traffic(group) * strips * skew,
        write_traffic(group, storage.code.data, storage.code.parity) * skew,
    )


def _lost_share(storage: StorageSide, loss: Loss) -> float:
    """Return the share of strips to be restored in the worst-hit recovery group; none where the code cannot."""
    if not storage.survives(loss.group_nodes):
        return 0.0
    drives = storage.nodes_in_group * storage.drives_per_node
    return (loss.group_nodes * storage.drives_per_node + loss.drives) / drives


def _skew(storage: StorageSide, loss: Loss) -> float:
    """Return how much more than the mean a node of the worst-hit recovery group carries."""
    group = max(storage.nodes_in_group - loss.group_nodes, 1)
    return (storage.nodes - loss.nodes) / (storage.groups * group)


def _parity_factor(storage: StorageSide) -> float:
    """Return the bytes written to drives for each byte a client writes."""
    return storage.code.width / storage.code.data


def _drives(storage: StorageSide, nodes: int, strips: float, loss: Loss) -> Segment:
    """Build the segment of the drives; they are planned at their rated speed."""
    count = nodes * storage.drives_per_node - loss.drives
    in_group = (storage.nodes_in_group - loss.group_nodes) * storage.drives_per_node - loss.drives
    skew = count / (storage.groups * max(in_group, 1))
    read, write = storage.drive.read_bytes_per_s, storage.drive.write_bytes_per_s
    return Segment(DRIVES, count, read, read, write, Traffic(strips * skew, _parity_factor(storage) * skew), adds=True)


def _drive_pcie(storage: StorageSide, calibration: Calibration, nodes: int, traffic: Traffic) -> Segment:
    """Build the segment of the lanes between processor and drives, one instance a node."""
    # A link runs at the slower generation of its two ends, with the fewer lanes.
    generation = min(storage.drive.pcie_generation, storage.server.drive_pcie_generation)
    wanted = storage.drives_per_node * storage.drive.pcie_lanes
    lanes = min(wanted, storage.server.drive_pcie_lanes or wanted)
    rate = pcie_usable_bytes_per_s(generation, lanes, calibration.pcie_share)
    return Segment(DRIVE_PCIE, nodes, rate, rate, rate, traffic, adds=False)


def _adapters(machines: int, nic: Nic, nics: int, loss: Loss) -> _Adapters:
    """Return the adapters that are left when a leaf is lost, one half of the ports of each machine.

    A machine with a single port has it on either leaf: one machine in `leaf_of` is cut off and the others keep all.
    """
    if not loss.leaf_of:
        return _Adapters(nic, machines * nics, nic.ports)
    if nic.ports * nics == 1:
        return _Adapters(nic, machines - ceil_div(machines, loss.leaf_of), 1)
    if nic.ports > 1:
        return _Adapters(nic, machines * nics, nic.ports // 2)
    return _Adapters(nic, machines * (nics // 2), 1)


def _nic(name: str, adapters: _Adapters, calibration: Calibration, traffic: Traffic, *, adds: bool) -> Segment:
    """Build the segment of some network adapters; that of the storage node's client side has its own factor."""
    nic, cards, ports, slot = adapters
    factor = calibration.storage_client_factor if name == STORAGE_CLIENT_NIC else calibration.planning_factor
    usable, planned = (
        nic_usable_bytes_per_s(nic, share, calibration.pcie_share, ports=ports, slot_generation=slot)
        for share in (calibration.line_share, factor)
    )
    slot_bound = planned < nic_line_bytes_per_s(nic, factor, ports=ports)
    note = _SLOT_BOUND if slot_bound else _planned_note(factor)
    return Segment(name, cards, usable, planned, planned, traffic, adds, note)


def _line(name: str, count: int, rate: float, calibration: Calibration, traffic: Traffic) -> Segment:
    """Build a segment of switch ports, in which reads and writes share both directions."""
    factor = calibration.planning_factor
    planned = rate * factor
    return Segment(
        name, count, rate * calibration.line_share, planned, planned, traffic, adds=True, note=_planned_note(factor)
    )


@lru_cache(maxsize=64)
def _planned_note(factor: float) -> str:
    """Say what the planned rate is and why it is less than the line."""
    return f"planned at {factor:.4g} of the line: packet overhead, imbalance and the software path take the rest"
