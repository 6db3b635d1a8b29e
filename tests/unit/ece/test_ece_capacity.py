"""Capacity against IBM's estimator: its printed example, the reference drives, and a spread of everything else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kvplan.core.ece.codes import parse_code
from kvplan.core.ece.example import EXAMPLE
from kvplan.core.ece.geometry import geometry
from kvplan.core.ece.partitions import data_partitions, partition_bytes, partitions_per_pdisk
from kvplan.core.ece.spares import default_spare_pdisks
from kvplan.core.ece.tracks import checksum_granularity_bytes, raw_strip_bytes, vdisk_data_bytes
from kvplan.units import GIB, KIB, MIB

# Code, block MiB, nodes, drives per node, drive TB, usable TB: computed with IBM SpectrumScaleTools
# ece_capacity_estimator/gnr_capacity_estimator.py 1.3, disk type ssd, default spares, set size 100 %.
REFERENCE_DRIVES = (
    ("4+2P", 4, 4, 16, 7.68, 308.7),
    ("4+2P", 4, 6, 16, 7.68, 470.7),
    ("4+3P", 4, 6, 16, 7.68, 403.3),
    ("4+3P", 4, 7, 16, 7.68, 470.5),
    ("4+3P", 4, 8, 16, 7.68, 537.8),
    ("8+2P", 4, 8, 16, 7.68, 744.5),
    ("8+2P", 8, 8, 16, 7.68, 753.0),
    ("8+3P", 4, 8, 16, 7.68, 676.3),
    ("8+3P", 8, 8, 16, 7.68, 684.0),
    ("8+2P", 8, 10, 16, 7.68, 941.2),
    ("8+3P", 8, 11, 16, 7.68, 940.5),
    ("8+2P", 8, 12, 16, 7.68, 1129.4),
    ("16+3P", 4, 16, 16, 7.68, 1567.0),
    ("16+3P", 8, 16, 16, 7.68, 1578.6),
    ("16+3P", 16, 16, 16, 7.68, 1584.3),
    ("16+2P", 8, 16, 16, 7.68, 1665.8),
    ("8+3P", 8, 16, 16, 7.68, 1367.9),
    ("16+3P", 8, 19, 16, 7.68, 1874.5),
    ("16+3P", 8, 20, 16, 7.68, 1973.2),
    ("16+3P", 8, 24, 16, 7.68, 2367.8),
    ("16+3P", 8, 32, 16, 7.68, 3157.1),
)
SPREAD = (
    ("4+2P", 1, 4, 16, 3.84, 152.1),
    ("4+2P", 1, 12, 16, 3.84, 463.9),
    ("4+2P", 2, 32, 16, 3.84, 1236.6),
    ("4+2P", 2, 8, 12, 7.68, 459.6),
    ("4+2P", 4, 24, 16, 7.68, 1882.7),
    ("4+2P", 4, 5, 10, 7.68, 237.4),
    ("4+2P", 8, 16, 16, 15.36, 2514.6),
    ("4+2P", 8, 9, 16, 15.36, 1414.5),
    ("4+2P", 16, 10, 12, 15.36, 1165.7),
    ("4+2P", 16, 28, 16, 30.72, 8813.6),
    ("4+3P", 1, 6, 10, 30.72, 979.1),
    ("4+3P", 1, 20, 16, 30.72, 5331.6),
    ("4+3P", 2, 4, 16, 3.84, 130.4),
    ("4+3P", 2, 12, 12, 3.84, 294.3),
    ("4+3P", 4, 32, 16, 3.84, 1072.2),
    ("4+3P", 4, 8, 10, 7.68, 328.8),
    ("4+3P", 8, 24, 16, 7.68, 1612.5),
    ("4+3P", 8, 5, 16, 7.68, 333.9),
    ("4+3P", 16, 16, 12, 15.36, 1599.0),
    ("4+3P", 16, 9, 24, 15.36, 1840.1),
    ("8+2P", 1, 10, 10, 15.36, 1124.7),
    ("8+2P", 1, 28, 16, 30.72, 10291.7),
    ("8+2P", 2, 6, 16, 30.72, 2239.2),
    ("8+2P", 2, 20, 16, 30.72, 7464.1),
    ("8+2P", 4, 4, 24, 3.84, 278.7),
    ("8+2P", 4, 12, 10, 3.84, 339.8),
    ("8+2P", 8, 32, 16, 3.84, 1501.1),
    ("8+2P", 8, 8, 16, 7.68, 753.0),
    ("8+2P", 16, 24, 16, 7.68, 2258.3),
    ("8+2P", 16, 5, 12, 7.68, 345.7),
    ("8+3P", 1, 16, 10, 15.36, 1635.4),
    ("8+3P", 1, 9, 16, 15.36, 1502.9),
    ("8+3P", 2, 10, 16, 15.36, 1695.4),
    ("8+3P", 2, 28, 16, 30.72, 9494.9),
    ("8+3P", 4, 6, 12, 30.72, 1508.4),
    ("8+3P", 4, 20, 24, 30.72, 10289.1),
    ("8+3P", 8, 4, 16, 3.84, 167.8),
    ("8+3P", 8, 12, 16, 3.84, 511.6),
    ("8+3P", 16, 32, 16, 3.84, 1364.4),
    ("8+3P", 16, 8, 12, 7.68, 507.1),
    ("16+2P", 1, 24, 16, 7.68, 2371.6),
    ("16+2P", 1, 5, 10, 7.68, 298.8),
    ("16+2P", 2, 16, 16, 15.36, 3262.3),
    ("16+2P", 2, 9, 16, 15.36, 1835.0),
    ("16+2P", 4, 10, 12, 15.36, 1534.2),
    ("16+2P", 4, 28, 16, 30.72, 11608.7),
    ("16+2P", 8, 6, 10, 30.72, 1534.6),
    ("16+2P", 8, 20, 16, 30.72, 8355.3),
    ("16+2P", 16, 4, 16, 3.84, 204.9),
    ("16+2P", 16, 12, 12, 3.84, 462.8),
    ("16+3P", 1, 32, 16, 3.84, 1494.0),
    ("16+3P", 1, 8, 10, 7.68, 458.4),
    ("16+3P", 2, 24, 16, 7.68, 2315.4),
    ("16+3P", 2, 5, 16, 7.68, 479.0),
    ("16+3P", 4, 16, 12, 15.36, 2324.8),
    ("16+3P", 4, 9, 24, 15.36, 2679.0),
    ("16+3P", 8, 10, 10, 15.36, 1210.2),
    ("16+3P", 8, 28, 16, 30.72, 11071.3),
    ("16+3P", 16, 6, 16, 30.72, 2381.3),
    ("16+3P", 16, 20, 16, 30.72, 7937.6),
)


@pytest.mark.parametrize(("code", "block_mib", "nodes", "drives", "drive_tb", "usable_tb"), REFERENCE_DRIVES + SPREAD)
def test_within_one_percent_of_the_estimator(
    code: str, block_mib: int, nodes: int, drives: int, drive_tb: float, usable_tb: float
) -> None:
    tier = geometry(
        replace(
            EXAMPLE,
            code=parse_code(code),
            block_bytes=block_mib * MIB,
            nodes=nodes,
            drives_per_node=drives,
            drive_bytes=round(drive_tb * 1e12),
        )
    )
    assert tier.usable_bytes / 1e12 == pytest.approx(usable_tb, rel=0.01)


def test_much_closer_where_spares_are_whole() -> None:
    tier = geometry(replace(EXAMPLE, nodes=16, code=parse_code("16+3P"), block_bytes=16 * MIB))
    assert tier.usable_bytes / 1e12 == pytest.approx(1584.3, rel=1e-4)
    assert tier.usable_fraction == pytest.approx(0.806, abs=0.0005)


@pytest.mark.parametrize(("spares", "usable_tb"), [(4, 744.5), (16, 671.94)])
def test_spares_as_asked(spares: int, usable_tb: float) -> None:
    """IBM's estimator with --spare-drives."""
    assert geometry(replace(EXAMPLE, spare_pdisks=spares)).usable_bytes / 1e12 == pytest.approx(usable_tb, rel=0.001)


def test_set_size_as_asked() -> None:
    """IBM's estimator with --set-size 50."""
    assert geometry(replace(EXAMPLE, set_size_percent=50)).usable_bytes / 1e12 == pytest.approx(372.09, rel=0.001)


def test_example_of_the_estimators_readme() -> None:
    """12 nodes x 12 hard disks of 3725 GiB, 8+2P, 4 MiB: what IBM SpectrumScaleTools gnr_capacity_estimator 1.3 prints.

    Its README.md still prints 435.27 TB, from before user log homes grew to 32 GiB (its version 1.1).
    """
    drive_bytes = 3725 * GIB
    size = partition_bytes(drive_bytes)
    spares = default_spare_pdisks(12, 12)
    partitions = data_partitions(12, 12, drive_bytes, spares)
    vdisk_partitions = partitions // 24
    vdisk_bytes = vdisk_data_bytes(parse_code("8+2P"), 4 * MIB, 32 * KIB, vdisk_partitions, size)
    assert spares == 6
    assert partitions * size // GIB == 508_454
    assert vdisk_partitions // 10 * 10 * size // GIB == 21_180
    assert vdisk_bytes // GIB == 16_795
    assert vdisk_bytes * 24 / 1e12 == pytest.approx(432.82, abs=0.005)
    assert vdisk_bytes * 24 / 1e12 == pytest.approx(435.27, rel=0.01)


@pytest.mark.parametrize(
    ("nodes", "drives", "spares"),
    [(4, 16, 3), (6, 16, 3), (7, 16, 3), (8, 16, 4), (16, 16, 8), (32, 16, 16), (32, 5, 10), (3, 5, 3)],
)
def test_default_spares_of_5_drives_or_more(nodes: int, drives: int, spares: int) -> None:
    """The estimator's rule: 3 to 2p spares, in full at 4p nodes."""
    assert default_spare_pdisks(nodes, drives) == spares


@pytest.mark.parametrize(
    ("nodes", "drives", "spares"),
    [(32, 4, 8), (8, 4, 4), (3, 2, 2), (4, 1, 2), (12, 1, 2), (24, 1, 4), (32, 1, 4)],
)
def test_default_spares_of_few_drives(nodes: int, drives: int, spares: int) -> None:
    """The estimator's rule: 1 drive 2 to 4 spares (24 nodes), 2 to 4 drives 2 to 2p (16 nodes)."""
    assert default_spare_pdisks(nodes, drives) == spares


@pytest.mark.parametrize(
    ("drive_tb", "gib", "count"), [(3.84, 2, 1788), (7.68, 4, 1788), (15.36, 8, 1788), (30.72, 16, 1788)]
)
def test_partitions_of_the_usual_drives(drive_tb: float, gib: int, count: int) -> None:
    drive_bytes = round(drive_tb * 1e12)
    assert partition_bytes(drive_bytes) == gib * GIB
    assert partitions_per_pdisk(drive_bytes) == count


def test_small_drives_keep_the_smallest_partition() -> None:
    assert partition_bytes(GIB) == 4 * MIB
    assert partitions_per_pdisk(MIB) == 0


@pytest.mark.parametrize(
    ("code", "fine_up_to_mib"), [("4+2P", 2), ("4+3P", 2), ("8+2P", 4), ("8+3P", 4), ("16+2P", 0), ("16+3P", 0)]
)
def test_checksum_granularity(code: str, fine_up_to_mib: int) -> None:
    """The estimator's rule for ssd; 16+xP always has 32 KiB there."""
    fine = [mib for mib in (1, 2, 4, 8, 16) if checksum_granularity_bytes(parse_code(code), mib * MIB) == 8 * KIB]
    assert max(fine, default=0) == fine_up_to_mib


def test_trailers_of_a_strip() -> None:
    """512 KiB in segments of 8,128 B are 65 trailers of 64 B = 4,160 B, which take two blocks of 4 KiB."""
    assert raw_strip_bytes(parse_code("8+2P"), 4 * MIB, 8 * KIB) == 512 * KIB + 8 * KIB
    assert raw_strip_bytes(parse_code("8+2P"), 4 * MIB, 32 * KIB) == 512 * KIB + 4 * KIB
