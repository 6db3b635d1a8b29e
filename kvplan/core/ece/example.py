"""The reference system as a geometry, for the examples in docstrings."""

from __future__ import annotations

from typing import Final

from kvplan.core.ece.codes import CODES, ErasureCode
from kvplan.core.ece.layout import GeometryInput
from kvplan.schema.software import StorageRelease
from kvplan.units import MIB

EXAMPLE: Final = GeometryInput(
    nodes=8,
    drives_per_node=16,
    drive_bytes=7_680_000_000_000,
    code=ErasureCode(8, 2),
    block_bytes=4 * MIB,
    spare_pdisks=None,
    release=StorageRelease(
        id="scale-6.0.0.1",
        version="6.0.0.1",
        source="IBM Redbook MD260021; IBM docs storage-scale-ece, nodes in a recovery group",
        confidence="vendor",
        min_servers_per_recovery_group=3,
        max_servers_per_recovery_group=32,
        max_pdisks_per_recovery_group=512,
        max_drives_per_server=64,
        max_servers=256,
        warn_servers=128,
        rack_failure_domains=False,
        erasure_codes=tuple(code.name for code in CODES),
    ),
)
"""The reference system of IBM Redbook MD260021 with the block size that IBM advises on flash."""
