"""docs/trace.md shows what the commands on it print."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from generated_traces import generated_trace

from kvplan.__main__ import main

PAGE = Path(__file__).parents[3] / "docs" / "trace.md"
BLOCKS = re.findall(r"```console\n\$ (.*?)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture(autouse=True)
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lay the files of the page into an empty directory, and go there."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{json.dumps(row)}\n" for row in generated_trace(600, seed=6)]
    Path("trace.jsonl").write_text("".join(rows), encoding="utf-8")
    Path("damaged.jsonl").write_text("".join((*rows[:100], f"{rows[100][:40]}\n", *rows[101:])), encoding="utf-8")
    arrivals = (f"2023-11-16 18:{minute:02d}:00.0000000,{100 * minute + 50},{minute}\n" for minute in range(50))
    Path("arrivals.csv").write_text("".join(("TIMESTAMP,ContextTokens,GeneratedTokens\n", *arrivals)), encoding="utf-8")


def test_page_has_commands() -> None:
    assert len(BLOCKS) == 6


@pytest.mark.parametrize(("command", "shown"), BLOCKS, ids=[command for command, _ in BLOCKS])
def test_command(capsys: pytest.CaptureFixture[str], command: str, shown: str) -> None:
    name, *arguments = shlex.split(command)
    assert name == "kvplan"
    code = main(arguments)
    out, err = capsys.readouterr()
    assert code == (3 if "--strict" in arguments else 0)
    printed = out + err
    for part in re.split(r"^\.\.\.$\n", shown, flags=re.MULTILINE):
        assert part in printed
