"""`kvplan bom` as a person uses it: what is printed, what is saved, and what is said of wrong options."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support_quotes import DAY

from kvplan.__main__ import main
from kvplan.reference import PLAN
from kvplan.render.data import record_json

if TYPE_CHECKING:
    from collections.abc import Callable

    Golden = Callable[[str, str], None]
    Run = Callable[[str], tuple[int, str, str]]

EXAMPLE = Path(__file__).parents[3] / "examples" / "price-book.yaml"
BOOKS = "--price-book book.yaml --discount 12% --discount services=0%"
RULE = re.compile(r"[-─:| ]*")
WRONG = {
    "format": "bom plan.json --format xslx",
    "ending": "bom plan.json -o quote.pdf",
    "no such plan": "bom plna.json",
    "no plan": "bom book.yaml",
    "no such book": "bom plan.json --price-book bok.yaml --prices filled.csv",
    "a workbook": "bom plan.json --prices quote.xlsx",
    "discounts": "bom plan.json --discount 12 --discount 130% --discount stroage=5% --discount 5% --discount 6% "
    "--discount spares=1% --discount spares=2%",
    "currency": "bom plan.json --currency Euro",
    "rates": "bom plan.json --rate USD --rate EURO=1 --rate USD=0 --rate USD=1 --rate USD=2 --rate GBP=1,2",
    "two currencies": "bom plan.json --price-book book.yaml --price-book dollars.yaml",
    "far days": "bom plan.json --date 9999-12-31",
    "near days": "bom plan.json --date 0001-01-01",
    "days": "bom plan.json --date 30.11.2026 --valid-days 0 --max-price-age x --support-years 99",
    "build": "bom plan.json --clients some --medium glass --spines 0 --racks few",
    "everything at once": "bom nowhere.json --format pdf --discount x --clients y --price-book z.yaml --catalogue none",
}


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command beside the published Plan and two price books."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(int(datetime(DAY.year, DAY.month, DAY.day, tzinfo=UTC).timestamp())))
    Path("plan.json").write_text(record_json(PLAN), encoding="utf-8")
    Path("book.yaml").write_text(EXAMPLE.read_text(encoding="utf-8"), encoding="utf-8")
    dollars = EXAMPLE.read_text(encoding="utf-8").replace("currency: EUR", "currency: USD")
    Path("dollars.yaml").write_text(dollars, encoding="utf-8")

    def one(command: str) -> tuple[int, str, str]:
        code = main(shlex.split(command))
        out, err = capsys.readouterr()
        return code, out, err

    return one


@pytest.mark.parametrize(
    ("name", "books"), [("priced.txt", BOOKS), ("priced.csv", f"{BOOKS} --format csv"), ("reference.txt", "")]
)
def test_it_prints(run: Run, golden: Golden, name: str, books: str) -> None:
    code, out, err = run(f"bom plan.json {books}")
    golden(f"bom/{name}", out)
    assert (code, err) == (0, "")


@pytest.mark.parametrize("books", [BOOKS, ""])
def test_markdown_says_what_the_screen_does(run: Run, monkeypatch: pytest.MonkeyPatch, books: str) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.setattr("kvplan.cli.console.DEFAULT_WIDTH", 400)
    _, screen, _ = run(f"bom plan.json {books}")
    _, document, _ = run(f"bom plan.json {books} --format md")
    assert document.startswith("# Quote: standard-8, 8 nodes, 744 TB usable\n\n")
    assert _said(document)[1:] == _said(screen)


def _said(text: str) -> list[list[str]]:
    """Take rules and marks off a text: what is left in its lines, the cells of a table apart."""
    plain = (re.sub(r"^(#+|-) |\\", "", line.strip(" |")) for line in text.splitlines() if not RULE.fullmatch(line))
    return [[cell for cell in re.split(r" *\| *| {2,}", line) if cell] for line in plain if line]


def test_no_line_of_a_table_is_wider_than_the_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for columns in (80, 60):
        monkeypatch.setenv("COLUMNS", str(columns))
        _, out, _ = run("bom plan.json --price-book book.yaml")
        assert max(map(len, out.splitlines())) <= columns


def test_json_holds_every_line_and_the_total(run: Run) -> None:
    _, out, _ = run("bom plan.json --price-book book.yaml --format json")
    data: dict[str, Any] = json.loads(out)
    _, rows, _ = run("bom plan.json --price-book book.yaml --format csv")
    table = list(csv.DictReader(rows.splitlines()))
    assert data["format_version"] == "1.0"
    assert [line["line"] for line in data["lines"]] == [row["line"] for row in table]
    assert [line["extended"] or "" for line in data["lines"]] == [row["extended"] for row in table]
    assert [str(line["quantity"]) for line in data["lines"]] == [row["quantity"] for row in table]
    assert data["total"] != "0"


@pytest.mark.parametrize("name", ["quote.csv", "quote.json", "quote.yaml", "quote.md", "quote.txt"])
def test_the_ending_chooses_the_format_and_the_screen_says_what_it_comes_to(run: Run, name: str) -> None:
    form = {"txt": "table"}.get(name.partition(".")[2], name.partition(".")[2])
    _, printed, _ = run(f"bom plan.json --format {form}")
    code, out, err = run(f"bom plan.json -o {name}")
    assert (code, err) == (0, "")
    assert Path(name).read_text(encoding="utf-8") == printed
    assert out.endswith(f"Saved\n  {name}, as {form}\n")
    assert "incomplete: no price for any of" in out


def test_a_workbook_is_saved_and_goes_through_a_pipe(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("bom plan.json -o quote.xlsx")
    pipe = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(pipe, encoding="utf-8"))
    assert main(shlex.split("bom plan.json --format xlsx")) == 0
    assert pipe.getvalue() == Path("quote.xlsx").read_bytes()


def test_a_workbook_does_not_go_to_a_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    code, out, err = run("bom plan.json --format xlsx")
    assert (code, out) == (3, "")
    assert err == "error: --format: a workbook does not go to a terminal; name a file: -o quote.xlsx\n"


def test_a_filled_export_comes_back(run: Run) -> None:
    run("bom plan.json -o to-fill.csv")
    with Path("to-fill.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for number, row in enumerate(rows):
        row["list_price"] = f"{sum(map(ord, row['key'])):,}.50" if row["priced"] == "yes" and number else ""
        row["price_date"] = str(DAY)
    with Path("filled.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    code, out, err = run("bom plan.json --prices filled.csv -o again.csv")
    assert (code, err) == (0, "")
    assert "  total EUR " in out
    run("bom plan.json --prices again.csv -o third.csv")
    texts = (Path(name).read_text(encoding="utf-8") for name in ("again.csv", "third.csv"))
    again, third = (list(csv.DictReader(text.splitlines())) for text in texts)
    books = [{row.pop("price_book") for row in table} - {""} for table in (again, third)]
    assert third == again
    assert books == [{"filled.csv"}, {"again.csv"}]


@pytest.mark.parametrize(
    ("command", "named", "read_as"),
    [
        ("bom plan.json -o plan.json", "plan.json", "the Plan"),
        ("bom plan.json -o linked.json", "linked.json", "the Plan"),
        ("bom plan.json --price-book book.yaml -o book.yaml", "book.yaml", "what --price-book reads"),
        ("bom plan.json --prices filled.csv -o filled.csv", "filled.csv", "what --prices reads"),
        ("bom plan.json --build build.yaml -o build.yaml", "build.yaml", "what --build reads"),
        ("network plan.json -o plan.json", "plan.json", "the Plan"),
        ("network plan.json --build build.yaml -f json -o build.yaml", "build.yaml", "what --build reads"),
        ("report plan.json -f md -o plan.json", "plan.json", "the Plan"),
    ],
)
def test_no_file_that_is_read_is_written_over(run: Run, command: str, named: str, read_as: str) -> None:
    Path("linked.json").symlink_to("plan.json")
    Path("build.yaml").write_text("clients: none\n", encoding="utf-8")
    Path("filled.csv").write_text("key,list_price,currency\nkit/pdu,1.50,EUR\n", encoding="utf-8")
    before = Path(named).read_bytes()
    code, out, err = run(command)
    assert (code, out) == (3, "")
    assert f"--output: '{named}' is {read_as}; another file" in err
    assert Path(named).read_bytes() == before


def test_the_currency_is_that_of_the_book(run: Run) -> None:
    _, out, _ = run("bom plan.json --price-book dollars.yaml")
    _, converted, _ = run("bom plan.json --price-book dollars.yaml --currency EUR --rate USD=0.5")
    assert "Net USD" in out
    assert "Net EUR" in converted


def test_the_day_of_the_quote(run: Run) -> None:
    assert "quote of 2026-11-30, valid to 2026-12-14" in run("bom plan.json --valid-days 14")[1]
    assert "quote of 2027-03-01, valid to 2027-03-31" in run("bom plan.json --date 2027-03-01")[1]


def test_a_wrong_epoch_is_no_traceback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    code, _, err = run("bom plan.json")
    assert (code, err) == (3, "error: SOURCE_DATE_EPOCH: 'yesterday' is no time; seconds since 1970\n")


def test_wrong_options_are_all_named_at_once(run: Run, golden: Golden) -> None:
    seen = []
    for case, command in WRONG.items():
        code, out, err = run(command)
        assert (code, out) == (3, ""), case
        assert "Traceback" not in err
        seen.append(f"# {case}\n$ kvplan {command}\n{err}")
    golden("bom/wrong-options.txt", "\n".join(seen))


def test_two_runs_print_the_same_bytes(run: Run) -> None:
    assert run("bom plan.json --format json") == run("bom plan.json --format json")
