"""The build options: a file, options over it, and every problem of both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kvplan.api import design
from kvplan.cli.building import BuildFlags, read_design
from kvplan.errors import InputError
from kvplan.reference import PLAN
from kvplan.render.data import record_json
from kvplan.schema.build import BuildOptions

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def build_file(tmp_path: Path) -> Path:
    path = tmp_path / "build.yaml"
    path.write_text("racks: {units: 48, power_w: 22000}\ncabling: {medium: optics}\n", encoding="utf-8")
    return path


def test_nothing_given_is_the_default() -> None:
    assert BuildFlags().read()[0] == BuildOptions()


def test_options_override_the_file(build_file: Path) -> None:
    options = BuildFlags(build=build_file, medium="copper", spines="2", rack_power_kw="17.5").read()[0]
    assert (options.racks.units, options.racks.power_w) == (48, 17_500)
    assert (options.cabling.medium, options.fabric.min_spines) == ("copper", 2)


def test_problems_of_options_come_all_at_once() -> None:
    flags = BuildFlags(medium="optic", clients="server", spines="none", racks="0", rack_units="9", rack_power_kw="-1")
    with pytest.raises(InputError) as caught:
        flags.read()[0]
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
        BuildFlags(build=path).read()[0]
    text = str(caught.value)
    for part in ("build.yaml:1:1: rack", "did you mean 'racks'", "build.yaml:3:10: racks.units", "build.yaml:5:14"):
        assert part in text
    assert "10.0.0.1/8" in text


def test_overlapping_prefixes_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "build.yaml"
    path.write_text("addresses: {storage_a: 10.64.8.0/24}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"storage_a 10\.64\.8\.0/24 overlaps storage_client_a 10\.64\.0\.0/20"):
        BuildFlags(build=path).read()[0]


def test_networks_and_racks_that_there_are_not(tmp_path: Path) -> None:
    path = tmp_path / "build.yaml"
    path.write_text("cabling:\n  families: {storag: mcp7y10}\n  distances_m: {rack-1/rack-2: 3}\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        BuildFlags(build=path).read()[0]
    text = str(caught.value)
    assert "build.yaml:2:" in text
    assert "'storag' is not a choice" in text
    assert "build.yaml:3:" in text
    assert "rack-1/rack-2" in text


def test_problems_of_the_file_and_of_options_come_together(tmp_path: Path) -> None:
    path = tmp_path / "build.yaml"
    path.write_text("racks: {units: many}\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        BuildFlags(build=path, spines="none", medium="glass").read()
    assert [problem.where.rpartition("/")[2] for problem in caught.value.problems] == [
        "build.yaml:1:16", "--spines", "--medium",
    ]  # fmt: skip


@pytest.mark.parametrize(("power", "what"), [("-1", "'-1' is out of range"), ("x", "'x' is not a number")])
def test_the_power_of_a_rack_is_spoken_of_as_it_was_typed(power: str, what: str) -> None:
    with pytest.raises(InputError) as caught:
        BuildFlags(rack_power_kw=power).read()
    assert str(caught.value) == f"--rack-power-kw: {what}; a number of kW, such as 17"


def test_hints_are_of_the_size_that_is_asked_for() -> None:
    with pytest.raises(InputError) as caught:
        BuildFlags(spines="x", racks="x", rack_units="x").read()
    assert [problem.allowed for problem in caught.value.problems] == [
        "a whole number such as 2", "a whole number such as 2", "a whole number such as 42",
    ]  # fmt: skip


@pytest.fixture
def plan_file(tmp_path: Path) -> Path:
    path = tmp_path / "plan.json"
    path.write_text(record_json(PLAN), encoding="utf-8")
    return path


def test_a_name_that_no_table_has_is_found_in_the_file(tmp_path: Path, plan_file: Path) -> None:
    path = tmp_path / "build.yaml"
    path.write_text(
        "management:\n  switch: sn2021\ncabling:\n  families:\n    storage: mcp7y40\n    uplink: mcp7y11\n",
        encoding="utf-8",
    )
    with pytest.raises(InputError) as caught:
        read_design(plan_file, BuildFlags(build=path), None)
    switch, family = caught.value.problems
    assert (switch.where, switch.key) == (f"{path}:2:11", "management.switch")
    assert (family.where, family.key) == (f"{path}:6:13", "cabling.families.uplink")
    assert "did you mean 'sn2201'" in switch.hint
    assert "did you mean 'mcp7y10'" in family.hint


def test_a_plan_is_read_with_its_design_and_tables(plan_file: Path) -> None:
    built = read_design(plan_file, BuildFlags(spines="2"), None)
    assert built.plan == PLAN
    assert built.design == design(PLAN, BuildFlags(spines="2").read()[0])
    assert built.catalogue.version == built.design.catalogue.version
