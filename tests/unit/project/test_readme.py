"""The README shows what kvplan really says, and names commands that exist."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from kvplan.__main__ import main

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[3]
README = ROOT / "README.md"
COMMAND = "$ kvplan size --model openai/gpt-oss-120b --context 130k --gpus 128\n"
SHOWN_UNTIL = "\nProfile standard-8"
WITH_WORKLOAD = re.compile(r"\$ kvplan (size [^\n]*--workload [^\n]*)\n(.*?)```", re.DOTALL)


def screen(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the part of the reference request's screen that the README shows."""
    assert main(COMMAND.split()[2:]) == 0
    return capsys.readouterr().out.partition(SHOWN_UNTIL)[0].rstrip("\n") + "\n"


def test_the_screen_is_what_kvplan_prints(capsys: pytest.CaptureFixture[str]) -> None:
    shown, text = screen(capsys), README.read_text(encoding="utf-8")
    before, found, rest = text.partition(COMMAND)
    assert found
    block, _, after = rest.partition("```")
    if os.environ.get("KVPLAN_REGENERATE_GOLDEN"):
        README.write_text(f"{before}{COMMAND}{shown}```{after}", encoding="utf-8")
        return
    assert block == shown


def test_the_screen_with_a_workload_is_what_kvplan_prints(capsys: pytest.CaptureFixture[str]) -> None:
    found = WITH_WORKLOAD.search(README.read_text(encoding="utf-8"))
    assert found
    assert main(found[1].split()) == 0
    printed = capsys.readouterr().out
    for part in found[2].split("...\n"):
        assert part in printed


def test_every_make_target_that_it_names_exists() -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    named = re.findall(r"^make ([a-z-]+)", README.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert named
    assert set(named) <= set(targets)


def test_every_page_that_it_links_exists() -> None:
    links = re.findall(r"\]\(([^):#]+)\)", README.read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
