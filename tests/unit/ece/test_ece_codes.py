"""Erasure codes: names, figures, and what is said of a name that is none."""

from __future__ import annotations

import pytest

from kvplan.core.ece.codes import CODES, ErasureCode, parse_code
from kvplan.errors import InputError
from kvplan.units import KIB, MIB


@pytest.mark.parametrize("text", ["8+2P", "8+2p", " 8+2p "])
def test_letter_case_does_not_matter(text: str) -> None:
    assert parse_code(text) == ErasureCode(8, 2)


def test_every_code_reads_its_own_name() -> None:
    assert [parse_code(code.name) for code in CODES] == list(CODES)
    assert [code.name for code in CODES] == ["4+2P", "4+3P", "8+2P", "8+3P", "16+2P", "16+3P"]


@pytest.mark.parametrize(("name", "percent"), [("4+2P", 67), ("8+2P", 80), ("16+3P", 84)])
def test_published_efficiencies(name: str, percent: int) -> None:
    """IBM Redbook MD260021, sizing guidance: 67, 80 and 84 % usable."""
    assert round(100 * parse_code(name).efficiency) == percent


@pytest.mark.parametrize("text", ["8+4P", "", "82P", "3WayReplication", "8 + 2P"])
def test_unknown_code_lists_what_is_allowed(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_code(text, where="--code")
    (problem,) = caught.value.problems
    assert problem.where == "--code"
    assert problem.allowed == "allowed: 4+2P, 4+3P, 8+2P, 8+3P, 16+2P, 16+3P"


def test_unknown_code_names_a_close_one() -> None:
    with pytest.raises(InputError, match=r"did you mean '8\+2P'"):
        parse_code("8+2")


@pytest.mark.parametrize(
    ("name", "least_kib", "most_mib", "flash_mib"),
    [("4+2P", 512, 8, 2), ("4+3P", 512, 8, 2), ("8+2P", 512, 16, 4), ("8+3P", 512, 16, 4)],
)
def test_block_sizes(name: str, least_kib: int, most_mib: int, flash_mib: int) -> None:
    """The mmvdisk manual page of 6.0.0.2 (range) and the ECE 5.0.3 hardware requirements (flash)."""
    facts = CODES[parse_code(name)]
    assert facts.block_min_bytes == least_kib * KIB
    assert facts.block_max_bytes == most_mib * MIB
    assert facts.flash_block_bytes == flash_mib * MIB
    assert facts.block_confidence == "vendor"


@pytest.mark.parametrize("name", ["16+2P", "16+3P"])
def test_block_range_of_wide_codes_is_not_published(name: str) -> None:
    facts = CODES[parse_code(name)]
    assert (facts.block_min_bytes, facts.block_max_bytes, facts.flash_block_bytes) == (MIB, 16 * MIB, None)
    assert facts.block_confidence == "assumed"
