"""The network section of a Plan: stages, losses and switches in one record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.network.degraded import LoadedPath, degraded, state
from kvplan.core.network.leafspine import Ports, fabric
from kvplan.core.network.notes import adapter_notes
from kvplan.core.network.segments import client_segments
from kvplan.schema.network import NetworkBudget

if TYPE_CHECKING:
    from kvplan.core.network.sides import Calibration, ClientSide, StorageSide
    from kvplan.schema.hardware import Switch
    from kvplan.schema.network import Fabric


def network_budget(
    storage: StorageSide,
    client: ClientSide,
    calibration: Calibration,
    switch: Switch,
    read_bytes_per_s: float,
    write_bytes_per_s: float,
    oversubscription: float = 1.0,
) -> NetworkBudget:
    """Work out the whole network budget of a tier and its clients.

    utilisation = demand x traffic of a stage per client byte / planned rate of the stage

    Parameters
    ----------
    storage
        The storage nodes.
    client
        The GPU servers.
    calibration
        Shares of the rated speeds to count on [1].
    switch
        Catalogue row of the switch, the same for leaf and spine.
    read_bytes_per_s
        What the clients read [B/s].
    write_bytes_per_s
        What the clients write [B/s].
    oversubscription
        Bandwidth down over bandwidth up of a leaf that is accepted [1].

    Returns
    -------
    NetworkBudget
        Stages and binding stage [B/s], degraded states, and switch counts [1].

    Raises
    ------
    InputError
        When the switch cannot hold the ports.

    Notes
    -----
    As `kvplan.core.network.stages`, `.degraded` and `.leafspine`.

    References
    ----------
    IBM Redbook MD260021: 315 GB/s from eight nodes, 80 GB/s into one client server, three switches.

    Examples
    --------
    >>> from kvplan.core.network.examples import CALIBRATION, CLIENTS, STORAGE, SWITCH
    >>> budget = network_budget(STORAGE, CLIENTS, CALIBRATION, SWITCH, 150e9, 0.0)
    >>> budget.binding_stage, budget.client_planned_bytes_per_s / 1e9
    ('client nic of the storage node', 80.0)
    >>> budget.leaf_switches + budget.spine_switches
    3
    """
    switches = fabric_of(storage, client, switch, oversubscription)
    path = LoadedPath(storage, client, switches, calibration, read_bytes_per_s, write_bytes_per_s)
    normal = state(path)
    return NetworkBudget(
        stages=normal.stages,
        binding_stage=normal.binding_stage,
        degraded=degraded(path),
        client_servers=client.servers,
        client_planned_bytes_per_s=client_planned_bytes_per_s(client, calibration),
        leaf_switches=switches.leaf_switches,
        spine_switches=switches.spine_switches,
        super_spine_switches=switches.super_spine_switches,
        uplinks_per_leaf=switches.uplinks_per_leaf,
        cages_down_per_leaf=switches.cages_down_per_leaf,
        spine_cages_used=switches.spine_cages_used,
        inter_switch_cables=switches.inter_switch_cables,
        oversubscription=switches.oversubscription,
        super_spine_needed=switches.super_spine_needed,
        notes=(*switches.notes, *adapter_notes(storage, client.nic)),
        read_bytes_per_s=normal.read_bytes_per_s,
        write_bytes_per_s=normal.write_bytes_per_s,
    )


def client_planned_bytes_per_s(client: ClientSide, calibration: Calibration) -> float:
    """Network rate that one client server is planned for.

    rate = NICs x min(line rate x planning factor, slot rate x pcie share)

    Parameters
    ----------
    client
        The GPU servers.
    calibration
        Shares of the rated speeds to count on [1].

    Returns
    -------
    float
        Planned rate of one server, one direction [B/s].

    Notes
    -----
    Each NIC sits in a slot of its own, of the host's PCIe generation.

    References
    ----------
    IBM Redbook MD260021: up to 80 GB/s for one client server with 2 x 400 Gb/s.

    Examples
    --------
    >>> from kvplan.core.network.examples import CALIBRATION, CLIENTS
    >>> client_planned_bytes_per_s(CLIENTS, CALIBRATION) / 1e9
    80.0
    """
    adapters, _ = client_segments(client, calibration)
    return client.gpu.nics_per_server * adapters.unit_planned_bytes_per_s


def fabric_of(storage: StorageSide, client: ClientSide, switch: Switch, oversubscription: float = 1.0) -> Fabric:
    """Lay out the switches that a tier and its clients need.

    ports of a machine = NICs x ports of a NIC, see `kvplan.core.network.leafspine.fabric`

    Parameters
    ----------
    storage
        The storage nodes.
    client
        The GPU servers.
    switch
        Catalogue row of the switch, the same for leaf and spine.
    oversubscription
        Bandwidth down over bandwidth up of a leaf that is accepted [1].

    Returns
    -------
    Fabric
        Counts of switches, cages and cables [1].

    Notes
    -----
    Both networks of the storage nodes and all clients share the leaves.

    References
    ----------
    As `kvplan.core.network.leafspine.fabric`.

    Examples
    --------
    >>> from kvplan.core.network.examples import CLIENTS, STORAGE, SWITCH
    >>> fabric_of(STORAGE, CLIENTS, SWITCH).inter_switch_cables
    12
    """
    return fabric(
        Ports(storage.nodes, storage.client_ports, storage.client_nic.port_bits_per_s),
        Ports(storage.nodes, storage.storage_ports, storage.storage_nic.port_bits_per_s),
        Ports(client.servers, client.ports, client.nic.port_bits_per_s),
        switch,
        oversubscription,
    )
