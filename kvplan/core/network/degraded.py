"""The read path with one drive, one node or one leaf lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kvplan.core.arithmetic import ceil_div
from kvplan.core.network.segments import DRIVES, STORAGE_NIC
from kvplan.core.network.sides import NOTHING_LOST, Loss
from kvplan.core.network.stages import TierRates, path_rates, segments, under_load
from kvplan.schema.network import Degraded, StagesState

if TYPE_CHECKING:
    from kvplan.core.network.sides import Calibration, ClientSide, StorageSide
    from kvplan.schema.network import Fabric

DRIVE_LOSS: Final = Loss(drives=1)
NODE_LOSS: Final = Loss(nodes=1, group_nodes=1)


class LoadedPath(NamedTuple):
    """Both ends of the path, the switches between, and the demand on it [B/s]."""

    storage: StorageSide
    client: ClientSide
    fabric: Fabric
    calibration: Calibration
    read_bytes_per_s: float
    write_bytes_per_s: float


def leaf_loss(storage: StorageSide, leaves: int) -> Loss:
    """Work out what goes with one leaf switch.

    nodes cut off = ceil(nodes / leaves) with a single storage port a node, else none

    Parameters
    ----------
    storage
        The storage nodes.
    leaves
        Leaf switches of the fabric [1].

    Returns
    -------
    Loss
        The leaf [1], and the nodes that it cuts off [1].

    Notes
    -----
    The nodes of a recovery group are spread evenly over the leaves, single ports alternating. With two ports a node
    keeps half of its bandwidth, and since every stripe needs the nodes on the lost leaf, they set the pace for all.

    References
    ----------
    Derived.

    Examples
    --------
    >>> from kvplan.core.network.examples import STORAGE
    >>> leaf_loss(STORAGE, 2)
    Loss(drives=0, nodes=4, group_nodes=4, leaf_of=2)
    """
    if storage.storage_ports > 1:
        return Loss(leaf_of=leaves)
    nodes, group_nodes = ceil_div(storage.nodes, leaves), ceil_div(storage.nodes_in_group, leaves)
    return Loss(nodes=nodes, group_nodes=group_nodes, leaf_of=leaves)


def degraded(path: LoadedPath) -> Degraded:
    """Judge the path with one drive, one node and one leaf lost.

    rate = min over stages (what is left of the planned rate / traffic per client byte while strips are missing)

    Parameters
    ----------
    path
        Both ends, the switches, the calibrations [1] and the demand [B/s].

    Returns
    -------
    Degraded
        Stages, binding stage and the client bytes let through [B/s] in each of the three states.

    Notes
    -----
    Before any rebuild, and without the traffic of one. Lost strips cost up to d strip reads each. Where more strips
    are lost than the code restores nothing is delivered, whatever the stages could carry.

    References
    ----------
    As `kvplan.core.network.stages`.

    Examples
    --------
    >>> from kvplan.core.network.examples import CALIBRATION, CLIENTS, FABRIC, STORAGE
    >>> states = degraded(LoadedPath(STORAGE, CLIENTS, FABRIC, CALIBRATION, 150e9, 0.0))
    >>> states.drive.binding_stage, states.node.binding_stage, states.leaf.read_bytes_per_s
    ('client nic of the storage node', 'storage nic', 0.0)
    """
    storage = path.storage
    leaf = leaf_loss(storage, path.fabric.leaf_switches)
    return Degraded(
        drive=state(path, DRIVE_LOSS, _drive_text(storage)),
        node=state(path, NODE_LOSS, _node_text(storage), culprit=DRIVES),
        leaf=state(path, leaf, _leaf_text(storage, leaf), culprit=STORAGE_NIC),
    )


def state(path: LoadedPath, loss: Loss = NOTHING_LOST, text: str = "", *, culprit: str = DRIVES) -> StagesState:
    """Judge the path in one state.

    rate = min over all eight stages (planned rate / traffic per client byte)

    Parameters
    ----------
    path
        Both ends, the switches, the calibrations [1] and the demand [B/s].
    loss
        What is lost; nothing unless given.
    text
        What to say of the state.
    culprit
        Stage to name when the erasure code does not survive the loss.

    Returns
    -------
    StagesState
        Stages under the demand, the one that binds, and client bytes let through [B/s].

    Notes
    -----
    Reading and writing are each let through while nobody does the other.

    References
    ----------
    As `kvplan.core.network.stages`.

    Examples
    --------
    >>> from kvplan.core.network.examples import CALIBRATION, CLIENTS, FABRIC, STORAGE
    >>> normal = state(LoadedPath(STORAGE, CLIENTS, FABRIC, CALIBRATION, 150e9, 0.0))
    >>> normal.binding_stage, round(normal.read_bytes_per_s / 1e9, 1)
    ('client nic of the storage node', 315.0)
    """
    parts = segments(path.storage, path.client, path.fabric, path.calibration, loss)
    loaded = under_load(parts, path.read_bytes_per_s, path.write_bytes_per_s)
    survived = path.storage.survives(loss.group_nodes)
    rates = path_rates(parts) if survived else TierRates(0.0, 0.0, culprit)
    return StagesState(
        binding_stage=rates.binding_stage,
        read_bytes_per_s=rates.read_bytes_per_s,
        write_bytes_per_s=rates.write_bytes_per_s,
        stages=loaded,
        text=text,
    )


def _drive_text(storage: StorageSide) -> str:
    """Say what one lost drive does."""
    drives = storage.nodes * storage.drives_per_node
    return f"1 of {drives:,} drives lost: until rebuilt, each of its strips costs up to {storage.code.data} strip reads"


def _node_text(storage: StorageSide) -> str:
    """Say what one lost node does."""
    lost = f"1 of {storage.nodes} nodes lost: "
    if not storage.survives(1):
        return f"{lost}{storage.code.name} on {storage.nodes_in_group} nodes does not survive it, nothing is served"
    return f"{lost}until rebuilt, each of its strips costs up to {storage.code.data} strip reads from the others"


def _leaf_text(storage: StorageSide, loss: Loss) -> str:
    """Say what one lost leaf does, by the storage ports of a node and by what the erasure code survives."""
    lost = f"1 of {loss.leaf_of} leaves lost: "
    if storage.storage_ports > 1:
        return f"{lost}its storage nodes and clients keep half of their ports and set the pace"
    cut = f"{lost}{loss.nodes} of {storage.nodes} nodes lose the storage network altogether"
    if storage.survives(loss.group_nodes):
        return f"{cut} (single-port storage NIC) and the others serve for them"
    return (
        f"{cut} (single-port storage NIC), more than {storage.code.name} survives: nothing is served "
        "unless the storage network falls back to the client NIC; a dual-port storage NIC keeps half"
    )
