"""Profiles: the published guidance, and the user's own."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest

from kvplan.assets import profiles_dir
from kvplan.catalogue.profiles import load_profiles
from kvplan.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = "IBM Redbook MD260021 'Context without Limits', 5 June 2026, updated 20 August 2026"
GUIDANCE = {
    "compact-4": ((4, 4), "4+2P", (None, 64), (7e9, 34e9), (None, None), 67),
    "standard-8": ((8, 8), "8+2P", (100, 256), (70e9, 120e9), (100e9, 300e9), 80),
    "large-16": ((16, 256), "16+3P", (300, None), (120e9, None), (300e9, None), 84),
}


def test_the_published_guidance() -> None:
    """IBM Redbook MD260021, sizing guidance."""
    assert [profile.name for profile in load_profiles()] == list(GUIDANCE)
    for profile in load_profiles():
        guidance = profile.guidance
        assert guidance.source == SOURCE
        assert (
            (profile.nodes.start, profile.nodes.limit),
            profile.erasure_code,
            (guidance.gpus.low, guidance.gpus.high),
            (guidance.params.low, guidance.params.high),
            (guidance.read_bytes_per_s.low, guidance.read_bytes_per_s.high),
            guidance.usable_percent,
        ) == GUIDANCE[profile.name]


def test_the_published_node() -> None:
    for profile in load_profiles():
        node = profile.node
        assert (node.server, node.drives) == ("ASG-1115S-NE316R", 16)
        assert (node.client_nic, node.client_nics, node.storage_nic, node.storage_nics) == ("b3220", 1, "cx7-400g", 1)
        assert (profile.switch, profile.block_mib, profile.spare_pdisks) == ("sn5600", 4, None)


def test_usable_percent_is_the_efficiency_of_the_code() -> None:
    for profile in load_profiles():
        data, parity = map(int, profile.erasure_code.removesuffix("P").split("+"))
        assert round(100 * data / (data + parity)) == profile.guidance.usable_percent


def test_a_file_is_called_after_its_profile() -> None:
    assert {path.stem for path in profiles_dir().glob("*.yaml")} == set(GUIDANCE)


def write_profile(path: Path, name: str, **changes: str) -> Path:
    """Write the published standard-8 under another name and with other values."""
    text = (profiles_dir() / "standard-8.yaml").read_text().replace("name: standard-8", f"name: {name}")
    for key, value in changes.items():
        text, count = re.subn(rf"\b{key}: [^,}}\n]+", f"{key}: {value}", text)
        assert count == 1
    path.write_text(text)
    return path


def test_user_profiles_are_added_in_order(tmp_path: Path) -> None:
    write_profile(tmp_path / "mine.yaml", "mine-6", start="6")
    write_profile(tmp_path / "also.yaml", "also-8")
    names = [profile.name for profile in load_profiles([tmp_path])]
    assert names == ["compact-4", "mine-6", "also-8", "standard-8", "large-16"]


def test_a_user_profile_replaces_its_namesake(tmp_path: Path) -> None:
    path = write_profile(tmp_path / "mine.yaml", "standard-8", erasure_code="8+3P")
    assert [profile.erasure_code for profile in load_profiles([tmp_path])] == ["4+2P", "8+3P", "16+3P"]
    write_profile(path, "standard-8", erasure_code="4+2P")
    os.utime(path, ns=(1, 1))
    assert [profile.erasure_code for profile in load_profiles([tmp_path])] == ["4+2P", "4+2P", "16+3P"]


def test_problems_of_all_profiles_come_at_once(tmp_path: Path) -> None:
    write_profile(tmp_path / "a.yaml", "a", block_mib="400")
    write_profile(tmp_path / "b.yaml", "b", limit="2")
    write_profile(tmp_path / "c.yaml", "c")
    write_profile(tmp_path / "d.yaml", "c")
    with pytest.raises(InputError) as caught:
        load_profiles([tmp_path, tmp_path / "absent", tmp_path / "c.yaml"])
    found = [str(problem).replace(f"{tmp_path}{os.sep}", "") for problem in caught.value.problems]
    assert [problem.partition(":")[0] for problem in found] == ["a.yaml", "b.yaml", "d.yaml", "absent", "c.yaml"]
    assert "block_mib" in found[0]
    assert "limit 2 is below start 8" in found[1]
    assert "'c' is given twice in this directory" in found[2]
    assert "does not exist" in found[3]
    assert "is not a directory" in found[4]
