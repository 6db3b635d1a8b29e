"""docs/simulate.md shows what the commands on it print."""

from __future__ import annotations

import json
import re
import shlex
from functools import cache
from pathlib import Path

import pytest
from generated_traces import generated_trace

from kvplan import Request, size
from kvplan.__main__ import main
from kvplan.core.seal import sealed
from kvplan.render.data import record_json

PAGE = Path(__file__).parents[3] / "docs" / "simulate.md"
BLOCKS = re.findall(r"```console\n\$ (.*?)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@cache
def plan_text() -> str:
    """Size what the page sizes."""
    return record_json(sealed(size(Request(model="gpt-oss-120b", context_tokens=57_000, gpus=256, gpu="h200"))))


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lay the files of the page into an empty directory, and go there."""
    monkeypatch.chdir(tmp_path)
    Path("plan.json").write_text(plan_text(), encoding="utf-8")
    rows = (f"{json.dumps(row)}\n" for row in generated_trace(600, seed=6))
    Path("trace.jsonl").write_text("".join(rows), encoding="utf-8")


def test_page_has_commands() -> None:
    assert len(BLOCKS) == 6


@pytest.mark.parametrize(("command", "shown"), BLOCKS, ids=[command for command, _ in BLOCKS])
def test_command(capsys: pytest.CaptureFixture[str], command: str, shown: str) -> None:
    name, *arguments = shlex.split(command)
    assert (name, main(arguments)) == ("kvplan", 0)
    printed = capsys.readouterr().out
    for part in re.split(r"^\.\.\.$\n", shown, flags=re.MULTILINE):
        assert part in printed
