"""The build options: a file, options over it, and every problem of both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kvplan.cli.building import BuildFlags
from kvplan.errors import InputError
from kvplan.schema.build import BuildOptions

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def build_file(tmp_path: Path) -> Path:
    path = tmp_path / "build.yaml"
    path.write_text("racks: {units: 48, power_w: 22000}\ncabling: {medium: optics}\n", encoding="utf-8")
    return path


def test_nothing_given_is_the_default() -> None:
    assert BuildFlags().options() == BuildOptions()


def test_options_override_the_file(build_file: Path) -> None:
    options = BuildFlags(build=build_file, medium="copper", spines="2", rack_power_kw="17.5").options()
    assert (options.racks.units, options.racks.power_w) == (48, 17_500)
    assert (options.cabling.medium, options.fabric.min_spines) == ("copper", 2)


def test_problems_of_options_come_all_at_once() -> None:
    flags = BuildFlags(medium="optic", clients="server", spines="none", racks="0", rack_units="9", rack_power_kw="-1")
    with pytest.raises(InputError) as caught:
        flags.options()
    assert [problem.where for problem in caught.value.problems] == [
        "--spines",
        "--clients",
        "--racks",
        "--rack-units",
        "--rack-power-kw",
        "--medium",
    ]


def test_problems_of_the_file_have_a_place(tmp_path: Path) -> None:
    path = tmp_path / "build.yaml"
    path.write_text("rack: {}\nracks:\n  units: many\naddresses:\n  storage_a: 10.0.0.1/8\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        BuildFlags(build=path).options()
    text = str(caught.value)
    for part in ("build.yaml:1:1: rack", "did you mean 'racks'", "build.yaml:3:10: racks.units", "build.yaml:5:14"):
        assert part in text
    assert "10.0.0.1/8" in text


def test_overlapping_prefixes_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "build.yaml"
    path.write_text("addresses: {storage_a: 10.64.8.0/24}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"storage_a 10\.64\.8\.0/24 overlaps storage_client_a 10\.64\.0\.0/20"):
        BuildFlags(build=path).options()


def test_networks_and_racks_that_there_are_not(tmp_path: Path) -> None:
    path = tmp_path / "build.yaml"
    path.write_text("cabling:\n  families: {storag: mcp7y10}\n  distances_m: {rack-1/rack-2: 3}\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        BuildFlags(build=path).options()
    text = str(caught.value)
    assert "build.yaml:2:" in text
    assert "'storag' is not a choice" in text
    assert "build.yaml:3:" in text
    assert "rack-1/rack-2" in text
