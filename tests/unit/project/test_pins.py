"""The pins: exact, complete, and naming nobody's index."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]


def _pins() -> list[str]:
    """Read the lines of the constraints file."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def _plain(name: str) -> str:
    """Write a package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_pin_is_an_exact_version_and_nothing_else() -> None:
    assert [pin for pin in _pins() if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.+!]*", pin)] == []


def test_everything_that_is_asked_for_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]["deploy"]
    asked = [*project["project"]["dependencies"], *extras, *project["dependency-groups"]["dev"]]
    names = {_plain(re.split(r"[<>=!~\[; ]", requirement)[0]) for requirement in asked}
    assert names - {_plain(pin.partition("==")[0]) for pin in _pins()} == set()


def test_no_file_of_the_set_up_names_an_index() -> None:
    for name in ("Makefile", ".ci/run", "pyproject.toml", ".pre-commit-config.yaml"):
        assert not re.search(r"index-url|find-links|simple/", (ROOT / name).read_text(encoding="utf-8")), name


def test_ci_can_be_run() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
