"""Reading `-Y` output by header names, and what helps against what commands say."""

from __future__ import annotations

import re

import mm_modules  # noqa: F401  puts the modules' helpers where Ansible has them
import pytest
from ansible.module_utils.mm import MmError, cause, remedy, rows, same_value, size_bytes, yes
from ansible.module_utils.mm_remedies import REMEDIES

STATE = """mmgetstate::HEADER:version:reserved:reserved:nodeName:nodeNumber:state:
mmgetstate::0:1:::ec01:1:active:
"""


def test_values_are_found_by_name_whatever_their_place() -> None:
    moved = "c:s:HEADER:version:reserved:reserved:extra:state:nodeName:\nc:s:0:1:::x:active:ec01:\n"

    assert rows(moved, "c", "s", {"nodeName": str}) == [{"nodeName": "ec01"}]
    assert rows(STATE, "mmgetstate", "", {"nodeName": str, "nodeNumber": int}) == [
        {"nodeName": "ec01", "nodeNumber": 1}
    ]


def test_the_last_header_of_the_section_counts() -> None:
    text = (
        "c:s:HEADER:version:reserved:reserved:a:b:\nc:t:HEADER:version:reserved:reserved:b:a:\nc:t:0:1:::no:no:\n"
        "c:s:0:1:::1:2:\nc:s:HEADER:version:reserved:reserved:b:a:\nc:s:0:1:::3:4:\n"
    )

    assert rows(text, "c", "s", {"a": int}) == [{"a": 1}, {"a": 4}]


def test_values_are_decoded() -> None:
    text = "c::HEADER:version:reserved:reserved:path:when:last:\nc::0:1:::%2Fkvfs%3A%25:2020 09%3A35:\n"

    assert rows(text, "c", "", {"path": str, "when": str, "last": str}) == [
        {"path": "/kvfs:%", "when": "2020 09:35", "last": ""}
    ]


def test_a_missing_column_names_all_that_helps_to_find_it() -> None:
    with pytest.raises(MmError, match=r"mmgetstate: section '' has no column daemonNodeName; columns seen: nodeName"):
        rows(STATE, "mmgetstate", "", {"daemonNodeName": str})


def test_a_missing_section_names_those_that_were_seen() -> None:
    text = "c:t:HEADER:version:reserved:reserved:a:\n"

    with pytest.raises(MmError, match=r"c: no HEADER of section 's'; sections seen: t"):
        rows(text, "c", "s", {"a": str})
    assert rows("", "c", "s", {"a": str}, header=False) == []


def test_a_row_before_its_header_is_no_row() -> None:
    with pytest.raises(MmError, match="has a row before its HEADER"):
        rows("c:s:0:1:::v:\n", "c", "s", {"a": str})


@pytest.mark.parametrize(("kind", "said"), [(int, "invalid literal"), (yes, "neither yes nor no")])
def test_a_value_of_another_type_is_told(kind: object, said: str) -> None:
    with pytest.raises(MmError, match=f"column state holds 'active': .*{said}"):
        rows(STATE, "mmgetstate", "", {"state": kind})


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("yes", "1", True),
        ("16M", "16777216", True),
        ("a  b", "a b", True),
        ("enable", "disable", False),
        ("2", "3", False),
    ],
)
def test_spellings_of_a_value(one: str, other: str, same: bool) -> None:  # noqa: FBT001
    assert same_value(one, other) is same


def test_sizes() -> None:
    assert [size_bytes(text) for text in ("4m", "8k", "2G", "7", "1.5K")] == [1 << 22, 8192, 1 << 31, 7, 1536]


def test_the_cause_leaves_out_what_every_failure_says() -> None:
    err = "mmx: 6027-1388 File system f is not known.\nmmx: 6027-1639 Command failed. Examine previous error messages."

    assert cause("", err) == "mmx: 6027-1388 File system f is not known."
    assert cause("told elsewhere", "") == "told elsewhere"
    assert cause("", "mmvdisk: Command failed. Examine previous") == "mmvdisk: Command failed. Examine previous"
    assert cause("", "") == "no message"


def test_remedies_are_whole_sentences_and_reached() -> None:
    for pattern, text in REMEDIES:
        assert re.compile(pattern)
        assert text.endswith(".")
        assert text[0].isupper()
    assert remedy("nothing that is known") == ""
