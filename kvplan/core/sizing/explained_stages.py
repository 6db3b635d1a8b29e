"""How the figures of each network stage come about, stage by stage."""

from __future__ import annotations

from typing import Final, NamedTuple

from kvplan.core.network.segments import (
    CLIENT_NIC,
    DRIVE_PCIE,
    DRIVES,
    GPU_PCIE,
    LEAF,
    STORAGE_CLIENT_NIC,
    STORAGE_NIC,
    UPLINK,
)
from kvplan.schema.plan import Derivation

_PLANNED: Final = "constants.network.planning_factor"
_LINE: Final = ("constants.network.line_share",)
_PCIE: Final = ("constants.network.pcie_share",)
_NODES: Final = "profile.nodes"


class _Stage(NamedTuple):
    """What one instance of a stage is, what is planned of it, and what its traffic per client byte is."""

    instance: str
    counted: tuple[str, ...]
    usable: tuple[str, ...]
    planned: str
    calibration: tuple[str, ...]
    read_traffic: str
    write_traffic: str


_PARITY: Final = "(d + p)/d"
_STRIPS: Final = "(n - 1)/n, n nodes of a recovery group"
_STRIPS_WRITTEN: Final = "(d + p)/d x (n - 1)/n, n nodes of a recovery group"
_WHOLE: Final = "each byte passes once"
_STAGES: Final = {
    DRIVES: _Stage(
        "rated speed of a drive",
        (_NODES, "profile.drives_per_node"),
        (),
        "its rated speed",
        (),
        _WHOLE,
        _PARITY,
    ),
    DRIVE_PCIE: _Stage(
        "PCIe lanes of a node to its drives, after packet headers",
        (_NODES,),
        _PCIE,
        "the same",
        _PCIE,
        _WHOLE,
        _PARITY,
    ),
    STORAGE_NIC: _Stage(
        "line of a storage NIC after packet headers, or its PCIe slot",
        (_NODES,),
        _LINE,
        "line x planning factor",
        (_PLANNED,),
        _STRIPS,
        _STRIPS_WRITTEN,
    ),
    STORAGE_CLIENT_NIC: _Stage(
        "line of a client-side NIC after packet headers, or its PCIe slot",
        (_NODES,),
        _LINE,
        "line x factor measured on the reference system",
        ("constants.network.storage_client_factor",),
        _WHOLE,
        _WHOLE,
    ),
    LEAF: _Stage(
        "all cages of a leaf after packet headers",
        ("network.leaf_switches",),
        _LINE,
        "line x planning factor",
        (_PLANNED,),
        "1 + storage traffic + what crosses the spine a second time",
        "1 + storage traffic + what crosses the spine a second time",
    ),
    UPLINK: _Stage(
        "an uplink cage after packet headers",
        ("network.leaf_switches", "network.uplinks_per_leaf"),
        _LINE,
        "line x planning factor",
        (_PLANNED,),
        "(1 - 1/leaves) + strips that cross leaves, no rail alignment",
        "(1 - 1/leaves) + strips that cross leaves, no rail alignment",
    ),
    CLIENT_NIC: _Stage(
        "line of a client server's NIC after packet headers, or its PCIe slot",
        ("network.client_servers",),
        _LINE,
        "line x planning factor",
        (_PLANNED,),
        _WHOLE,
        _WHOLE,
    ),
    GPU_PCIE: _Stage(
        "PCIe link of a GPU after packet headers",
        ("request.gpus",),
        _PCIE,
        "the same",
        _PCIE,
        _WHOLE,
        _WHOLE,
    ),
}


def _entries(name: str, stage: _Stage) -> dict[str, Derivation]:
    """Explain the fields of one stage in the normal state."""
    path = f"network.stages[{name}]"
    load = (f"{path}.load_bytes_per_s", f"{path}.write_load_bytes_per_s", f"{path}.planned_bytes_per_s")
    return {
        f"{path}.count": Derivation(formula="instances", unit="count", inputs=stage.counted),
        f"{path}.capacity_bytes_per_s": Derivation(
            formula=f"count x {stage.instance}", unit="B/s", inputs=(f"{path}.count", *stage.usable)
        ),
        f"{path}.planned_bytes_per_s": Derivation(
            formula=f"count x {stage.planned}", unit="B/s", inputs=(f"{path}.count", *stage.calibration)
        ),
        f"{path}.read_traffic": Derivation(formula=stage.read_traffic, unit="B/B"),
        f"{path}.write_traffic": Derivation(formula=stage.write_traffic, unit="B/B"),
        f"{path}.load_bytes_per_s": Derivation(
            formula="read demand x read_traffic",
            unit="B/s",
            inputs=("demand.read_bytes_per_s", f"{path}.read_traffic"),
        ),
        f"{path}.write_load_bytes_per_s": Derivation(
            formula="write demand x write_traffic",
            unit="B/s",
            inputs=("demand.write_bytes_per_s", f"{path}.write_traffic"),
        ),
        f"{path}.utilisation": Derivation(
            formula="the larger of read load and write load over planned", unit="ratio", inputs=load
        ),
    }


STAGE_DERIVATIONS: Final[dict[str, Derivation]] = {
    path: entry for name, stage in _STAGES.items() for path, entry in _entries(name, stage).items()
}
"""Explanations by path, such as `network.stages[uplink].load_bytes_per_s`."""
