"""`kvplan check` and `kvplan explain` of a check: every format, exit codes, and what is said of wrong options."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import typer
from checking import clean_data
from designs import plan_of

from kvplan import __main__ as entry
from kvplan.checks import registry
from kvplan.cli import app as whole
from kvplan.cli import check as verb
from kvplan.cli.siting import Sited, read_sited
from kvplan.errors import InputError
from kvplan.render.data import data_yaml, record_json
from kvplan.schema.base import SEVERITIES
from kvplan.schema.checking import CheckReport

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a directory with a Plan, a clean Site and one with faults; only checks that are modules run."""
    data = clean_data()
    (tmp_path / "plan.json").write_text(record_json(plan_of(8)))
    (tmp_path / "site.yaml").write_text(data_yaml(data))
    first, second, *_ = data["servers"]
    second["serial"] = first["serial"]
    data["network"]["dns"] = ["172.24.64.9"]
    data["versions"]["vllm"] = "0.15.0"
    for server in data["servers"]:
        server["boot_drives"]["most_gb"] = 8000
    (tmp_path / "faulty.yaml").write_text(data_yaml(data))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "all_checks", registry.own_checks)
    monkeypatch.setattr(Sited, "tree", lambda _: {})
    return tmp_path


def run(*arguments: str) -> int:
    """Run the verb alone, with kvplan's own way of reporting errors."""
    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(epilog=verb.EXAMPLES)(verb.check)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(whole, "app", app)
        return entry.main(arguments)


@pytest.mark.usefixtures("directory")
@pytest.mark.parametrize("form", verb.FORMATS)
def test_format(form: str, golden: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]) -> None:
    assert run("plan.json", "faulty.yaml", "--format", form) == 6
    out, err = capsys.readouterr()
    assert err == ""
    golden(f"site/checks/check.{ {'table': 'txt'}.get(form, form) }", out)


@pytest.mark.usefixtures("directory")
def test_narrow(
    golden: Callable[[str, str], None], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert run("plan.json", "faulty.yaml") == 6
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 40
    golden("site/checks/check-narrow.txt", out)


@pytest.mark.usefixtures("directory")
def test_json_is_a_report_with_everything(capsys: pytest.CaptureFixture[str]) -> None:
    run("plan.json", "faulty.yaml", "--format", "json")
    data = json.loads(capsys.readouterr().out)
    report = CheckReport.model_validate(data)
    assert data["format_version"] == "1.0"
    assert (report.plan, report.site) == ("plan.json", "faulty.yaml")
    grave = [SEVERITIES.index(finding.severity) for finding in report.findings]
    assert grave == sorted(grave)
    assert all(finding.expected and finding.manual and finding.source for finding in report.findings)


@pytest.mark.usefixtures("directory")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("site.yaml", 0),
        ("site.yaml --severity warning", 6),
        ("site.yaml --severity warning --skip KV-CAP-00[2-5]", 0),
        ("site.yaml --severity info --skip KV-CAP-00[2-5]", 0),
        ("faulty.yaml", 6),
        ("faulty.yaml --skip KV-SIT-005", 6),
        ("faulty.yaml --skip KV-SIT-005 --skip kv-net-*", 0),
        ("faulty.yaml --skip KV-*", 0),
    ],
)
def test_exit_code(arguments: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("plan.json", *arguments.split()) == code
    out, err = capsys.readouterr()
    assert "checks run" in out or "check run" in out
    assert err == ""


@pytest.mark.usefixtures("directory")
def test_what_is_skipped_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    run("plan.json", "site.yaml", "--skip", "KV-CAP-*", "--skip", "KV-NET-001")
    assert f"{len(registry.own_checks()) - 20} checks run, 20 skipped: 0 errors" in capsys.readouterr().out


@pytest.mark.usefixtures("directory")
def test_everything_wrong_is_said_at_once(
    directory: Path, golden: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    (directory / "broken.yaml").write_text("name: A\nnetwork: {}\n")
    options = ("--format", "jsn", "--severity", "fatal", "--skip", "KV-NET-3", "--skip", "nothing", "--catalogue", "no")
    assert run("absent.json", "broken.yaml", *options) == 3
    out, err = capsys.readouterr()
    assert out == ""
    golden("site/checks/wrong.txt", err)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"versions": {"storage_scale": "6.0.0.9"}}, "storage_scale: 6.0.0.9"),
        ({"build": {"management": {"switch": "sn2021"}}}, "switch: sn2021"),
    ],
)
def test_names_that_no_table_has_are_placed(directory: Path, change: dict[str, Any], where: str) -> None:
    data = clean_data()
    for section, fields in change.items():
        data[section] |= fields
    text = data_yaml(data)
    (directory / "other.yaml").write_text(text)
    with pytest.raises(InputError) as refused:
        read_sited(directory / "plan.json", directory / "other.yaml", None)
    (problem,) = refused.value.problems
    line = int(problem.where.split(":")[-2])
    assert where in text.splitlines()[line - 1]


def test_nothing_is_rendered_from_a_site_that_lacks_a_machine(directory: Path) -> None:
    data = clean_data()
    data["servers"].pop()
    (directory / "other.yaml").write_text(data_yaml(data))
    sited = read_sited(directory / "plan.json", directory / "other.yaml", None)
    with pytest.raises(InputError, match="the Site has not; see KV-SIT-001"):
        sited.checked()


def test_a_clean_site_can_be_rendered(directory: Path) -> None:
    sited = read_sited(directory / "plan.json", directory / "site.yaml", None)
    assert sited.checked() is sited.deployment
    assert sited.directory == directory


@pytest.mark.usefixtures("directory")
def test_the_tree_is_that_of_render(monkeypatch: pytest.MonkeyPatch, directory: Path) -> None:
    monkeypatch.undo()
    render = pytest.importorskip("kvplan.site.render")
    monkeypatch.setattr(render, "rendered_tree", lambda deployment: {"of": deployment.site.name})
    assert read_sited(directory / "plan.json", directory / "site.yaml", None).tree() == {"of": "example"}


@pytest.mark.parametrize("form", ["table", "md", "json", "csv"])
def test_page_of_a_check(form: str, golden: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.main(["explain", "kv-net-006", "--format", form]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    golden(f"site/checks/explain.{ {'table': 'txt'}.get(form, form) }", out)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["KV-NET-0006"],
            "KV-NET-0006: is no check; an id such as KV-NET-003; docs/checks.md lists them; did you mean ",
        ),
        (["KV"], "KV: is no check; "),
        (["KV-NET-006", "kv"], "kv: a check has no fields; a field goes with a Plan"),
        (["kvx.json"], "kvx.json: does not exist"),
    ],
)
def test_unknown_check(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.main(["explain", *arguments]) == 3
    assert capsys.readouterr().err.startswith(f"error: {said}")


def test_a_plan_may_be_called_like_a_check(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (directory / "plan.json").rename(directory / "kv-1")
    assert entry.main(["explain", "kv-1", "profile.nodes"]) == 0
    assert capsys.readouterr().out.startswith("profile.nodes = 8")
