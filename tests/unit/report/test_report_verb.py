"""The verb `kvplan report`: page and document, saved or printed, and everything wrong named at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from designs import plan_of

from kvplan.__main__ import main
from kvplan.render.data import record_json

if TYPE_CHECKING:
    from pathlib import Path

BOOK = """\
format_version: "1.0"
name: list
currency: EUR
date: 2026-11-01
items:
  - {key: no-such-part, list_price: 10}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with a saved Plan, on a fixed day."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1764460800")
    (tmp_path / "plan.json").write_text(record_json(plan_of(8)), encoding="utf-8")
    return tmp_path


def test_it_saves_a_page_and_says_what_is_on_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "plan.json", "-o", "report.html"]) == 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>\n")
    assert page.endswith("</html>\n")
    printed = capsys.readouterr().out
    assert printed.startswith("report.html: standard-8, 8 nodes; ")
    assert "not priced" in printed


def test_the_same_day_gives_the_same_bytes(folder: Path) -> None:
    assert main(["report", "plan.json", "-o", "one.html"]) == 0
    assert main(["report", "plan.json", "-o", "two.html"]) == 0
    assert (folder / "one.html").read_bytes() == (folder / "two.html").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "start"),
    [
        ([], "<!DOCTYPE html>"),
        (["--format", "md"], "# Shared KV-cache storage for openai/gpt-oss-120b"),
        (["--format", "html"], "<!DOCTYPE html>"),
    ],
)
def test_without_a_file_it_prints(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], start: str
) -> None:
    assert main(["report", "plan.json", *arguments]) == 0
    assert capsys.readouterr().out.startswith(start)


def test_the_ending_of_the_file_chooses_the_format(folder: Path) -> None:
    assert main(["report", "plan.json", "-o", "report.md"]) == 0
    assert (folder / "report.md").read_text(encoding="utf-8").startswith("# Shared KV-cache storage")


def test_price_books_and_build_options_are_taken(folder: Path) -> None:
    (folder / "book.yaml").write_text(BOOK, encoding="utf-8")
    arguments = ["--price-book", "book.yaml", "--currency", "EUR", "--spines", "2", "--clients", "none"]
    assert main(["report", "plan.json", *arguments, "-o", "report.html"]) == 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Price books: 1" in page
    assert "2 spines" in page
    assert "not in the bill of materials" in page


def test_everything_wrong_is_named_at_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["report", "missing.json", "--format", "pdf", "--spines", "many", "--discount", "lots"])
    shown = capsys.readouterr().err
    assert code == 3
    assert all(text in shown for text in ("missing.json", "--format", "--spines", "--discount"))
