"""Quantities as people write them and read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvplan.units import (
    GB,
    GIB,
    KIB,
    MAX_COUNT,
    MIB,
    PB,
    PIB,
    TB,
    TIB,
    format_binary,
    format_bytes,
    format_duration,
    format_quantity,
    format_rate,
    parse_count,
)

MULTIPLES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
COUNTS = {
    "0": 0,
    "7": 7,
    "130k": 130_000,
    "130K": 130_000,
    "128Ki": 131_072,
    "128ki": 131_072,
    "131072": 131_072,
    "131,072": 131_072,
    "131_072": 131_072,
    "1,000,000": 1_000_000,
    "1.5M": 1_500_000,
    "0.5Ki": 512,
    "1.50k": 1500,
    "  8 ": 8,
    "8 k": 8000,
    "1T": 10**12,
    "1000T": MAX_COUNT,
}
NO_COUNTS = (
    *("", " ", "k", "-1", "+1", "1e3", "0x10", "1.", ".5", "1..5", "1,5", "1,50", "12,34", "1,0000", "1__000", "1 000"),
    *("130kB", "130kk", "1P", "1iK", "nan", "inf", "1.5", "0.3", "1.0001k", "1001T", "9" * 40, "0.1Ki", "1\n2"),
)


@pytest.mark.parametrize("text", COUNTS)
def test_counts(text: str) -> None:
    assert parse_count(text) == COUNTS[text]


@pytest.mark.parametrize("text", NO_COUNTS)
def test_what_is_no_count_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a number|is not a whole number|is beyond|is below zero") as raised:
        parse_count(text)
    assert str(raised.value).startswith(repr(text))


@given(st.integers(0, 10**6), st.sampled_from(sorted(MULTIPLES)))
def test_every_count_with_a_multiple_is_exact(count: int, multiple: str) -> None:
    if count * MULTIPLES[multiple] <= MAX_COUNT:
        assert parse_count(f"{count}{multiple}") == count * MULTIPLES[multiple]


@given(st.integers(0, MAX_COUNT))
def test_counts_round_trip_through_every_spelling(count: int) -> None:
    assert {parse_count(text) for text in (str(count), f"{count:,}", f"{count:_}", f" {count} ")} == {count}


@given(st.decimals(0, 1000, places=3))
def test_thousandths_of_a_thousand_are_whole(number: object) -> None:
    assert parse_count(f"{number}k") == round(float(str(number)) * 1000)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (999, "999 B"),
        (1000, "1 kB"),
        (73_728, "73.73 kB"),
        (7.68 * TB, "7.68 TB"),
        (315 * GB, "315 GB"),
        (983.04 * TB, "983 TB"),
        (1234 * PB, "1,234 PB"),
        (-2 * GB, "-2 GB"),
    ],
)
def test_decimal_bytes(count: float, text: str) -> None:
    assert format_bytes(count) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1,023 B"),
        (KIB, "1 KiB"),
        (4.5 * MIB, "4.5 MiB"),
        (19.6 * GIB, "19.6 GiB"),
        (TIB, "1 TiB"),
        (2.5 * PIB, "2.5 PiB"),
    ],
)
def test_binary_bytes(count: float, text: str) -> None:
    assert format_binary(count) == text


@given(st.integers(1, 10**17))
def test_decimal_and_binary_texts_agree(count: int) -> None:
    decimal, unit = format_bytes(count, digits=6).split()
    binary, binary_unit = format_binary(count, digits=6).split()
    sizes = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15}
    binary_sizes = {"B": 1, "KiB": KIB, "MiB": MIB, "GiB": GIB, "TiB": TIB, "PiB": PIB}
    assert float(decimal.replace(",", "")) * sizes[unit] == pytest.approx(count, rel=1e-4)
    assert float(binary.replace(",", "")) * binary_sizes[binary_unit] == pytest.approx(count, rel=1e-4)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (315 * GB, "B/s", "315 GB/s"),
        (0, "B/s", "0 B/s"),
        (0, "B", "0 B"),
        (512 * KIB, "B", "512 KiB"),
        (4 * MIB, "B", "4 MiB"),
        (7.68 * TB, "B", "7.68 TB"),
        (116_829_156_672, "parameters", "116.8B parameters"),
        (1, "yes/no", "yes"),
        (0, "yes/no", "no"),
        (13_767, "partitions", "13,767 partitions"),
        (0.75, "1", "0.75 1"),
    ],
)
def test_quantities_carry_their_unit(value: float, unit: str, text: str) -> None:
    assert format_quantity(value, unit) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 ms"),
        (0.0421, "42 ms"),
        (1, "1 s"),
        (59, "59 s"),
        (60, "1 min"),
        (119 * 60, "119 min"),
        (7200, "2 h"),
        (11_284.9, "3.13 h"),
        (86_400 * 3, "3 d"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


def test_rates() -> None:
    assert [format_rate(value) for value in (39.375e9, 1.72266e9, 10.08e12)] == ["39.4 GB/s", "1.72 GB/s", "10.1 TB/s"]
