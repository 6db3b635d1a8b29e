"""The published reference system as records, for the examples in docstrings and for tests.

References
----------
IBM Redbook MD260021: eight Supermicro ASG-1115S-NE316R with 16 drives of 7.68 TB, a BlueField-3 B3220 towards the
clients and a ConnectX-7 400G between the nodes, Spectrum-X SN5600 switches, client servers with two B3140H.
"""

from __future__ import annotations

from typing import Final

from kvplan.core.ece.codes import ErasureCode
from kvplan.core.network.leafspine import Ports, fabric
from kvplan.core.network.sides import Calibration, ClientSide, StorageSide
from kvplan.schema.hardware import Drive, Gpu, Nic, Server, Switch

CALIBRATION: Final = Calibration(planning_factor=0.80, storage_client_factor=0.7875, line_share=0.98, pcie_share=0.908)

SWITCH: Final = Switch(
    id="sn5600",
    vendor="NVIDIA",
    cages=64,
    cage_bits_per_s=800e9,
    breakout_legs={"800G": 1, "400G": 2, "200G": 4},
    rack_units=2,
    source="NVIDIA Cumulus Linux 5.15 documentation, Switch Port Attributes",
    confidence="vendor",
)

B3220: Final = Nic(
    id="b3220",
    vendor="NVIDIA",
    ports=2,
    port_bits_per_s=200e9,
    connector="QSFP112",
    pcie_generation=5,
    pcie_lanes=16,
    source="NVIDIA BlueField-3 user manual",
    confidence="vendor",
)

CONNECTX7: Final = Nic(
    id="cx7-400g",
    vendor="NVIDIA",
    part_number="MCX715105AS-WEAT",
    ports=1,
    port_bits_per_s=400e9,
    connector="QSFP112",
    pcie_generation=5,
    pcie_lanes=16,
    source="NVIDIA ConnectX-7 user manual",
    confidence="vendor",
)

B3140H: Final = Nic(
    id="b3140h",
    vendor="NVIDIA",
    ports=1,
    port_bits_per_s=400e9,
    connector="QSFP112",
    pcie_generation=5,
    pcie_lanes=16,
    source="NVIDIA BlueField-3 user manual",
    confidence="vendor",
)

STORAGE: Final = StorageSide(
    nodes=8,
    nodes_in_group=8,
    drives_per_node=16,
    drive=Drive(
        id="micron-9550-7.68",
        vendor="Micron",
        capacity_bytes=7_680_000_000_000,
        pcie_generation=5,
        read_bytes_per_s=14e9,
        write_bytes_per_s=10e9,
        drive_writes_per_day=1,
        source="Micron 9550 PRO product brief",
        confidence="vendor",
    ),
    server=Server(
        id="asg-1115s-ne316r",
        vendor="Supermicro",
        role="storage",
        rack_units=1,
        drive_bays=16,
        drive_pcie_generation=5,
        drive_pcie_lanes=64,
        network_pcie_lanes=64,
        source="Supermicro ASG-1115S-NE316R data sheet",
        confidence="vendor",
    ),
    client_nic=B3220,
    client_nics=1,
    storage_nic=CONNECTX7,
    storage_nics=1,
    code=ErasureCode(8, 2),
)

CLIENTS: Final = ClientSide(
    gpus=16,
    gpu=Gpu(
        id="rtx-pro-6000",
        vendor="NVIDIA",
        memory_bytes=97_887 * 2**20,
        memory_bandwidth_bytes_per_s=1.792e12,
        pcie_generation=5,
        pcie_lanes=16,
        gpus_per_server=4,
        nic="b3140h",
        nics_per_server=2,
        source="NVIDIA RTX PRO 6000 Blackwell data sheet; Supermicro SYS-212GB-FNR data sheet",
        confidence="vendor",
    ),
    nic=B3140H,
    tp=4,
)

FABRIC: Final = fabric(Ports(8, 2, 200e9), Ports(8, 1, 400e9), Ports(4, 2, 400e9), SWITCH)
