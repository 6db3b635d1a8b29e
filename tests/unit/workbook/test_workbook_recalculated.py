"""LibreOffice calculates the workbook anew, and what it gets is what Python gets, to the cent."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING, Any

import pytest
from designs import design_for, plan_of
from quotes import bill_of, book_of, priced_bill, priced_workbook
from recalculation import as_csv, needs_office, recalculated, with_cells, with_zeroed_caches
from workbook_dump import formulas

from kvplan.bom.book_csv import parse_csv_book
from kvplan.bom.workbook import workbook

if TYPE_CHECKING:
    from pathlib import Path

    from openpyxl.workbook import Workbook
    from openpyxl.worksheet.worksheet import Worksheet

    from kvplan.schema.bom import Bom, BomLine

pytestmark = [pytest.mark.slow, needs_office]
YEN = {"currency": "JPY", "rates": {"EUR": Decimal("163.27")}}
PRICE = Decimal("119.95")
REPEATED = "adapter/b3140h"
"""A part without a price that is kept as a spare too."""
COLUMNS = {"line": 0, "per": 4, "quantity": 5, "list": 7, "discount": 8, "net": 9, "extended": 10, "counted": 11}


def _yen() -> Bom:
    return bill_of(8, book_of(8, every=6), **YEN)


def _rows(book: Workbook) -> dict[str, tuple[Any, ...]]:
    """Return the lines of the bill of materials by their number."""
    return {
        row[0]: row for row in book["BOM"].iter_rows(min_row=5, values_only=True) if row[0] and row[4] not in ("", None)
    }


def _total_row(sheet: Worksheet) -> tuple[Any, ...]:
    """Return label, lines, lines without a price and total of the summary."""
    return next(row[3:7] for row in sheet.iter_rows(values_only=True) if str(row[3]).startswith("Total"))


def _cents(value: Any) -> Any:
    """Round what a spreadsheet holds to the cent; blank is blank."""
    return None if value in (None, "") else round(Decimal(repr(value)), 2)


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Workbook]:
    """Calculate the workbook and its mutations in one run of LibreOffice."""
    data, bill = priced_workbook(), priced_bill()
    prices = {
        f"BOM!H{_row_of(bill, line.line)}": float(PRICE) for line in bill.lines if line.priced and not line.list_price
    }
    mutations = {
        "as-written": data,
        "zeroed": with_zeroed_caches(data),
        "discount": with_cells(data, {"Discount": 0.2}),
        "group-discount": with_cells(data, {"Discount_software": 0.35}),
        "spares": with_cells(data, {"Rate_drives": 0.07, "Minimum_cables": 3}),
        "nodes": with_cells(data, {"StorageNodes": 9}),
        "prices": with_cells(data, prices),
        "one-price": with_cells(data, {f"BOM!H{_row_of(bill, _leader(bill).line)}": float(PRICE)}),
        "yen": with_zeroed_caches(workbook(plan_of(8), design_for(8), _yen())),
    }
    return recalculated(mutations, tmp_path_factory.mktemp("recalculated"))


def _leader(bill: Bom) -> BomLine:
    """Find the first line of a part that has no price and stands in several lines."""
    return next(line for line in bill.lines if line.key == REPEATED and line.priced)


def _row_of(bill: Bom, number: str) -> int:
    """Find the row of a line: a group with its heading after the other."""
    row = 4
    for index, line in enumerate(bill.lines):
        row += 1 + (index == 0 or bill.lines[index - 1].group != line.group)
        if line.line == number:
            return row
    raise AssertionError(number)


@pytest.mark.parametrize("name", ["as-written", "zeroed"])
def test_every_formula_comes_to_the_value_it_carries(books: dict[str, Workbook], name: str) -> None:
    carried = formulas(priced_workbook())
    different = {
        f"{sheet}!{address} {formula}": (value, found)
        for (sheet, address), (formula, value) in carried.items()
        if (found := books[name][sheet][address].value) != value
        and not (isinstance(value, float | int) and found == pytest.approx(value, rel=1e-12))
        and not (value is None and found == "")
    }
    assert len(carried) > 800
    assert different == {}


@pytest.mark.parametrize(
    ("name", "changed"), [("discount", {"discount": Decimal("0.2")}), ("zeroed", {}), ("yen", YEN)]
)
def test_lines_and_total_are_those_of_decimal_arithmetic(
    books: dict[str, Workbook], name: str, changed: dict[str, object]
) -> None:
    bill = bill_of(8, book_of(8, every=6), **changed)
    rows = _rows(books[name])
    for line in bill.lines:
        row = rows[line.line]
        found = (row[COLUMNS["quantity"]], _cents(row[COLUMNS["net"]]), _cents(row[COLUMNS["extended"]]))
        assert found == (line.quantity, line.net_price, line.extended), line.line
    label, lines, missing, total = _total_row(books[name]["Summary"])
    assert (lines, missing, _cents(total)) == (sum(group.lines for group in bill.groups), bill.missing, bill.total)
    assert label == f"Total (incomplete: {bill.missing} lines without a price)"


def test_half_cents_are_among_what_was_proved() -> None:
    halves = [
        line
        for line in priced_bill().lines
        if line.list_price is not None and (line.list_price * (1 - line.discount) * 1000) % 10 == 5
    ]
    assert len(halves) >= 3


def test_a_group_follows_the_quote_until_its_own_discount_is_typed_over(books: dict[str, Workbook]) -> None:
    before, after = priced_bill(), _rows(books["group-discount"])
    for line in before.lines:
        if line.net_price is not None:
            share = Decimal("0.35") if line.group == "software" else line.discount
            assert after[line.line][COLUMNS["discount"]] == pytest.approx(float(share)), line.line
    assert _total_row(books["group-discount"]["Summary"])[3] < before.total


def test_spares_follow_rates_and_minimums(books: dict[str, Workbook]) -> None:
    rows = _rows(books["spares"])
    quantities = {line.line: line.quantity for line in priced_bill().lines}
    seen = set()
    for line in priced_bill().lines:
        if line.spare_rate_id in {"drives", "cables"}:
            rate, least = (Decimal("0.07"), 1) if line.spare_rate_id == "drives" else (Decimal("0.05"), 3)
            covered = sum(quantities[other] for other in line.spare_of)
            needed = max(least, int((rate * covered).to_integral_value(rounding=ROUND_CEILING)))
            assert rows[line.line][COLUMNS["quantity"]] == needed
            seen.add(line.spare_rate_id)
    assert seen == {"drives", "cables"}


def test_one_node_more_changes_all_that_is_counted_by_nodes(books: dict[str, Workbook]) -> None:
    rows = _rows(books["nodes"])
    bill = priced_bill()
    by_key = {line.key: rows[line.line][COLUMNS["quantity"]] for line in bill.lines if not line.spare_of}
    drives = next(line for line in bill.lines if line.key.startswith("drive/"))
    assert by_key[drives.key] == 9 * plan_of(8).profile.drives_per_node
    assert by_key["kit/rhel"] == 10
    assert by_key["kit/scale-ece"] == 1106
    for line in bill.lines:
        net, quantity, extended = (rows[line.line][COLUMNS[name]] for name in ("net", "quantity", "extended"))
        if line.net_price is not None:
            assert _cents(extended) == _cents(net) * quantity
    counted = [_cents(row[COLUMNS["extended"]]) for row in rows.values() if row[COLUMNS["counted"]] == "yes"]
    assert _cents(_total_row(books["nodes"]["Summary"])[3]) == sum(counted, Decimal(0)) > bill.total


def test_prices_filled_in_make_the_total_complete(books: dict[str, Workbook]) -> None:
    bill = priced_bill()
    added = sum(
        (
            round(PRICE * (1 - line.discount) + Decimal("1e-9"), 2) * line.quantity
            for line in bill.lines
            if line.priced and not line.optional and line.list_price is None
        ),
        Decimal(0),
    )
    label, _, missing, total = _total_row(books["prices"]["Summary"])
    assert (label, missing, _cents(total)) == ("Total", 0, bill.total + added)


def test_a_part_that_stands_in_several_lines_is_priced_once(books: dict[str, Workbook]) -> None:
    rows, bill = _rows(books["one-price"]), priced_bill()
    followers = [line for line in bill.lines if line.key == REPEATED and line.priced]
    assert len(followers) > 1
    assert {rows[line.line][COLUMNS["list"]] for line in followers} == {float(PRICE)}
    assert _total_row(books["one-price"]["Summary"])[2] == bill.missing - len(followers)


def test_prices_typed_into_the_sheet_come_back_as_a_price_book(tmp_path: Path) -> None:
    text = as_csv(priced_workbook(), 2, tmp_path)
    read = {
        item.key: item.list_price for item in parse_csv_book(text, "quote.csv").items if item.list_price is not None
    }
    assert read == {line.key: line.list_price for line in priced_bill().lines if line.list_price is not None}


def test_nothing_comes_to_an_error(books: dict[str, Workbook]) -> None:
    wrong = [
        f"{name}: {sheet.title}!{cell.coordinate} {cell.value}"
        for name, book in books.items()
        for sheet in book
        for row in sheet.iter_rows()
        for cell in row
        if cell.data_type == "e" or (isinstance(cell.value, str) and cell.value.startswith(("#", "Err:")))
    ]
    assert wrong == []
