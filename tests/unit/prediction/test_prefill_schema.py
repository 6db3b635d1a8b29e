"""Rows of the prefill table that are wrong, and the checks of the catalogue that find them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kvplan.catalogue.loader import load_catalogue
from kvplan.catalogue.verify import verify

if TYPE_CHECKING:
    from pathlib import Path

ROW = """\
- id: mine
  model: {model}
  gpu: {gpu}
  tp: 1
  weights: fp8
  source: our lab
  confidence: measured
"""
COEFFICIENTS = "  c0_s: 0.01\n  a_s_per_token: 0.00001\n  b_s_per_token2: 0.000000001\n  fit_error: 0.05\n"


def problems(directory: Path, text: str) -> list[str]:
    (directory / "prefill.yaml").write_text(text)
    return [str(problem).replace(f"{directory}/", "") for problem in verify(load_catalogue([directory]))]


def test_a_user_may_add_a_row(tmp_path: Path) -> None:
    assert problems(tmp_path, ROW.format(model="openai/gpt-oss-20b", gpu="h20") + COEFFICIENTS) == []


def test_a_usable_row_needs_its_coefficients(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, ROW.format(model="openai/gpt-oss-20b", gpu="h20"))
    assert "a row that is usable needs c0_s, a_s_per_token, b_s_per_token2, fit_error" in problem
    assert problem.startswith("prefill.yaml:1")


def test_a_row_that_is_not_usable_needs_a_reason(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, ROW.format(model="openai/gpt-oss-20b", gpu="h20") + "  usable: false\n")
    assert "a row that is not usable needs reason" in problem


@pytest.mark.parametrize(("key", "value"), [("model", "openai/gpt-oss-121b"), ("gpu", "h201")])
def test_a_row_names_models_and_gpus_of_the_catalogue(tmp_path: Path, key: str, value: str) -> None:
    names = {"model": "openai/gpt-oss-20b", "gpu": "h20", key: value}
    (problem,) = problems(tmp_path, ROW.format(**names) + COEFFICIENTS)
    assert f"{key}: {value!r} is no" in problem
