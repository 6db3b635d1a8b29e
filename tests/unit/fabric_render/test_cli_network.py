"""`kvplan network`: every format, files whole or not at all, and what a person reads when it is wrong."""

from __future__ import annotations

import io
import json
import re
import shlex
from typing import TYPE_CHECKING

import pytest
from designs import plan_of

from kvplan.__main__ import main
from kvplan.cli.network import DRAWINGS, FORMATS
from kvplan.errors import InputError
from kvplan.inputs import files
from kvplan.render.data import record_json
from kvplan.render.fabric.tables import TABLES
from kvplan.schema.design import Design
from kvplan.schema.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BEGINNINGS = {
    "table": "1 spine, 2 leaves in 2 racks\n",
    "json": '{\n  "format_version": ',
    "csv": "cable,end,a_device,",
    "md": "# Network\n\n## 1 spine, 2 leaves in 2 racks\n",
    "dot": "graph fabric {",
    "mermaid": "flowchart TB",
    "svg": "<svg ",
    "ptm": "graph network {",
}
WRONG = {
    "format, close": "--format mermade",
    "ending that says no format": "-o fabric.png",
    "no ending": "-o saved",
    "ending of another format": "--format csv -o fabric.svg",
    "table for a drawing, by the ending": "--table ports -o fabric.svg",
    "NetBox without a directory": "--format netbox-csv",
    "NetBox to stdout": "--format netbox-csv -o -",
    "NetBox into a file": "--format netbox-csv -o netbox.csv",
    "format, nothing alike": "--format visio",
    "table, close": "--table cable",
    "drawing, close": "--format svg --drawing rack",
    "all three, and a build option": "--format dott --table prots --drawing fabrik --medium copperr",
    "table with a drawing": "--format svg --table ports",
    "drawing without svg": "--drawing racks",
    "site without NetBox": "--format csv --site hall-1",
    "build file that is not there": "--build absent.yaml",
    "file into a directory that is not there": "--format svg -o absent/fabric.svg",
    "directory into one that is not there": "--format netbox-csv -o absent/netbox",
    "directory that is a file": "--format netbox-csv -o taken",
    "names that the catalogue lacks": "--build names.yaml",
    "everything at once": "--format dott --build absent.yaml --catalogue absent --spines none --table prots",
    "file that is a directory": "--format svg -o .",
}
NAMES = """\
cabling:
  families: {uplink: mcp7y11, storage: mcp7y40}
management:
  switch: sn2021
"""
TEXTS = [form for form in FORMATS if form != "netbox-csv"]


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a directory with the published system's Plan."""
    (tmp_path / "plan.json").write_text(record_json(plan_of(8)))
    (tmp_path / "taken").touch()
    (tmp_path / "names.yaml").write_text(NAMES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(directory: Path, capsys: pytest.CaptureFixture[str]) -> Callable[[str], tuple[int, str, str]]:
    """Give `run(options)`: exit code, stdout and stderr."""

    def _run(options: str) -> tuple[int, str, str]:
        code = main(["network", "plan.json", *shlex.split(options)])
        return code, *capsys.readouterr()

    return _run


def test_every_format_is_tested() -> None:
    assert list(BEGINNINGS) == TEXTS


@pytest.mark.parametrize("target", ["", "-o -"])
@pytest.mark.parametrize("form", TEXTS)
def test_it_prints_each_format(form: str, target: str, run: Callable[[str], tuple[int, str, str]]) -> None:
    code, out, err = run(f"--format {form} {target}")
    assert (code, err) == (0, "")
    assert out.startswith(BEGINNINGS[form])
    assert out.endswith("\n")


@pytest.mark.parametrize("form", TEXTS)
def test_a_file_holds_what_is_printed(form: str, run: Callable[[str], tuple[int, str, str]], directory: Path) -> None:
    _, printed, _ = run(f"--format {form}")
    code, out, _ = run(f"--format {form} -o saved")
    assert (code, out) == (0, "saved\n")
    assert (directory / "saved").read_text(encoding="utf-8") == printed


@pytest.mark.parametrize(("form", "ending"), [(form, ending) for form, its in FORMATS.items() for ending in its])
def test_the_ending_chooses_the_format(
    form: str, ending: str, run: Callable[[str], tuple[int, str, str]], directory: Path
) -> None:
    _, printed, _ = run(f"--format {'dot' if ending == '.dot' else form}")
    assert run(f"-o saved{ending.upper()}")[0] == 0
    assert (directory / f"saved{ending.upper()}").read_text(encoding="utf-8") == printed


def test_a_problem_of_the_plan_hides_no_other(run: Callable[[str], tuple[int, str, str]], directory: Path) -> None:
    (directory / "plan.json").write_text("{}")
    _, out, err = run("--format dott --build names.yaml --spines none")
    assert out == ""
    assert [line.split(":")[1].strip() for line in err.splitlines()] == ["--format", "plan.json", "--spines"]


@pytest.mark.parametrize("name", TABLES)
def test_each_table_comes_in_three_formats(name: str, run: Callable[[str], tuple[int, str, str]]) -> None:
    shown = [run(f"--table {name} --format {form}") for form in ("table", "md", "csv")]
    assert [(code, err) for code, _, err in shown] == [(0, "")] * 3
    assert len({out for _, out, _ in shown}) == 3


def test_csv_is_the_cable_schedule(run: Callable[[str], tuple[int, str, str]]) -> None:
    assert run("--format csv") == run("--format csv --table cables")
    assert run("--format csv") != run("--format csv --table ports")


def test_svg_draws_the_fabric_or_the_racks(run: Callable[[str], tuple[int, str, str]]) -> None:
    drawn = {name: run(f"--format svg --drawing {name}")[1] for name in DRAWINGS}
    assert run("--format svg")[1] == drawn["fabric"]
    assert "Rack elevation" in drawn["racks"]
    assert "Fabric diagram" in drawn["fabric"]


def test_json_is_the_whole_design(run: Callable[[str], tuple[int, str, str]]) -> None:
    text = run("--format json")[1]
    assert record_json(Design.model_validate(json.loads(text))) == text


def test_build_options_change_the_design(run: Callable[[str], tuple[int, str, str]], directory: Path) -> None:
    (directory / "build.yaml").write_text("fabric: {min_spines: 2}\n")
    assert "2 spines, 2 leaves" in run("--spines 2")[1]
    assert run("--build build.yaml --format csv") == run("--spines 2 --format csv")
    assert "transceiver" in run("--medium optics")[1]


def test_a_netbox_directory_that_cannot_be_filled_is_not_left(
    run: Callable[[str], tuple[int, str, str]], directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = files.write_atomically

    def full(path: Path, data: str) -> None:
        if path.name.startswith("03-"):
            raise InputError.single(str(path), "cannot be written: no space left on device")
        written(path, data)

    monkeypatch.setattr(files, "write_atomically", full)
    before = set(directory.iterdir())
    code, out, err = run("--format netbox-csv -o netbox")
    assert (code, out) == (3, "")
    assert re.fullmatch(r"error: netbox/03-[a-z-]+\.csv: cannot be written: no space left on device\n", err)
    assert set(directory.iterdir()) == before


def test_netbox_files_go_into_a_directory(run: Callable[[str], tuple[int, str, str]], directory: Path) -> None:
    code, out, err = run("--format netbox-csv --site 'Hall 1' -o netbox")
    assert (code, err) == (0, "")
    names = sorted(path.name for path in (directory / "netbox").iterdir())
    assert out.split() == [f"netbox/{name}" for name in names]
    assert (directory / "netbox" / "01-sites.csv").read_text() == "name,slug,status\nHall 1,hall-1,planned\n"
    assert "Supermicro" in (directory / "netbox" / "04-device-types.csv").read_text()
    unknown = [
        line for line in (directory / "netbox" / "04-device-types.csv").read_text().splitlines() if "unknown" in line
    ]
    assert [line.split(",")[1] for line in unknown] == ["control-1u"]
    assert [path.name for path in directory.iterdir() if path.name.startswith(".kvplan")] == []


def test_netbox_files_replace_those_that_are_there(run: Callable[[str], tuple[int, str, str]], directory: Path) -> None:
    (directory / "netbox").mkdir()
    (directory / "netbox" / "01-sites.csv").write_text("old")
    (directory / "netbox" / "notes.txt").write_text("mine")
    (directory / "netbox" / "13-cables.csv").write_text("of another release")
    code, out, _ = run("--format netbox-csv -o netbox")
    assert code == 0
    assert out.splitlines()[-1] == "netbox/13-cables.csv: of another run, not part of this import"
    assert "notes.txt" not in out
    assert "site-1" in (directory / "netbox" / "01-sites.csv").read_text()
    assert (directory / "netbox" / "notes.txt").read_text() == "mine"


def test_what_is_wrong_is_said_at_once(
    run: Callable[[str], tuple[int, str, str]], directory: Path, golden: Callable[[str, str], None]
) -> None:
    before = sorted(directory.rglob("*"))
    seen = []
    for case, options in WRONG.items():
        code, out, err = run(options)
        assert (code, out) == (3, ""), case
        seen.append(f"# {case}\n$ kvplan network plan.json {options}\n{err}")
    assert sorted(directory.rglob("*")) == before
    golden("network/wrong-options.txt", "\n".join(seen))


@pytest.mark.usefixtures("directory")
def test_a_drawing_is_utf_8_whatever_the_terminal_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(pipe, encoding="ascii"))
    monkeypatch.setattr("kvplan.render.fabric.fabric_svg.fabric_svg", lambda _: "<svg>Ä…</svg>\n")
    assert main(["network", "plan.json", "--format", "svg"]) == 0
    assert pipe.getvalue().decode() == "<svg>Ä…</svg>\n"


def test_a_missing_plan_is_said(run: Callable[[str], tuple[int, str, str]], directory: Path) -> None:
    (directory / "plan.json").rename(directory / "plan1.json")
    code, out, err = run("")
    assert (code, out) == (3, "")
    assert "did you mean 'plan1.json'" in err


def test_makers_are_those_of_the_plan(run: Callable[[str], tuple[int, str, str]], directory: Path) -> None:
    """A Plan made with tables of its sender's own keeps who makes its parts; a stand-in for any make has no maker."""
    plan = Plan.model_validate_json((directory / "plan.json").read_text(encoding="utf-8"))
    server = plan.parts.server.model_copy(update={"vendor": "Acme"})
    altered = plan.model_copy(update={"parts": plan.parts.model_copy(update={"server": server}), "sha256": ""})
    (directory / "plan.json").write_text(record_json(altered), encoding="utf-8")
    assert run("--format netbox-csv -o netbox")[0] == 0
    makers = (directory / "netbox" / "02-manufacturers.csv").read_text(encoding="utf-8").split()
    assert set(makers) == {"name,slug", "Acme,acme", "NVIDIA,nvidia", "Supermicro,supermicro", "unknown,unknown"}
