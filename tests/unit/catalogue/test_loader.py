"""Loading: lazily, once, with the user's tables on top."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from kvplan.catalogue.loader import Catalogue, load_catalogue
from kvplan.catalogue.rows import rows_of
from kvplan.catalogue.sources import BUILT_IN, TableFile, table_files
from kvplan.catalogue.tables import GPUS, MODELS, TABLES
from kvplan.errors import InputError
from kvplan.inputs.files import read_yaml
from kvplan.inputs.yaml_text import parse_yaml
from kvplan.schema.hardware import Drive
from kvplan.schema.model import FullAttention

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MODEL = """\
- id: acme/Tiny-1B
  aliases: [tiny]
  groups:
    - {kind: full, layers: 4, kv_heads: 2, key_dim: 64, value_dim: 64}
  source: acme model card
  confidence: vendor
"""
GPU = """\
- id: h100
  vendor: NVIDIA
  memory_bytes: 1
  memory_bandwidth_bytes_per_s: 1
  pcie_generation: 5
  pcie_lanes: 16
  gpus_per_server: 2
  nic: b3220
  nics_per_server: 1
  source: our lab
  confidence: measured
"""


def write(directory: Path, **tables: str) -> Path:
    directory.mkdir(exist_ok=True)
    for name, text in tables.items():
        (directory / f"{name}.yaml").write_text(text)
    return directory


def own_table(directory: Path, text: str) -> TableFile:
    path = directory / "models.yaml"
    path.write_text(text)
    return TableFile("models", path, path.name, 0, (0, 0))


def test_version_and_tables() -> None:
    catalogue = load_catalogue()
    assert catalogue.version == "2026.11.30"
    assert catalogue.user_tables == ()
    assert len(catalogue.sha256) == 64
    assert "sn5600" in catalogue.ids("switches")
    assert all(isinstance(row, Drive) for row in catalogue.rows("drives"))


@pytest.mark.parametrize(
    ("table", "get"),
    [
        ("gpus", Catalogue.gpu),
        ("servers", Catalogue.server),
        ("drives", Catalogue.drive),
        ("nics", Catalogue.nic),
        ("switches", Catalogue.switch),
        ("backends", Catalogue.backend),
        ("software", Catalogue.software),
        ("releases", Catalogue.release),
    ],
)
def test_each_table_has_its_getter(table: str, get: Callable[[Catalogue, str], object]) -> None:
    catalogue = load_catalogue()
    for row_id in catalogue.ids(table):
        row = get(catalogue, row_id)
        assert row is catalogue.row(table, row_id.upper())
        assert isinstance(row, TABLES[table].record)


def test_a_catalogue_is_loaded_once() -> None:
    assert load_catalogue() is load_catalogue(())


def test_constants_come_without_their_id() -> None:
    catalogue = load_catalogue()
    factor = catalogue.constant("network.planning_factor")
    assert (factor.value, factor.unit) == (0.8, "ratio")
    assert not hasattr(factor, "id")
    assert catalogue.constants()["network.planning_factor"] is factor


def test_user_rows_extend_and_override(tmp_path: Path) -> None:
    directory = write(tmp_path / "mine", models=MODEL, gpus=GPU)
    catalogue = load_catalogue([directory])
    assert catalogue.model("tiny").groups == (FullAttention(layers=4, kv_heads=2, key_dim=64, value_dim=64),)
    assert catalogue.gpu("H100").gpus_per_server == 2
    assert catalogue.gpu("h200") == load_catalogue().gpu("h200")
    assert load_catalogue().gpu("h100").gpus_per_server == 8
    assert set(catalogue.user_tables) == {str(directory / "models.yaml"), str(directory / "gpus.yaml")}
    assert catalogue.where("gpus", "h100") == f"{directory / 'gpus.yaml'}:1:3"
    assert catalogue.where("gpus", "h200").startswith("gpus.yaml:")


def test_later_directories_override_earlier_ones(tmp_path: Path) -> None:
    first = write(tmp_path / "first", gpus=GPU)
    second = write(tmp_path / "second", gpus=GPU.replace("gpus_per_server: 2", "gpus_per_server: 3"))
    assert load_catalogue([first, second]).gpu("h100").gpus_per_server == 3
    assert load_catalogue([second, first]).gpu("h100").gpus_per_server == 2


def test_a_table_may_be_a_folder(tmp_path: Path) -> None:
    write(tmp_path / "models", a=MODEL, b=MODEL.replace("Tiny-1B", "Tiny-2B").replace("[tiny]", "[]"))
    catalogue = load_catalogue([tmp_path])
    assert {"acme/Tiny-1B", "acme/Tiny-2B"} <= set(catalogue.ids("models"))


def test_the_hash_follows_content_and_name_not_the_place(tmp_path: Path) -> None:
    here = write(tmp_path / "here", models=MODEL)
    there = write(tmp_path / "there", models=MODEL)
    other = write(tmp_path / "other", models=MODEL + "# a remark\n")
    hashes = [load_catalogue(dirs).sha256 for dirs in ([here], [there], [other], [])]
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == 3


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    directory = write(tmp_path, gpus=GPU)
    before = load_catalogue([directory])
    assert load_catalogue([directory]) is before
    path = directory / "gpus.yaml"
    path.write_text(GPU.replace("memory_bytes: 1\n", "memory_bytes: 22\n"))
    os.utime(path, ns=(1, 1))
    assert load_catalogue([directory]).gpu("h100").memory_bytes == 22


def test_one_row_is_parsed_not_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    def recording(text: str, name: str) -> object:
        parsed.append(text)
        return parse_yaml(text, name)

    monkeypatch.setattr("kvplan.catalogue.rows.parse_yaml", recording)
    catalogue = Catalogue(table_files())
    catalogue.gpu("h100")
    catalogue.gpu("H100")
    catalogue.gpu("h100-sxm")
    assert len(parsed) == 1
    assert parsed[0].lstrip().startswith("- id: h100\n")


@pytest.mark.parametrize("path", sorted(BUILT_IN.rglob("*.yaml")), ids=lambda path: path.name)
def test_cutting_a_table_into_rows_loses_nothing(path: Path) -> None:
    table = path.stem if path.parent == BUILT_IN else path.parent.name
    cut = rows_of([TableFile(table, path, path.name, 0, (0, 0))]).values()
    whole = read_yaml(path)
    assert [row.document().data[0] for row in cut] == whole.data
    assert [(row.id, list(row.aliases)) for row in cut] == [(row["id"], row.get("aliases", [])) for row in whole.data]
    assert [f"{row.where}:3" for row in cut] == [
        whole.where((i,)).replace(str(path), path.name) for i in range(len(cut))
    ]


@pytest.mark.parametrize(
    "aliases",
    ['  aliases: [one, "two"]\n', "  aliases:\n    [one,\n     two]\n", "  aliases:\n  - one\n  - two\n"],
)
def test_aliases_in_any_layout(tmp_path: Path, aliases: str) -> None:
    text = f"# head\n\n- id: 'x'  # a remark\n{aliases}  family: f\n- id: y\n"
    cut = rows_of([own_table(tmp_path, text)])
    assert [(row.id, row.aliases) for row in cut.values()] == [("x", ("one", "two")), ("y", ())]
    assert [row.where.split(":")[1] for row in cut.values()] == ["3", str(3 + aliases.count("\n") + 2)]


def test_a_row_of_our_own_with_its_id_elsewhere(tmp_path: Path) -> None:
    cut = rows_of([own_table(tmp_path, "- family: f\n  id: x\n")])
    assert list(cut) == ["x"]


def test_problems_of_a_row_of_our_own_keep_the_line(tmp_path: Path) -> None:
    row = rows_of([own_table(tmp_path, "# one\n# two\n- id: x\n  famly: f\n")])["x"]
    with pytest.raises(InputError) as caught:
        row.record(MODELS.record)
    assert "models.yaml:4:3: [0].famly" in str(caught.value)


def test_problems_of_a_user_row_come_all_at_once(tmp_path: Path) -> None:
    text = GPU.replace("pcie_generation: 5", "pcie_generation: 9").replace("vendor: NVIDIA", "vendr: NVIDIA")
    directory = write(tmp_path, gpus=text)
    catalogue = load_catalogue([directory])
    assert catalogue.gpu("h200").vendor == "NVIDIA"
    with pytest.raises(InputError) as caught:
        catalogue.gpu("h100")
    text = str(caught.value)
    assert f"{directory / 'gpus.yaml'}:2:3: [0].vendr" in text
    assert "did you mean 'vendor'?" in text
    assert "[0].pcie_generation" in text
    assert len(caught.value.problems) == 3


def test_an_id_given_twice(tmp_path: Path) -> None:
    directory = write(tmp_path, gpus=GPU + GPU)
    with pytest.raises(InputError, match=r"gpus.yaml:12:3: h100: is given twice; first at .*gpus.yaml:1:3"):
        load_catalogue([directory]).ids("gpus")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id: h100\n", "is no list of rows"),
        ("- vendor: x\n", "is a row without an id"),
        ("- id: 7\n", "is a row without an id"),
        ("- just text\n", "is a row without an id"),
        ("- id: [\n", "gpus.yaml"),
    ],
)
def test_tables_that_are_none(tmp_path: Path, text: str, message: str) -> None:
    directory = write(tmp_path, gpus=text)
    with pytest.raises(InputError, match=message):
        load_catalogue([directory]).gpu("h100")


def test_aliases_that_are_no_names_are_left_to_validation(tmp_path: Path) -> None:
    directory = write(tmp_path, gpus=GPU + "  aliases: 5\n")
    with pytest.raises(InputError, match="aliases"):
        load_catalogue([directory]).gpu("h100")


def test_unknown_tables_are_named_together(tmp_path: Path) -> None:
    directory = write(tmp_path, model=MODEL, gpus=GPU)
    (directory / "drives.yml").write_text("[]")
    write(directory / "server", x="[]")
    (directory / "README.md").write_text("notes")
    (directory / "notes").mkdir()
    (directory / ".hidden.yaml").write_text("")
    with pytest.raises(InputError) as caught:
        load_catalogue([directory, tmp_path / "absent", directory / "gpus.yaml"])
    problems = [str(problem).replace(f"{directory}{os.sep}", "") for problem in caught.value.problems]
    assert [problem.partition(";")[0] for problem in problems] == [
        "drives.yml: is no catalogue table",
        "model.yaml: is no catalogue table",
        "server: is no catalogue table",
        "absent: does not exist",
        "gpus.yaml: is not a directory",
    ]
    assert "did you mean 'drives.yaml'" in problems[0]
    assert "did you mean 'models.yaml'" in problems[1]
    assert "did you mean 'servers'" in problems[2]


def test_unknown_table_names() -> None:
    with pytest.raises(InputError, match=r"table 'gpu': is unknown; tables: models, .*; did you mean 'gpus'"):
        load_catalogue().ids("gpu")


def test_typed_records() -> None:
    assert {gpu.vendor for gpu in load_catalogue().records(GPUS)} == {"NVIDIA", "AMD"}
