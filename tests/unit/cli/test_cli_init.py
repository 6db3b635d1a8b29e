"""`kvplan init site` as it is used: from a Plan, with a vendor's list, and with what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml
from example_sites import EXAMPLES

from kvplan.__main__ import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PLAN = str(EXAMPLES / "compact" / "plan.json")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a directory of the test's own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_site_is_begun(here: Path, capsys: pytest.CaptureFixture[str], golden: Callable[[str, str], None]) -> None:
    assert main(["init", "site", "--from", PLAN]) == 0
    golden("cli/init-said.txt", capsys.readouterr().out)
    golden("cli/init-site.yaml", (here / "site.yaml").read_text())
    assert (here / "site.schema.json").is_file()


def test_on_stdout_it_is_the_same(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "site", "--from", PLAN, "-o", "-"]) == 0
    printed = capsys.readouterr().out
    assert main(["init", "site", "--from", PLAN]) == 0
    assert printed == (here / "site.yaml").read_text()


def test_a_list_and_a_version_and_a_build_file(here: Path) -> None:
    (here / "hosts.csv").write_text("name,serial\nleaf-001a,MT77\n")
    (here / "build.yaml").write_text('format_version: "1.0"\naddresses: {management: 172.16.0.0/16}\n')
    given = ["--import", "hosts.csv", "--cumulus", "5.11.1", "--build", "build.yaml"]
    assert main(["init", "site", "--from", PLAN, *given]) == 0
    site = yaml.safe_load((here / "site.yaml").read_text())
    (leaf,) = [switch for switch in site["switches"] if switch["name"] == "leaf-001a"]
    assert (leaf["serial"], leaf["cumulus"]) == ("MT77", "5.11.1")
    assert site["build"]["addresses"]["management"] == "172.16.0.0/16"
    assert site["servers"][0]["bmc"]["address"].startswith("172.16.")


def test_a_site_that_is_there_is_kept(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "site.yaml").write_text("mine")
    assert main(["init", "site", "--from", PLAN]) == 3
    assert "'site.yaml' exists; name another file, or add --force" in capsys.readouterr().err
    assert (here / "site.yaml").read_text() == "mine"
    assert main(["init", "site", "--from", PLAN, "--force"]) == 0
    assert (here / "site.yaml").read_text() != "mine"


def test_what_is_not_read_of_a_list_is_said(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "hosts.csv").write_text("name,serial,Warranty\nleaf-001a,MT77,3 years\n")
    assert main(["init", "site", "--from", PLAN, "--import", "hosts.csv"]) == 0
    assert "hosts.csv: nothing is read from Warranty" in capsys.readouterr().out


@pytest.mark.parametrize("output", ["hosts.csv", "link.yaml"])
def test_an_input_is_never_written_over(output: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "hosts.csv").write_text("name,serial\nleaf-001a,MT77\n")
    (here / "link.yaml").symlink_to("hosts.csv")
    assert main(["init", "site", "--from", PLAN, "--import", "hosts.csv", "-o", output, "--force"]) == 3
    assert f"'{output}' is read from; name another file" in capsys.readouterr().err
    assert (here / "hosts.csv").read_text().startswith("name,serial")


@pytest.mark.parametrize("name", ["a\nname: b.yaml", "bad\udcff.yaml"])
def test_an_odd_name_stays_out_of_the_file(name: str, here: Path) -> None:
    assert main(["init", "site", "--from", PLAN, "-o", name]) == 0
    assert (here / name).read_text().splitlines()[1].endswith("`kvplan check plan.json site.yaml`.")


def test_the_schema_keeps_its_name(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "site", "--from", PLAN, "-o", "site.schema.json"]) == 3
    assert "is the name of the schema beside the Site" in capsys.readouterr().err
    assert list(here.iterdir()) == []


def test_everything_wrong_is_said_at_once(
    here: Path, capsys: pytest.CaptureFixture[str], golden: Callable[[str, str], None]
) -> None:
    (here / "hosts.csv").write_text("name,serial\nleaf-1a,MT77\nleaf-001b,4.1E+12\n")
    given = ["--cumulus", "latest!", "--import", "hosts.csv"]
    assert main(["init", "site", "--from", PLAN, *given]) == 3
    golden("cli/init-wrong.txt", capsys.readouterr().err)
    assert list(here.iterdir()) == [here / "hosts.csv"]
