"""The stages of the read path under a demand, the stage that binds, and what a storage tier delivers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from kvplan.core.network.segments import Segment, client_segments, fabric_segments, storage_segments
from kvplan.core.network.sides import NOTHING_LOST, Calibration, ClientSide, Loss, StorageSide
from kvplan.schema.network import Stage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.schema.network import Fabric


@dataclass(frozen=True, slots=True)
class TierRates:
    """Client bytes that some stages let through, reading and writing each alone [B/s], and what binds the reading."""

    read_bytes_per_s: float
    write_bytes_per_s: float
    binding_stage: str


@lru_cache(maxsize=2048)
def segments(
    storage: StorageSide, client: ClientSide, fabric: Fabric, calibration: Calibration, loss: Loss = NOTHING_LOST
) -> tuple[Segment, ...]:
    """Build the eight segments of the path, from drive to GPU.

    Parameters
    ----------
    storage
        The storage nodes.
    client
        The GPU servers.
    fabric
        The switches between them.
    calibration
        Shares of the rated speeds to count on [1].
    loss
        What is lost; nothing unless given.

    Returns
    -------
    tuple of Segment
        Rates [B/s] and traffic factors [1], before any demand.

    Notes
    -----
    Strips lie evenly over nodes and drives, clients load all nodes alike, and the worst case holds for what crosses
    the spine.

    References
    ----------
    IBM Redbook MD260021 for the two calibrated factors; derived otherwise.

    Examples
    --------
    >>> from kvplan.core.network.examples import CALIBRATION, CLIENTS, FABRIC, STORAGE
    >>> [segment.instances for segment in segments(STORAGE, CLIENTS, FABRIC, CALIBRATION)]
    [128, 8, 8, 8, 2, 12, 8, 16]
    """
    return (
        *storage_segments(storage, calibration, loss),
        *fabric_segments(storage, fabric, calibration, loss),
        *client_segments(client, calibration, loss),
    )


def under_load(path: Sequence[Segment], read_bytes_per_s: float, write_bytes_per_s: float) -> tuple[Stage, ...]:
    """Lay a demand on some segments of the path.

    utilisation = max(read load / planned, write load / planned), load = demand x traffic of the segment per client byte

    Parameters
    ----------
    path
        Segments, rates in [B/s].
    read_bytes_per_s
        What the clients read [B/s].
    write_bytes_per_s
        What the clients write [B/s].

    Returns
    -------
    tuple of Stage
        One stage for each segment, in the same order, rates in [B/s].

    Notes
    -----
    Reads and writes are judged each alone; `combined_utilisation` adds them where they share a direction. A segment of
    which nothing is left has utilisation 0, for want of a finite one; `binding_stage` names it all the same.

    References
    ----------
    As `segments`.

    Examples
    --------
    >>> from kvplan.core.network.examples import CALIBRATION, CLIENTS, FABRIC, STORAGE
    >>> for stage in under_load(segments(STORAGE, CLIENTS, FABRIC, CALIBRATION), 150e9, 0.0):
    ...     print(f"{stage.name}: {stage.load_bytes_per_s / 1e9:.1f} of {stage.planned_bytes_per_s / 1e9:.1f} GB/s")
    drives: 150.0 of 1792.0 GB/s
    pcie to drives: 150.0 of 1831.0 GB/s
    storage nic: 131.2 of 320.0 GB/s
    client nic of the storage node: 150.0 of 315.0 GB/s
    leaf: 431.2 of 10240.0 GB/s
    uplink: 150.0 of 960.0 GB/s
    client server nic: 150.0 of 320.0 GB/s
    gpu pcie: 150.0 of 915.5 GB/s
    """
    return tuple(_stage(segment, read_bytes_per_s, write_bytes_per_s) for segment in path)


def binding_stage(path: Sequence[Segment]) -> str:
    """Name the segment that lets the least client bytes through reading, of several the earliest in the path.

    binding = argmin over segments (planned rate / traffic per byte read)

    Parameters
    ----------
    path
        Segments in the order of the path, with rates [B/s] and traffic per client byte [1].

    Returns
    -------
    str
        Name of the segment; what it lets through [B/s] is what the path reads.

    Notes
    -----
    Reading only: the guidance's demand is a read rate, and writes rest on an assumed hit share. A segment of which
    nothing is left lets nothing through, so it binds.

    References
    ----------
    Definition.

    Examples
    --------
    >>> from kvplan.core.network.examples import CALIBRATION, CLIENTS, FABRIC, STORAGE
    >>> binding_stage(segments(STORAGE, CLIENTS, FABRIC, CALIBRATION))
    'client nic of the storage node'
    """
    return min(path, key=lambda segment: segment.read_limit_bytes_per_s).name


def path_rates(path: Sequence[Segment]) -> TierRates:
    """Work out what some segments let through, reading and writing each alone.

    rate = min over segments (planned rate / traffic per client byte)

    Parameters
    ----------
    path
        Segments in the order of the path, with rates [B/s] and traffic per client byte [1].

    Returns
    -------
    TierRates
        Client bytes read and written [B/s], and the segment that binds the reading.

    Notes
    -----
    Whether the erasure code survives what is lost is another matter.

    References
    ----------
    Definition.

    Examples
    --------
    >>> from kvplan.core.network.examples import CALIBRATION, CLIENTS, FABRIC, STORAGE
    >>> path_rates(segments(STORAGE, CLIENTS, FABRIC, CALIBRATION)).binding_stage
    'client nic of the storage node'
    """
    return TierRates(
        min(segment.read_limit_bytes_per_s for segment in path),
        min(segment.write_limit_bytes_per_s for segment in path),
        binding_stage(path),
    )


def tier_rates(storage: StorageSide, calibration: Calibration, loss: Loss = NOTHING_LOST) -> TierRates:
    """Work out what a storage tier is planned to read and write: what the stages inside its nodes let through.

    rate = min over stages (planned rate / traffic per client byte)

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
    TierRates
        Reading and writing, each while nobody does the other [B/s], and the stage that binds the reading.

    Notes
    -----
    Drives, PCIe to drives, storage NIC and client NIC only: whether switches and clients take it is another matter.
    After a loss that the erasure code does not survive both rates are 0.

    References
    ----------
    IBM Redbook MD260021: 315 GB/s of eight nodes, 39.4 GB/s of one.

    Examples
    --------
    >>> from kvplan.core.network.examples import CALIBRATION, STORAGE
    >>> rates = tier_rates(STORAGE, CALIBRATION)
    >>> round(rates.read_bytes_per_s / 1e9, 1), round(rates.write_bytes_per_s / 1e9, 1), rates.binding_stage
    (315.0, 292.6, 'client nic of the storage node')
    """
    rates = path_rates(storage_segments(storage, calibration, loss))
    return rates if storage.survives(loss.group_nodes) else TierRates(0.0, 0.0, rates.binding_stage)


# A loss leaves most segments as they were, so the degraded states share the stages of the normal one.
@lru_cache(maxsize=64)
def _stage(segment: Segment, read_bytes_per_s: float, write_bytes_per_s: float) -> Stage:
    """Lay a demand on one segment."""
    planned = segment.instances * segment.unit_planned_bytes_per_s
    planned_write = segment.instances * segment.unit_planned_write_bytes_per_s
    load, write_load = read_bytes_per_s * segment.traffic.read, write_bytes_per_s * segment.traffic.write
    # A stage that is lost altogether has no finite utilisation; `binding_stage` names it all the same.
    reading = load / planned if planned else 0.0
    writing = write_load / planned_write if planned_write else 0.0
    utilisation = max(reading, writing)
    return Stage(
        name=segment.name,
        count=segment.instances,
        capacity_bytes_per_s=segment.instances * segment.unit_bytes_per_s,
        planned_bytes_per_s=planned,
        read_traffic=segment.traffic.read,
        write_traffic=segment.traffic.write,
        load_bytes_per_s=load,
        write_load_bytes_per_s=write_load,
        utilisation=utilisation,
        planned_write_bytes_per_s=None if planned_write == planned else planned_write,
        combined_utilisation=reading + writing if segment.adds else utilisation,
        note=segment.note,
    )
