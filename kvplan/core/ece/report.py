"""The geometry calculator on its own, with rebuild time and endurance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.ece.codes import parse_code
from kvplan.core.ece.endurance import endurance
from kvplan.core.ece.geometry import geometry
from kvplan.core.ece.layout import GeometryInput
from kvplan.core.ece.rebuild import rebuild
from kvplan.schema.reports import EceReport
from kvplan.units import MIB

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvplan.schema.base import Constant
    from kvplan.schema.reports import EceRequest
    from kvplan.schema.software import StorageRelease


def ece_report(request: EceRequest, release: StorageRelease, constants: Mapping[str, Constant]) -> EceReport:
    """Work out an erasure code over nodes and drives.

    Parameters
    ----------
    request
        Nodes, drives [1], drive size [B], code, block size [MiB], spares [pdisks].
    release
        The storage software release whose limits apply.
    constants
        Calibrations for rebuild and endurance.

    Returns
    -------
    EceReport
        Capacity [B], tolerance, limits, rebuild time [s] and endurance.

    Examples
    --------
    >>> from kvplan import load_catalogue
    >>> from kvplan.schema.reports import EceRequest
    >>> tables = load_catalogue()
    >>> asked = EceRequest(nodes=8, drives_per_node=16, drive_bytes=7_680_000_000_000, erasure_code="8+2P", block_mib=4)
    >>> report = ece_report(asked, tables.release(asked.release), tables.constants())
    >>> round(report.usable_bytes / 1e12), report.fault_tolerance.node_failures
    (744, 1)

    References
    ----------
    IBM SpectrumScaleTools gnr_capacity_estimator 1.3 (tsgnrplan logic); IBM documentation on fault tolerance of ECE.
    """
    code = parse_code(request.erasure_code)
    layout = geometry(
        GeometryInput(
            nodes=request.nodes,
            drives_per_node=request.drives_per_node,
            drive_bytes=request.drive_bytes,
            code=code,
            block_bytes=request.block_mib * MIB,
            spare_pdisks=request.spare_pdisks,
            release=release,
            set_size_percent=request.set_size_percent,
        )
    )
    return EceReport(
        **dict(layout),
        rebuild=rebuild(
            code,
            nodes=layout.nodes_per_recovery_group[-1],
            drives_per_node=request.drives_per_node,
            drive_bytes=request.drive_bytes,
            storage_nic_bytes_per_s=request.nic_bits_per_s / 8 * constants["network.line_share"].value,
            network_share=constants["rebuild.network_share"].value,
        ),
        endurance=endurance(
            layout.raw_bytes,
            code,
            request.rated_drive_writes_per_day,
            request.write_bytes_per_s,
            constants["endurance.write_amplification"].value,
        ),
    )
