"""The two ends of the read path, the calibrations, and what may be lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kvplan.core.arithmetic import ceil_div
from kvplan.core.ece.strips import node_failures

if TYPE_CHECKING:
    from kvplan.core.ece.codes import ErasureCode
    from kvplan.schema.hardware import Drive, Gpu, Nic, Server


@dataclass(frozen=True, slots=True)
class Calibration:
    """How much of a rated speed may be counted on, each a share [1] from the catalogue's constants.

    Attributes
    ----------
    planning_factor
        Of the line rate, on every network stage but one.
    storage_client_factor
        Of the line rate, on the client NIC of the storage node.
    line_share
        Of the line rate, left by packet headers.
    pcie_share
        Of the PCIe rate, left by packet headers.
    """

    planning_factor: float
    storage_client_factor: float
    line_share: float
    pcie_share: float


@dataclass(frozen=True, slots=True)
class StorageSide:
    """The storage nodes: how many, what is in one, and the erasure code across them.

    `nodes_in_group` is the size of a recovery group, the smallest where they differ.
    """

    nodes: int
    nodes_in_group: int
    drives_per_node: int
    drive: Drive
    server: Server
    client_nic: Nic
    client_nics: int
    storage_nic: Nic
    storage_nics: int
    code: ErasureCode

    @property
    def groups(self) -> float:
        """Recovery groups of that size [1]; a fraction where the nodes do not divide evenly."""
        return self.nodes / self.nodes_in_group

    @property
    def storage_ports(self) -> int:
        """Ports of one node in the storage network [1]."""
        return self.storage_nic.ports * self.storage_nics

    @property
    def client_ports(self) -> int:
        """Ports of one node towards the clients [1]."""
        return self.client_nic.ports * self.client_nics

    def survives(self, group_nodes_lost: int) -> bool:
        """Tell whether data stays readable with so many nodes of one recovery group lost."""
        return group_nodes_lost <= node_failures(self.code, self.nodes_in_group)


@dataclass(frozen=True, slots=True)
class ClientSide:
    """The GPU servers: GPUs in all, their kind, the NIC of their servers, and how many GPUs make one engine."""

    gpus: int
    gpu: Gpu
    nic: Nic
    tp: int

    @property
    def servers(self) -> int:
        """Client servers that the GPUs fill [1]."""
        return ceil_div(self.gpus, self.gpu.gpus_per_server)

    @property
    def busy_gpus(self) -> int:
        """GPUs that belong to a whole engine [1]; all of them where not even one engine is complete."""
        return self.gpus // self.tp * self.tp or self.gpus

    @property
    def ports(self) -> int:
        """Fabric ports of one client server [1]."""
        return self.nic.ports * self.gpu.nics_per_server


@dataclass(frozen=True, slots=True)
class Loss:
    """What of the path is lost.

    Attributes
    ----------
    drives
        Drives of one recovery group [1].
    nodes
        Storage nodes in all [1].
    group_nodes
        Storage nodes of the recovery group that is hit worst [1].
    leaf_of
        One leaf out of so many is lost [1]; 0 while all leaves stand.
    """

    drives: int = 0
    nodes: int = 0
    group_nodes: int = 0
    leaf_of: int = 0


NOTHING_LOST: Final = Loss()
"""The normal state."""
