"""The catalogue as a whole: kvplan's own is sound, and what is wrong with a user's is found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kvplan.catalogue.loader import load_catalogue
from kvplan.catalogue.profiles import load_profiles
from kvplan.catalogue.verify import verify

if TYPE_CHECKING:
    from pathlib import Path

    from kvplan.schema.profile import Profile

NIC = """\
- id: {id}
  aliases: [{alias}]
  vendor: acme
  ports: 1
  port_bits_per_s: 400000000000
  connector: QSFP112
  pcie_generation: 5
  pcie_lanes: 16
  source: "{source}"
  confidence: assumed
"""
GPU = """\
- id: h100
  vendor: NVIDIA
  memory_bytes: 85520809984
  memory_bandwidth_bytes_per_s: 3350000000000
  pcie_generation: 5
  pcie_lanes: 16
  gpus_per_server: 8
  server: ASG-1115S-NE316X
  nic: b3221
  nics_per_server: 1
  source: our lab
  confidence: measured
"""


def problems_with(directory: Path, **tables: str) -> list[str]:
    for name, text in tables.items():
        (directory / f"{name}.yaml").write_text(text)
    return [str(problem).replace(f"{directory}/", "") for problem in verify(load_catalogue([directory]))]


def profile_with(**node: object) -> Profile:
    profile = load_profiles()[0]
    return profile.model_copy(update={"node": profile.node.model_copy(update=node)})


def test_the_built_in_catalogue_is_sound() -> None:
    assert [str(problem) for problem in verify(load_catalogue())] == []


def test_names_that_clash(tmp_path: Path) -> None:
    found = problems_with(tmp_path, nics=NIC.format(id="mine", alias="B3220", source="s"))
    assert found == ["nics.yaml:1:3: aliases: 'b3220' names several rows: b3220, mine"]


def test_sources_that_are_empty(tmp_path: Path) -> None:
    found = problems_with(tmp_path, nics=NIC.format(id="mine", alias="", source=" "))
    assert found == ["nics.yaml:1:3: source: is empty; a public source"]


def test_every_row_is_validated(tmp_path: Path) -> None:
    wrong = NIC.format(id="mine", alias="", source="s").replace("ports: 1", "ports: none")
    found = problems_with(tmp_path, nics=wrong + wrong.replace("id: mine", "id: other"))
    assert [problem.partition(": ")[0] for problem in found] == ["nics.yaml:4:10", "nics.yaml:14:10"]


def test_a_table_that_cannot_be_read(tmp_path: Path) -> None:
    assert problems_with(tmp_path, nics="a: 1\n", gpus="b: 1\n") == [
        "gpus.yaml: is no list of rows; rows that begin with `- id: ...`",
        "nics.yaml: is no list of rows; rows that begin with `- id: ...`",
    ]


def test_references_to_rows_that_are_not_there(tmp_path: Path) -> None:
    found = problems_with(tmp_path, gpus=GPU)
    assert found[0].startswith("gpus.yaml:1:3: nic: 'b3221' is no network adapter; did you mean 'b3220'")
    assert found[1].startswith(
        "gpus.yaml:1:3: server: 'ASG-1115S-NE316X' is no server; did you mean 'ASG-1115S-NE316R'"
    )
    assert len(found) == 2


def test_a_server_that_cannot_be_racked(tmp_path: Path) -> None:
    server = (
        "- {id: acme-1u, vendor: acme, role: storage, rack_units: 1, drive_bays: 8, source: x, confidence: assumed}\n"
    )
    (tmp_path / "servers.yaml").write_text(server, encoding="utf-8")
    (problem,) = verify(load_catalogue((tmp_path,)))
    assert "'acme-1u' is no enclosure" in str(problem)


KIT = """\
- id: our-rails
  title: Rails
  per: [storage-node]
  models: [{model}]
  replaces: {replaces}
  source: our lab
  confidence: assumed
"""
SPARE = "- {{id: ours, rate: 0, covers: [{covers}], source: our lab, confidence: assumed}}\n"


def test_kit_rows_and_spares_that_go_together(tmp_path: Path) -> None:
    kit, spares = KIT.format(model="SYS-212GB-FNR", replaces="rails"), SPARE.format(covers="drive, our-rails")
    assert problems_with(tmp_path, kit=kit, spares=spares) == []


def test_kit_rows_and_spares_that_name_what_is_not_there(tmp_path: Path) -> None:
    kit, spares = KIT.format(model="SYS-212GB-FNX", replaces="rials"), SPARE.format(covers="drvie, our-rials")
    found = problems_with(tmp_path, kit=kit, spares=spares)
    expected = (
        "kit.yaml:1:3: replaces: 'rials' is no kit row; did you mean 'rails'",
        "kit.yaml:1:3: models: 'SYS-212GB-FNX' is no server or switch; did you mean 'SYS-212GB-FNR'",
        "spares.yaml:1:3: covers: 'drvie' is no kind of part or kit row; did you mean 'drive'",
        "spares.yaml:1:3: covers: 'our-rials' is no kind of part or kit row; did you mean 'our-rails'",
    )
    assert len(found) == len(expected)
    assert all(problem.startswith(start) for problem, start in zip(found, expected, strict=True)), found


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ({"drive": "micron-9551-pro-7.68"}, "node.drive: 'micron-9551-pro-7.68' is no drive; did you mean"),
        ({"client_nic": "none"}, "node.client_nic: 'none' is no network adapter"),
        ({"drives": 24}, "node.drives: 24 drives in 16 bays"),
        (
            {"drive": "micron-9400-pro-7.68"},
            "node.drive: micron-9400-pro-7.68 comes as U.3; ASG-1115S-NE316R takes E3.S",
        ),
    ],
)
def test_profiles_are_checked_against_the_tables(node: dict[str, object], message: str) -> None:
    found = verify(load_catalogue(), [profile_with(**node)])
    assert len(found) == 1
    assert str(found[0]).startswith(f"profile compact-4: {message}")
