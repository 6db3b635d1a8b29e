"""One rule for `-o` and `--format`, whatever the verb: the ending chooses, and no name says something else."""

from __future__ import annotations

import inspect
import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kvplan.__main__ import main
from kvplan.cli import bom, network, report
from kvplan.cli.options import STDOUT, stdout_for_dash
from kvplan.cli.parsing import format_of
from kvplan.errors import InputError, Problems
from kvplan.reference import PLAN
from kvplan.render.data import record_json

if TYPE_CHECKING:
    from collections.abc import Callable

    Golden = Callable[[str, str], None]
    Run = Callable[[str], tuple[int, str, str]]

ENDINGS = {"text": (".txt",), "page": (".html", ".htm"), "graph": (".dot",), "check": (".dot",), "folder": ()}
SIZE = "size --model openai/gpt-oss-120b --context 130k --gpus 128"
WRONG = {
    "network, unknown ending": "network plan.json -o fabric.png",
    "network, another ending": "network plan.json --format svg -o cables.csv",
    "bom, unknown ending": "bom plan.json -o quote.pdf",
    "bom, another ending": "bom plan.json --format csv -o quote.xlsx",
    "report, unknown ending": "report plan.json -o report.pdf",
    "report, another ending": "report plan.json --format html -o report.md",
    "size, another ending": f"{SIZE} -o plan.yaml",
    "size, two formats on stdout": f"{SIZE} --format csv -o -",
    "size, ending and option": f"{SIZE} --tp none -o plan.csv",
}


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command beside a saved Plan."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1764460800")
    Path("plan.json").write_text(record_json(PLAN), encoding="utf-8")

    def one(command: str) -> tuple[int, str, str]:
        code = main(shlex.split(command))
        return code, *capsys.readouterr()

    return one


@pytest.mark.parametrize(
    ("output", "form", "chosen"),
    [
        (None, None, "text"),
        (None, "page", "page"),
        ("a.html", None, "page"),
        ("a.HTM", None, "page"),
        ("a.dot", None, "graph"),
        ("a.dot", "check", "check"),
        ("saved", "page", "page"),
        ("a.b", "text", "text"),
        ("a", "folder", "folder"),
    ],
)
def test_the_rule(output: str | None, form: str | None, chosen: str) -> None:
    assert format_of(Path(output) if output else None, form, ENDINGS, default="text") == chosen


KNOWN = "text, page, graph, check, folder"
LIST = "endings: .txt, .html, .htm, .dot; or name --format; a directory goes with --format folder"


@pytest.mark.parametrize(
    ("output", "form", "message"),
    [
        (None, "pgae", f"--format: unknown format 'pgae'; one of {KNOWN}; did you mean 'page'?"),
        ("a.pdf", None, f"--output: 'a.pdf' says no format by its ending; {LIST}"),
        ("a", None, f"--output: 'a' says no format by its ending; {LIST}"),
        ("a.txt", "page", "--output: 'a.txt' is named like text, but page is saved; an ending such as .html"),
        ("a.dot", "folder", "--output: 'a.dot' is named like graph, but folder is saved; a name without an ending"),
    ],
)
def test_what_the_rule_refuses(output: str | None, form: str | None, message: str) -> None:
    with pytest.raises(InputError) as caught:
        format_of(Path(output) if output else None, form, ENDINGS, default="text")
    assert str(caught.value) == message


def test_every_verb_refuses_the_same(run: Run, golden: Golden) -> None:
    before = sorted(Path().iterdir())
    seen = []
    for case, command in WRONG.items():
        code, out, err = run(command)
        assert (code, out) == (3, ""), case
        seen.append(f"# {case}\n$ kvplan {command}\n{err}")
    assert sorted(Path().iterdir()) == before
    golden("errors/formats.txt", "\n".join(seen))


@pytest.mark.parametrize(
    "command",
    [
        "network plan.json",
        "network plan.json --format svg",
        "bom plan.json --format csv",
        "report plan.json",
        "report plan.json --format md",
    ],
)
def test_a_dash_is_stdout(run: Run, command: str) -> None:
    assert run(f"{command} -o -") == run(command)
    assert not Path("-").exists()


def test_a_dash_prints_the_plan_and_nothing_else(run: Run) -> None:
    code, out, err = run(f"{SIZE} -o -")
    assert (code, err) == (0, "")
    run(f"{SIZE} -o saved.json")
    assert out == Path("saved.json").read_text(encoding="utf-8")
    assert json.loads(out)["request"]["gpus"] == 128


def test_a_dash_in_a_name_is_a_name() -> None:
    assert stdout_for_dash(STDOUT) is None
    assert stdout_for_dash(Path("./-x")) == Path("-x")
    assert stdout_for_dash(None) is None


def test_a_report_has_every_option_of_a_quote_and_no_other() -> None:
    quote, page = (list(inspect.signature(verb).parameters) for verb in (bom.bom, report.report))
    assert quote == page


def test_formats_are_named_in_the_help(run: Run) -> None:
    for verb, formats in (("network", network.FORMATS), ("bom", bom.FORMATS), ("report", report.FORMATS)):
        _, out, _ = run(f"{verb} --help")
        assert [form for form in formats if form not in out] == []
        assert "- is stdout" in " ".join(out.split())


def test_problems_are_kept_and_raised_together() -> None:
    problems = Problems()
    problems.raise_any()
    for name in ("a", "b"):
        with problems.kept():
            raise InputError.single(name, "is wrong")
    with pytest.raises(InputError) as caught:
        problems.raise_any()
    assert [problem.where for problem in caught.value.problems] == ["a", "b"]


def test_what_is_no_problem_of_the_input_is_not_kept() -> None:
    with pytest.raises(ZeroDivisionError), Problems().kept():
        raise ZeroDivisionError
