"""Every example that a help text ends with runs."""

from __future__ import annotations

import json
import lzma
import shlex
import shutil
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer
from generated_traces import generated_trace
from sites import site_data
from support import LLAMA_8B

import kvplan
from kvplan.__main__ import main
from kvplan.cli.app import app
from kvplan.render.data import record_json
from kvplan.site.initial.text import site_text

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
HEADING = "Examples:\n"
CODES = {"--exit-code": 5, "--severity": 6}
"""Exit codes other than 0; a fabric with one spine is worth a warning."""


def examples(command: Any) -> Iterator[str]:
    """Yield the examples of a verb and of the verbs below it, continued lines joined."""
    text = (command.epilog or "").partition(HEADING)[2].replace("\\\n", " ")
    yield from (line.strip() for line in text.splitlines())
    for below in getattr(command, "commands", {}).values():
        yield from examples(below)


MACHINES = {"deploy", "rehearse"}
"""Verbs that reach machines, real or simulated: their own tests run their examples."""
ALL = [line for line in examples(typer.main.get_command(app)) if line.split()[1] not in MACHINES]


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a directory with the files that the examples name."""
    (tmp_path / "config.json").write_text(json.dumps(LLAMA_8B))
    (tmp_path / "tables").mkdir()
    shutil.copy(ROOT / "examples" / "price-book.yaml", tmp_path / "prices.yaml")
    shutil.copy(ROOT / "examples" / "build.yaml", tmp_path)
    trace = "".join(f"{json.dumps(row)}\n" for row in generated_trace(200))
    (tmp_path / "trace.jsonl").write_text(trace)
    (tmp_path / "conversation_trace.jsonl.xz").write_bytes(lzma.compress(trace.encode()))
    (tmp_path / "hosts.csv").write_text("name,serial\nleaf-001a,A1\n")
    for name, gpus in (("plan", 128), ("old", 128), ("new", 200)):
        plan = kvplan.size(kvplan.Request(model="gpt-oss-120b", context_tokens=130_000, gpus=gpus))
        (tmp_path / f"{name}.json").write_text(record_json(plan))
        if name == "plan":
            (tmp_path / "site.yaml").write_text(site_text(site_data(plan)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_verb_has_one() -> None:
    verbs = {line.split()[1] for line in ALL}
    assert verbs == {
        "size",
        "kv",
        "ece",
        "explain",
        "diff",
        "network",
        "bom",
        "reference",
        "report",
        "trace",
        "simulate",
        "init",
        "render",
        "check",
        "catalogue",
    }


@pytest.mark.parametrize("line", ALL)
def test_it_runs(line: str, directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, *arguments = shlex.split(line)
    if "init" in arguments:
        (directory / "site.yaml").unlink()
    code = main(arguments)
    captured = capsys.readouterr()
    assert program == "kvplan"
    expected = next((code for option, code in CODES.items() if option in line), 0)
    assert (code, captured.err) == (expected, "")
    assert captured.out
    assert len(line) < 200


def test_no_example_is_wider_than_a_terminal() -> None:
    wide = [line for line in _shown(typer.main.get_command(app)) if len(line) > 80]
    assert wide == []


def _shown(command: Any) -> Iterator[str]:
    """Yield the lines of all examples as the help shows them, indented by two."""
    yield from (f"  {line}" for line in (command.epilog or "").partition(HEADING)[2].splitlines())
    for below in getattr(command, "commands", {}).values():
        yield from _shown(below)


@pytest.mark.usefixtures("directory")
def test_bill_and_report_of_the_same_terms_show_the_same_total(capsys: pytest.CaptureFixture[str]) -> None:
    terms = shlex.split("plan.json --price-book prices.yaml --date 2026-11-30 --discount 12% --discount services=0%")
    assert main(["bom", *terms, "--format", "json"]) == 0
    total = f"EUR {Decimal(json.loads(capsys.readouterr().out)['total']):,}"
    assert main(["report", *terms, "--format", "md"]) == 0
    assert total in capsys.readouterr().out


def test_the_script_gives_both_the_same_terms() -> None:
    script = (ROOT / "examples" / "quote.sh").read_text(encoding="utf-8")
    assert [line.split()[:3] for line in script.splitlines() if "$kvplan bom" in line or "$kvplan report" in line] == [
        ["$kvplan", "bom", '"$@"'],
        ["$kvplan", "report", '"$@"'],
    ]
