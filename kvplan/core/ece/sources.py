"""Where the limits of this package come from, named once."""

from __future__ import annotations

from typing import Final

ESTIMATOR: Final = "IBM SpectrumScaleTools ece_capacity_estimator/gnr_capacity_estimator.py 1.3"
HARDWARE_CHECK: Final = "IBM SpectrumScaleTools ece_os_readiness/HW_requirements.json 1.8"
OVERVIEW_CHECK: Final = "IBM SpectrumScaleTools ece_os_overview/mor_overview.py 2.00"
CODE_SELECTION: Final = "https://www.ibm.com/docs/en/storage-scale-ece/5.2.3?topic=selection-recommendations"
ONE_STRIP_A_NODE: Final = "derived: one strip a node; IBM publishes no row for 16+xP"
ARRAY_WIDTH: Final = "https://www.ibm.com/docs/en/storage-scale-ece/6.0.0?topic=disks-virtual"
RACKS: Final = (
    "https://www.ibm.com/docs/en/storage-scale-ece/6.0.1?topic=selection-noderack-distribution-considerations"
)
VDISK_ATTRIBUTES: Final = (
    "https://www.ibm.com/docs/en/storage-scale-ece/6.0.0?topic=management-elements-vdisk-set-definition"
)
BLOCK_RANGE: Final = (
    "mmvdisk manual page of 6.0.0.2 as quoted in threen134/cloudland docs/architecture/plan/shared-storage-design.md"
)
FLASH_ADVICE: Final = "IBM Spectrum Scale ECE 5.0.3 documentation, minimum hardware requirements"
