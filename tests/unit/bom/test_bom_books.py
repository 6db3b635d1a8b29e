"""Price books: what can be read, and what a person is told where something cannot."""

from __future__ import annotations

import csv
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support_quotes import book, findings, full_book, lines_of, quote

from kvplan.bom.book_csv import parse_csv_book
from kvplan.bom.books import read_price_book, read_price_books
from kvplan.errors import InputError
from kvplan.render.bom_view import bom_rows, bom_view
from kvplan.render.data import rows_csv
from kvplan.schema.money import parse_discount
from kvplan.schema.price_book import PRICE_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

EXAMPLE = Path(__file__).parents[3] / "examples" / "price-book.yaml"
HEAD = 'format_version: "1.0"\nname: A\ncurrency: EUR\ndate: "2026-11-02"\nitems:\n'
YAML: Mapping[str, str] = {
    "empty": "",
    "no items": 'format_version: "1.0"\nname: A\ncurrency: EUR\ndate: "2026-11-02"\nitems: []\n',
    "another file": "nodes: 8\n",
    "nothing of a head": "items:\n  - {key: a, list_price: 1}\n",
    "unknown keys": f"{HEAD}  - {{key: a, list_prise: 1}}\n  - {{key: b, price: 2}}\nnote: x\n",
    "no part": f"{HEAD}  - {{list_price: 1.50}}\n",
    "decimal comma": f'{HEAD}  - {{key: a, list_price: "1.234,50"}}\n  - {{key: b, list_price: "12,5"}}\n',
    "ambiguous": f'{HEAD}  - {{key: a, list_price: "1,234"}}\n  - {{key: b, list_price: 1.234}}\n',
    "negative": f"{HEAD}  - {{key: a, list_price: -1.50, discount: -3%}}\n",
    "currency in the price": f"{HEAD}  - {{key: a, list_price: EUR 15}}\n  - {{key: b, list_price: tbd}}\n",
    "a truth and a list": f"{HEAD}  - {{key: a, list_price: true}}\n  - {{key: b, list_price: [1]}}\n",
    "not finite": f"{HEAD}  - {{key: a, list_price: .nan}}\n",
    "absurd": f"{HEAD}  - {{key: a, list_price: 1e300, lead_time_days: 99999}}\n",
    "discounts": f"{HEAD}  - {{key: a, discount: 120%}}\n  - {{key: b, discount: 12}}\n  - {{key: c, discount: x}}\n",
    "twice": f"{HEAD}  - {{key: a, list_price: 1}}\n  - {{key: b, list_price: 1}}\n  - {{key: a, list_price: 1}}\n",
    "twice for a term": f"{HEAD}  - {{key: a, list_price: 1, term_months: 36}}\n"
    "  - {key: a, list_price: 2, term_months: 60}\n  - {key: a, list_price: 3, term_months: 36}\n",
    "twice by part number": f"{HEAD}  - {{part_number: X, list_price: 1}}\n  - {{part_number: X, list_price: 2}}\n",
    "twice in other letters": f"{HEAD}  - {{key: drive/a, list_price: 1}}\n  - {{key: ' DRIVE/A', list_price: 2}}\n",
    "no such day": HEAD.replace("2026-11-02", "2026-02-30") + "  - {key: a, valid_until: tomorrow}\n",
    "no such currency": HEAD.replace("EUR", "Euro") + "  - {key: a, list_price: 1}\n",
    "another version": HEAD.replace("1.0", "2.0") + "  - {key: a, list_price: 1}\n",
    "a list": "- a\n",
}
CSV: Mapping[str, str] = {
    "empty": "",
    "no header": "a,b\nc,d\n",
    "misspelt header": "key,list_prise,currency\na,1.50,EUR\n",
    "misspelt other column": "key,list_price,curency\na,1.50,EUR\n",
    "column twice": "key,list_price,currency,key\na,1.50,EUR,b\n",
    "no price at all": "key,list_price,currency\na,,EUR\n",
    "price without a part": "key,part_number,list_price,currency\n,,1.50,EUR\n",
    "price without a currency": "key,list_price,currency\na,1.50,\n",
    "prices without a currency": "key,list_price,currency\na,1.50,\nb,2.50,\nc,3.50,EUR\nd,4.50,\n",
    "no column for the currency": "key,list_price\na,1.50\nb,2.50\nc,3.50\n",
    "prices": 'key,list_price,currency\na,"1.234,50",EUR\nb,"1,234",EUR\nc,-1,EUR\nd,n/a,EUR\ne,€5,EUR\n',
    "decimal commas between commas": 'key,list_price,currency\na,"12,5",EUR\nb,"1.234",EUR\n',
    "both marks between semicolons": "key;list_price;currency\na;12,5;EUR\nb;12.5;EUR\nc;1.234;EUR\n",
    "comma outside quotes": "key,list_price,currency\na,1234,50,EUR\n",
    "every column": "key,list_price,currency,term_months,price_date,valid_until,discount,lead_time_days\n"
    "a,1.50,Euro,3y,1.11.2026,soon,12,x\n",
    "twice": "key,list_price,currency\na,1.50,EUR\nb,2.00,EUR\na,1.60,EUR\n",
    "twice in other letters": "key,list_price,currency\na,1.50,EUR\n A,2.00,EUR\n",
    "discount of one": "key,list_price,currency,discount\na,1.50,EUR,1\n",
    "digits of another script": "key,list_price,currency\na,\u0661\u0662,EUR\n",
    "a power of ten": "key,list_price,currency\na,1e3,EUR\n",
    "a key without end": f"key,list_price,currency\n{'k' * 600},1.50,EUR\n",
    "a price without end": f"key,list_price,currency\na,{'9' * 16},EUR\nb,{'9' * 30}.50,EUR\n",
    "a cell of several lines": 'key,list_price,currency,note\na,1.50,EUR,"one\ntwo\r\nthree"\nb,x,EUR,\n',
    "quote not closed": 'key,list_price,currency\na,"1.50,EUR\n',
    "text after a quote": 'key,list_price,currency\na,"1.50"x,EUR\n',
}


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Mapping[str, str], str], str]:
    """Read files that must be refused, and write down what a person sees."""
    monkeypatch.chdir(tmp_path)

    def one(case: str, text: str, name: str) -> str:
        Path(name).write_text(text, encoding="utf-8")
        with pytest.raises(InputError) as refused:
            read_price_book(name)
        return f"# {case}\n{refused.value.message}\n"

    return lambda cases, name: "\n".join(one(case, text, name) for case, text in cases.items())


def test_wrong_yaml_is_refused(
    told: Callable[[Mapping[str, str], str], str], golden: Callable[[str, str], None]
) -> None:
    golden("bom/wrong-yaml.txt", told(YAML, "book.yaml"))


def test_wrong_csv_is_refused(
    told: Callable[[Mapping[str, str], str], str], golden: Callable[[str, str], None]
) -> None:
    golden("bom/wrong-csv.txt", told(CSV, "book.csv"))


def test_a_workbook_is_no_price_book() -> None:
    with pytest.raises(InputError, match=r"quote\.xlsx: is a workbook.*save its sheet BOM as CSV"):
        read_price_book("quote.xlsx")


def test_the_problems_of_all_files_come_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        read_price_books([tmp_path / "a.yaml"], [tmp_path / "b.csv"])
    assert [Path(problem.where).name for problem in refused.value.problems] == ["a.yaml", "b.csv"]


def test_the_example_is_read_and_says_that_it_is_made_up() -> None:
    example = read_price_book(EXAMPLE)
    made = quote(example)
    assert "made up" in example.name
    assert "EVERY PRICE IN IT IS MADE UP" in EXAMPLE.read_text(encoding="utf-8")
    assert made.books[0].used == len(example.items)
    assert findings(made, "price-unused") == []
    assert lines_of(made, "kit/atx-lead/ASG-1115S-NE316R")[0].extended == 0
    assert lines_of(made, "drive/micron-e3s-7.68")[0].discount == Decimal("0.15")


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_of_any_spreadsheet_is_read(delimiter: str) -> None:
    rows = (
        ("Key", "Part number", "List_price", "currency", "price_date", "discount", "lead_time_days", "Remark"),
        ("a", "X-1", '"1,234.50"', "eur", "2026-11-01", "12%", "14", '"said ""yes"""'),
        ("b", "", "0", "USD", "", "", "", ""),
        ("c", "X-3", "", "EUR", "", "", "21", "no price"),
        ("", "", "", "", "", "", "", "a remark alone"),
    )
    sheet = parse_csv_book("\r\n".join(delimiter.join(row) for row in rows), "sheet.csv")
    first, second, third = sheet.items
    assert (sheet.name, sheet.currency, sheet.date) == ("sheet.csv", "EUR", None)
    assert (first.list_price, first.currency, first.date) == (Decimal("1234.50"), "EUR", date(2026, 11, 1))
    assert (first.discount, first.lead_time_days, first.part_number) == (Decimal("0.12"), 14, "X-1")
    assert (second.list_price, second.currency) == (Decimal(0), "USD")
    assert (third.list_price, third.lead_time_days) == (None, 21)


def test_the_sheet_of_the_workbook_saved_as_csv_is_read() -> None:
    text = (
        "Bill of materials,,,,,\nYellow cells are inputs,,,,,\n\n"
        "Line,Part number,List [USD],Discount [%],Price valid until,Key\n"
        '1.2,,"1,500.00",12.00,2026-12-31,drive/micron-e3s-7.68\n'
    )
    (item,) = parse_csv_book(text, "bom.csv").items
    assert (item.key, item.list_price, item.currency) == ("drive/micron-e3s-7.68", Decimal("1500.00"), "USD")
    assert (item.discount, item.valid_until) == (None, date(2026, 12, 31))


def prices(text: str) -> list[Decimal | None]:
    """Read the prices of a CSV book."""
    return [item.list_price for item in parse_csv_book(text, "a.csv").items]


@pytest.mark.parametrize(
    ("delimiter", "cells", "expected"),
    [
        (";", ("1.234,50", "1.005", "12"), ("1234.50", "1005", "12")),
        (";", ("12,5", "1,234", "2.000.000"), ("12.5", "1.234", "2000000")),
        (";", ("12.50", "1.005", "2,000"), ("12.50", "1.005", "2000")),
        ("\t", ("0,125", "1 234,50"), ("0.125", "1234.50")),
        (",", ("12.50", "1.005"), ("12.50", "1.005")),
        (",", ("1234.567", "1.005"), ("1234.567", "1.005")),
    ],
)
def test_a_column_that_can_be_read_one_way_only_is_read(
    delimiter: str, cells: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    lines = (f"k{number}{delimiter}{cell}{delimiter}EUR" for number, cell in enumerate(cells))
    text = "\n".join((f"key{delimiter}list_price{delimiter}currency", *lines))
    assert prices(text) == [Decimal(price) for price in expected]


def test_a_discount_may_have_a_decimal_comma() -> None:
    (item,) = parse_csv_book("key;list_price;currency;discount\na;12,5;EUR;7,5%\n", "a.csv").items
    assert item.discount == Decimal("0.075")


def test_a_part_may_be_priced_for_several_terms() -> None:
    text = "key,list_price,currency,term_months\na,1.50,EUR,36\na,2.50,EUR,60\n"
    assert [item.term_months for item in parse_csv_book(text, "a.csv").items] == [36, 60]


def test_a_csv_book_is_called_like_its_file_without_the_way_to_it() -> None:
    text = "key,list_price,currency\na,1.50,EUR\n"
    assert parse_csv_book(text, "../secret/prices.csv").name == "prices.csv"
    assert len(parse_csv_book(text, f"dir/{'x' * 251}.csv").name) == 200


def test_a_long_file_of_wrong_prices_names_each_place() -> None:
    text = "key,list_price,currency\n" + "".join(f'a{row},"x\ny",EUR\n' for row in range(3000))
    with pytest.raises(InputError) as refused:
        parse_csv_book(text, "a.csv")
    places = [problem.where for problem in refused.value.problems]
    assert (places[0], places[-1], len(places)) == ("a.csv:2:4", "a.csv:6000:7", 3000)


def test_the_same_part_may_stand_on_several_rows_if_they_agree() -> None:
    text = "key,list_price,currency\na,1.50,EUR\na,,EUR\na,1.50,EUR\n"
    assert [item.list_price for item in parse_csv_book(text, "a.csv").items] == [Decimal("1.50"), None]


@pytest.mark.parametrize("discount", ["100%", "12.5%", "0%"])
def test_the_discount_of_a_part_comes_back(discount: str) -> None:
    before = quote(book({"key": "kit/pdu", "list_price": 100, "discount": discount}))
    returned = parse_csv_book(rows_csv(*bom_rows(before)), "a.csv")
    assert {item.discount for item in returned.items if item.list_price} == {parse_discount(discount)}


@pytest.mark.parametrize(
    ("of_book", "of_items", "said"),
    [
        ("2026-10-01", [None, None], " of 2026-10-01: "),
        ("2026-10-01", ["2026-09-01", None], " of 2026-09-01 to 2026-10-01: "),
        (None, ["2026-09-01", "2026-09-01"], " of 2026-09-01: "),
        (None, ["2026-09-02", "2026-09-01"], " of 2026-09-01 to 2026-09-02: "),
        (None, [None, None], ", undated: "),
    ],
)
def test_a_book_is_of_the_days_of_its_prices(of_book: str | None, of_items: list[str | None], said: str) -> None:
    keys = ("kit/pdu", "kit/freight")
    priced = book(
        *({"key": key, "list_price": 1, "date": day} for key, day in zip(keys, of_items, strict=True)), date=of_book
    )
    (section, *_) = bom_view(quote(priced), title="x")
    assert section.below[0].startswith(f"book{said}")


# --- out and back ------------------------------------------------------------------------------------------------


def test_an_exported_sheet_with_its_prices_comes_back_to_the_same_total() -> None:
    terms: dict[str, Any] = {"discount": Decimal("0.12"), "group_discounts": {"services": Decimal(0)}}
    before = quote(full_book(quote()), **terms)
    returned = parse_csv_book(rows_csv(*bom_rows(before)), "filled.csv")
    after = quote(returned, **terms)
    assert after.complete
    assert (after.total, after.groups) == (before.total, before.groups)
    changed = {"price_book"}
    assert [line.model_dump(exclude=changed) for line in after.lines] == [
        line.model_dump(exclude=changed) for line in before.lines
    ]


@pytest.mark.parametrize("left_out", [name for name in PRICE_COLUMNS if name not in {"list_price", "key", "currency"}])
def test_an_exported_sheet_may_lack_a_column_that_its_others_resemble(left_out: str) -> None:
    before = quote(full_book(quote()))
    columns, rows = bom_rows(before)
    kept = [place for place, column in enumerate(columns) if column != left_out]
    text = rows_csv([columns[place] for place in kept], [[row[place] for place in kept] for row in rows])
    assert quote(parse_csv_book(text, "export.csv")).total == before.total


def test_discounts_of_the_quote_do_not_come_back_as_those_of_the_parts() -> None:
    before = quote(full_book(quote()), discount=Decimal("0.5"))
    returned = parse_csv_book(rows_csv(*bom_rows(before)), "filled.csv")
    assert {item.discount for item in returned.items} == {None}


def test_an_exported_sheet_without_prices_says_so() -> None:
    with pytest.raises(InputError, match=r"empty\.csv: holds no price"):
        parse_csv_book(rows_csv(*bom_rows(quote())), "empty.csv")


def test_texts_that_a_spreadsheet_would_run_stay_texts_and_come_back() -> None:
    evil = "=1+1"
    item = {"key": "drive/micron-e3s-7.68", "part_number": evil, "list_price": "1.00", "source": "@SUM(A1)"}
    before = quote(book(item))
    text = rows_csv(*bom_rows(before))
    cells = [cell for line in text.splitlines() for cell in line.split(",")]
    assert "'=1+1" in cells
    assert [cell for cell in cells if cell.startswith(("=", "@", "+"))] == []
    after = quote(parse_csv_book(text, "back.csv"))
    assert lines_of(after, "drive/micron-e3s-7.68")[0].part_number == evil


@pytest.mark.parametrize("number", ["1.10", "00123", "1E5", "+7", "-5", "12-05", "'quoted"])
def test_part_numbers_that_look_like_something_else_survive_a_spreadsheet(number: str) -> None:
    before = quote(book({"key": "drive/micron-e3s-7.68", "part_number": number, "list_price": "1.00"}))
    text = rows_csv(*bom_rows(before))
    rows = list(csv.DictReader(text.splitlines()))
    assert [row["part_number"] for row in rows if row["key"] == "drive/micron-e3s-7.68"] == [f"'{number}"] * 2
    after = quote(parse_csv_book(text, "back.csv"))
    assert lines_of(after, "drive/micron-e3s-7.68")[0].part_number == number


def test_a_quote_within_a_text_is_no_mark() -> None:
    text = "key,list_price,currency,price_source\na,1.50,EUR,offer '-5%' of May\nb,1.50,EUR,'t Hooft\n"
    assert [item.source for item in parse_csv_book(text, "a.csv").items] == ["offer '-5%' of May", "'t Hooft"]


def test_a_price_of_three_decimals_comes_back_even_alone() -> None:
    before = quote(book({"key": "drive/micron-e3s-7.68", "list_price": Decimal("1.005")}))
    after = quote(parse_csv_book(rows_csv(*bom_rows(before)), "back.csv"))
    assert lines_of(after, "drive/micron-e3s-7.68")[0].list_price == Decimal("1.005")


def test_a_part_number_made_by_a_pattern_is_not_confirmed_by_its_own_export() -> None:
    back = quote(parse_csv_book(rows_csv(*bom_rows(quote(full_book(quote())))), "back.csv"))
    assert lines_of(back, "cable/mcp4y10/1m")[0].part_number_known == "pattern"


def test_equal_input_gives_equal_bytes() -> None:
    first, second = (rows_csv(*bom_rows(quote(full_book(quote())))) for _ in range(2))
    assert first == second
