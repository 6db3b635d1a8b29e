"""Retention, wear, files and eviction, against the worked figures of a fleet."""

from __future__ import annotations

import pytest

from kvplan.catalogue.loader import load_catalogue
from kvplan.core.ece.codes import parse_code
from kvplan.core.ece.endurance import endurance
from kvplan.core.prediction.flash import (
    creates_per_s,
    drive_writes_per_day,
    eviction_bytes_per_s,
    files,
    files_by_chunk,
    retention_seconds,
)
from kvplan.schema.site.software import Watermarks

WRITES = 121e9
RAW = 8 * 24 * 15_360_000_000_000
MIB = 2**20


def test_chat_fleet_forgets_within_hours() -> None:
    assert retention_seconds(2.0e15, 1.0, WRITES) / 3600 == pytest.approx(4.6, abs=0.05)
    assert retention_seconds(2.0e15, 0.75, WRITES) == pytest.approx(0.75 * retention_seconds(2.0e15, 1.0, WRITES))


def test_chat_fleet_wears_the_drives_out() -> None:
    assert drive_writes_per_day(WRITES, 11 / 8, RAW) == pytest.approx(4.9, abs=0.05)
    assert drive_writes_per_day(WRITES, 11 / 8, RAW, 2.0) == pytest.approx(9.8, abs=0.1)


def test_wear_is_that_of_the_plan() -> None:
    code = parse_code("8+3P")
    planned = endurance(RAW, code, 1.0, WRITES, 1.3).demanded_drive_writes_per_day
    assert drive_writes_per_day(WRITES, 1 / code.efficiency, RAW, 1.3) == pytest.approx(planned)


def test_chunk_length_decides_the_number_of_files() -> None:
    rows = files_by_chunk((16, 64, 256, 1024), 73_728, 1e15, WRITES)
    assert [row.file_bytes / MIB for row in rows] == [1.125, 4.5, 18, 72]
    assert [round(row.files / 1e6) for row in rows] == [848, 212, 53, 13]
    assert [row.creates_per_s for row in rows] == pytest.approx([102_573, 25_643, 6_411, 1_603], rel=1e-3)


def test_ranks_that_write_their_own_files_make_as_many_more() -> None:
    one, four = (files_by_chunk((256,), 73_728, 1e15, WRITES, ranks)[0] for ranks in (1, 4))
    assert four.file_bytes == one.file_bytes / 4
    assert four.files == pytest.approx(4 * one.files, rel=1e-6)
    assert four.creates_per_s == pytest.approx(4 * one.creates_per_s)


def test_part_of_a_file_is_a_file() -> None:
    assert files(10, 4) == 3
    assert files(0, 4) == 0


@pytest.mark.parametrize(("file_mib", "rate"), [(18, 70), (1.125, 1_100)])
def test_one_engine_creates_as_many_files_as_its_chunks_make(file_mib: float, rate: float) -> None:
    assert creates_per_s(1.29e9, file_mib * MIB) == pytest.approx(rate, rel=0.03)


def test_evictor_must_outrun_the_writes() -> None:
    assert eviction_bytes_per_s(20e9, 744e12, 0.75, 0.75, 3600) == 20e9
    rate = eviction_bytes_per_s(20e9, 744e12, 0.85, 0.75, 1800)
    assert 0.85 * 744e12 + (20e9 - rate) * 1800 == pytest.approx(0.75 * 744e12)


def test_watermarks_are_those_of_a_new_site() -> None:
    constants = load_catalogue().constants()
    marks = [100 * constants[f"flash.{name}_watermark"].value for name in ("high", "low")]
    assert marks == pytest.approx([Watermarks().high_percent, Watermarks().low_percent])
