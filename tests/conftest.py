"""Fixtures of the whole suite: golden files, compared byte by byte and rewritten by `make golden`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Callable

GOLDEN = Path(__file__).parent / "golden"
REGENERATE = "KVPLAN_REGENERATE_GOLDEN"

# What a developer's shell holds must not decide what is printed; processes that tests start inherit this too.
_OUTSIDE = (
    "FORCE_COLOR",
    "NO_COLOR",
    "TERMINAL_WIDTH",
    "KVPLAN_CATALOGUE",
    "KVPLAN_PROFILES",
    "KVPLAN_DATA_DIR",
    "KVPLAN_DEBUG",
)
for _name in _OUTSIDE:
    os.environ.pop(_name, None)
os.environ["COLUMNS"] = "80"

# A slow machine is no failed property; and what lands must not depend on the day's random examples, which is what a
# developer's own runs are for.
settings.register_profile("kvplan", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("kvplan")


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Give `golden(name, text)`, which compares the text with tests/golden/<name>."""
    return _compare


def _compare(name: str, text: str) -> None:
    """Compare with the committed file, or rewrite it when asked to."""
    path = GOLDEN / name
    if os.environ.get(REGENERATE) == "1":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.is_file(), f"tests/golden/{name} does not exist: run `make golden` and review it"
    assert text == path.read_text(encoding="utf-8"), f"tests/golden/{name} differs: if meant, `make golden` and review"
