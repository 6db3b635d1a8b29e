"""LibreOffice calculates the workbook anew, and what it gets is what Python gets, to the cent."""

from __future__ import annotations

from collections import Counter
from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING, Any

import pytest
from designs import design_for, plan_of
from quotes import bill_of, book_of, priced_bill, priced_cells, priced_workbook
from recalculation import as_csv, needs_office, recalculated, with_cells, with_zeroed_caches
from workbook_dump import cells_of_lines, formulas

from kvplan.bom.book_csv import parse_csv_book
from kvplan.bom.pricing import counted_lines
from kvplan.bom.workbook import workbook
from kvplan.schema.money import rounded

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
LIST, OWN, TAKEN = "List [EUR]", "Own discount [%]", "Discount [%]"


def _yen() -> Bom:
    return bill_of(8, book_of(8, every=6), **YEN)


def _rows(book: Workbook) -> dict[str, dict[str, Any]]:
    """Return the values of the lines of the bill of materials by number and heading."""
    return {
        number: {heading: cell.value for heading, cell in cells.items()}
        for number, cells in cells_of_lines(book).items()
    }


def _place(line: BomLine, heading: str) -> str:
    """Name a cell of a line."""
    return f"BOM!{cells_of_lines(priced_cells())[line.line][heading].coordinate}"


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
    prices = {_place(line, LIST): float(PRICE) for line in bill.lines if line.priced and not line.list_price}
    mutations = {
        "as-written": data,
        "zeroed": with_zeroed_caches(data),
        "discount": with_cells(data, {"Discount": 0.2}),
        "groups": with_cells(
            data, {"Discount_software": 0.35, "Discount_spares": 0.5, "Rate_drives": 0.07, "Minimum_cables": 3}
        ),
        "nodes": with_cells(data, {"StorageNodes": 9}),
        "prices": with_cells(data, prices),
        "one-price": with_cells(data, {_place(_leader(bill), LIST): float(PRICE)}),
        "typed": with_cells(data, _typed()),
        "yen": with_zeroed_caches(workbook(plan_of(8), design_for(8), _yen())),
    }
    return recalculated(mutations, tmp_path_factory.mktemp("recalculated"))


def _leader(bill: Bom) -> BomLine:
    """Find the first line of a part that has no price and stands in several lines."""
    return next(line for line in bill.lines if line.key == REPEATED and line.priced)


def _single_lines() -> list[BomLine]:
    """List lines of the total that have a price and stand alone."""
    keys = Counter(line.key for line in priced_bill().lines)
    lines = counted_lines(priced_bill().lines)
    return [line for line in lines if keys[line.key] == 1 and line.list_price is not None and line.group != "software"]


def _typed() -> dict[str, Any]:
    """Give a line a price, one a discount, and two of them words instead; and a group a word for a discount."""
    price, discount, no_price, no_discount = _single_lines()[:4]
    return {
        _place(price, LIST): float(PRICE),
        _place(discount, OWN): 0.25,
        _place(no_price, LIST): "on request",
        _place(no_discount, OWN): "none",
        "Discount_software": "twelve",
    }


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
        money = (_cents(row[f"{name} [{bill.currency}]"]) for name in ("Net", "Extended"))
        found = (row["Quantity"], *money)
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


def test_a_group_follows_the_quote_and_spares_what_they_cover_until_a_discount_is_typed(
    books: dict[str, Workbook],
) -> None:
    before, after = priced_bill(), _rows(books["groups"])
    for line in before.lines:
        if line.net_price is not None:
            share = {"software": 0.35, "spares": 0.5}.get(line.group, float(line.discount))
            assert after[line.line][TAKEN] == pytest.approx(share), line.line
    assert _total_row(books["groups"]["Summary"])[3] < before.total


def test_spares_follow_rates_and_minimums(books: dict[str, Workbook]) -> None:
    rows = _rows(books["groups"])
    quantities = {line.line: line.quantity for line in priced_bill().lines}
    seen = set()
    for line in priced_bill().lines:
        if line.spare_rate_id in {"drives", "cables"}:
            rate, least = (Decimal("0.07"), 1) if line.spare_rate_id == "drives" else (Decimal("0.05"), 3)
            covered = sum(quantities[other] for other in line.spare_of)
            needed = max(least, int((rate * covered).to_integral_value(rounding=ROUND_CEILING)))
            assert rows[line.line]["Quantity"] == needed
            seen.add(line.spare_rate_id)
    assert seen == {"drives", "cables"}


def test_one_node_more_changes_all_that_is_counted_by_nodes(books: dict[str, Workbook]) -> None:
    rows = _rows(books["nodes"])
    bill = priced_bill()
    by_key = {line.key: rows[line.line]["Quantity"] for line in bill.lines if not line.spare_of}
    drives = next(line for line in bill.lines if line.key.startswith("drive/"))
    assert by_key[drives.key] == 9 * plan_of(8).profile.drives_per_node
    assert by_key["kit/rhel"] == 10
    assert by_key["kit/scale-ece"] == 1106
    for line in bill.lines:
        net, quantity, extended = (rows[line.line][name] for name in ("Net [EUR]", "Quantity", "Extended [EUR]"))
        if line.net_price is not None:
            assert _cents(extended) == _cents(net) * quantity
    counted = [_cents(row["Extended [EUR]"]) for row in rows.values() if row["In total"] == "yes"]
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
    assert {rows[line.line][LIST] for line in followers} == {float(PRICE)}
    assert _total_row(books["one-price"]["Summary"])[2] == bill.missing - len(followers)


def test_what_is_said_of_missing_prices_follows_those_filled_in(books: dict[str, Workbook]) -> None:
    bill = priced_bill()
    lines = sum(group.lines for group in bill.groups)
    for name, missing, severity in (("as-written", bill.missing, "warning"), ("prices", 0, "settled")):
        rest = "; the total is incomplete" if missing else ""
        text = f"{missing} of {lines} lines without a price{rest}"
        summary, points = books[name]["Summary"], books[name]["Open points"]
        assert (f"{severity}: price-missing", text) in {row[:2] for row in summary.iter_rows(values_only=True)}
        assert (severity, text) in {(row[0], row[2]) for row in points.iter_rows(values_only=True)}
        sources = [row[4] for row in books[name]["Price sources"].iter_rows(values_only=True)]
        assert ("none: to be asked for" in sources) is bool(missing)
        assert ("typed into the workbook" in sources) is not bool(missing)
        last = list(books[name]["BOM"].iter_rows(values_only=True))[-1]
        assert last[0] == _total_row(summary)[0]
        assert _cents(last[11]) == _cents(_total_row(summary)[3])


def test_counts_that_are_not_those_of_the_plan_raise_an_alarm(books: dict[str, Workbook]) -> None:
    text = "Counts differ from the plan: cables, racks, capacity and bandwidth are those of the plan"
    alarms = {name: book["Summary"]["A3"].value or "" for name, book in books.items()}
    assert alarms == {name: text if name == "nodes" else "" for name in books}
    offer = {row[0]: row[1] for row in books["nodes"]["Summary"].iter_rows(values_only=True)}
    assert offer["Storage nodes"] == plan_of(8).profile.nodes


def test_words_for_prices_and_discounts_leave_lines_without_a_price(books: dict[str, Workbook]) -> None:
    bill, rows = priced_bill(), _rows(books["typed"])
    price, discount, no_price, no_discount = _single_lines()[:4]
    software = [line for line in counted_lines(bill.lines) if line.discount_group == "software"]
    silent = {line.line for line in (no_price, no_discount, *software)}
    missing = silent | {line.line for line in counted_lines(bill.lines) if line.net_price is None}
    assert {number for number, row in rows.items() if row["In total"] == "no price"} == missing
    assert _total_row(books["typed"]["Summary"])[2] == len(missing)
    kept = [_cents(row["Extended [EUR]"]) for row in rows.values() if row["In total"] == "yes"]
    assert _cents(_total_row(books["typed"]["Summary"])[3]) == sum(kept, Decimal(0)) > 0
    assert rows[discount.line][TAKEN] == 0.25
    assert _cents(rows[discount.line]["Net [EUR]"]) == rounded((discount.list_price or 0) * Decimal("0.75"), "EUR")
    book = [rows[price.line][name] for name in ("Price book", "Price date", "Price valid until")]
    assert [value or "" for value in book] == ["typed into the workbook", "", ""]


def test_the_sheet_comes_back_as_a_price_book(tmp_path: Path) -> None:
    book = book_of(8, every=6)
    items = (book.items[0].model_copy(update={"discount": Decimal("0.12345")}), *book.items[1:])
    bills = {"own": bill_of(8, book.model_copy(update={"items": items})), "yen": _yen()}
    sheets = {name: workbook(plan_of(8), design_for(8), bill) for name, bill in bills.items()}
    sheets["typed"] = with_cells(
        priced_workbook(), {key: value for key, value in _typed().items() if not isinstance(value, str)}
    )
    texts = as_csv(sheets, 2, tmp_path)
    read = {name: {item.key: item for item in parse_csv_book(text, name).items} for name, text in texts.items()}
    for name, bill in bills.items():
        assert {key: (item.list_price, item.discount) for key, item in read[name].items() if item.list_price} == {
            line.key: (line.list_price, line.discount if line.discount_from == "book" else None)
            for line in bill.lines
            if line.list_price is not None
        }
    assert {item.discount for item in read["own"].values()} == {None, Decimal("0.12345")}
    price, discount = _single_lines()[:2]
    typed, kept = read["typed"][price.key], read["typed"][discount.key]
    assert (typed.list_price, typed.source, typed.date) == (PRICE, "typed into the workbook", None)
    assert (kept.list_price, kept.discount) == (discount.list_price, Decimal("0.25"))
    assert (kept.source, kept.date, kept.valid_until) == ("test-prices", book.date, book.valid_until)


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
