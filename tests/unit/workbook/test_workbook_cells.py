"""What the workbook is made of: text dump, inputs, print set-up, and nothing that a buyer's machine would refuse."""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal
from io import BytesIO
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import pytest
from designs import design_for, plan_of
from quotes import bill_of, book_of, priced_bill, priced_cells, priced_workbook
from workbook_dump import cells_of_lines, dumped, formulas, opened

from kvplan.bom.pricing import counted_lines
from kvplan.bom.workbook import workbook
from kvplan.render.fabric.palette import LIGHT

if TYPE_CHECKING:
    from collections.abc import Callable

    from openpyxl.workbook import Workbook

    from kvplan.schema.bom import Bom

SHEETS = [
    "Summary", "BOM", "Node build", "Software and support", "Network", "Cable schedule", "Port map", "Rack elevation",
    "Power and heat", "Candidates", "Assumptions", "Price sources", "Open points",
]  # fmt: skip
VOLATILE = re.compile(r"\b(TODAY|NOW|RAND|RANDBETWEEN|OFFSET|INDIRECT|INFO|CELL)\(")
DYNAMIC = re.compile(r"_xlfn|_xlws|\b(FILTER|UNIQUE|SORT|SEQUENCE|LET|LAMBDA|XLOOKUP)\(")


@pytest.fixture
def book() -> Workbook:
    return priced_cells()


def _written(bill: Bom) -> Workbook:
    return opened(workbook(plan_of(8), design_for(8), bill), values=True)


def _total_row(book: Workbook) -> tuple[Any, ...]:
    return next(row[3:7] for row in book["Summary"].iter_rows(values_only=True) if str(row[3]).startswith("Total"))


def _options_row(book: Workbook) -> tuple[Any, ...]:
    rows = book["Summary"].iter_rows(values_only=True)
    return next((row[3], row[6]) for row in rows if str(row[3]).startswith("Options"))


def test_the_workbook_of_the_reference_system_as_text(golden: Callable[[str, str], None]) -> None:
    golden("workbook/reference.txt", dumped(priced_workbook(), most=24))


def test_sheets_stand_in_the_order_in_which_a_buyer_asks(book: Workbook) -> None:
    assert book.sheetnames == SHEETS


def test_equal_records_give_equal_bytes() -> None:
    again = workbook(plan_of(8), design_for(8), priced_bill())
    assert again == priced_workbook()
    assert opened(again).properties.created == datetime(2026, 11, 2)  # noqa: DTZ001 - a day, in no zone


def test_every_sheet_prints_one_page_wide_on_a4_with_the_plan_in_its_foot(book: Workbook) -> None:
    sha = design_for(8).plan_sha256[:12]
    for sheet in book:
        page = sheet.page_setup
        assert (page.orientation, page.paperSize, page.fitToHeight) == ("landscape", 9, 0)
        assert sheet.sheet_properties.pageSetUpPr.fitToPage
        assert sheet.print_area
        assert sheet.print_title_rows
        assert sheet.freeze_panes
        assert sha in sheet.oddFooter.left.text
        assert sheet.oddFooter.right.text == "page &P/&N"


def test_only_inputs_can_be_changed_and_no_password_is_needed(book: Workbook) -> None:
    unlocked = {sheet.title: 0 for sheet in book}
    for sheet in book:
        assert sheet.protection.sheet
        assert sheet.protection.password is None
        assert not sheet.protection.autoFilter
        assert not sheet.protection.formatColumns
        inputs = [cell for row in sheet.iter_rows() for cell in row if not cell.protection.locked]
        unlocked[sheet.title] = len(inputs)
        assert {cell.fill.fgColor.rgb for cell in inputs} <= {"FFFFF7DA"}
    bill = priced_bill()
    priced = [line for line in bill.lines if line.priced]
    assert unlocked.pop("BOM") == 2 * len(priced)
    assert {name for name, count in unlocked.items() if count} == {"Assumptions", "Open points"}


def test_names_lead_to_what_they_say(book: Workbook) -> None:
    bill = priced_bill()
    values = priced_cells(values=True)

    def value_of(name: str) -> Any:
        sheet, _, address = book.defined_names[name].attr_text.partition("!")
        return values[sheet.strip("'")][address.replace("$", "")].value

    assert value_of("Discount") == float(bill.discount)
    assert value_of("Discount_storage") == 0.07
    assert value_of("Discount_fabric") == float(bill.discount)
    assert value_of("StorageNodes") == 8
    assert value_of("Currency") == bill.currency
    assert value_of("Total") == float(bill.total)
    assert value_of("LinesWithoutPrice") == bill.missing
    for rate in bill.spare_rates:
        name = rate.id.replace("-", "_")
        assert (value_of(f"Rate_{name}"), value_of(f"Minimum_{name}")) == (float(rate.rate), rate.minimum)


def test_shares_counts_and_prices_are_checked_as_they_are_typed(book: Workbook) -> None:
    rules = {
        sheet.title: {
            (rule.type, str(rule.formula1), str(rule.formula2)) for rule in sheet.data_validations.dataValidation
        }
        for sheet in book
    }
    assert ("decimal", "0", "1") in rules["Assumptions"]
    assert ("whole", "0", "100000") in rules["Assumptions"]
    assert ("list", '"EUR"', "None") in rules["Assumptions"]
    assert {("decimal", "0", "None"), ("decimal", "0", "1")} <= rules["BOM"]


def test_no_macro_no_link_no_volatile_function_no_dynamic_array() -> None:
    with ZipFile(BytesIO(priced_workbook())) as parts:
        names = parts.namelist()
        relations = "".join(parts.read(name).decode() for name in names if name.endswith(".rels"))
    assert not [name for name in names if "vba" in name.lower() or "external" in name.lower() or "metadata" in name]
    assert "External" not in relations
    texts = [formula for formula, _ in formulas(priced_workbook()).values()]
    assert all(isinstance(text, str) for text in texts)
    assert [text for text in texts if VOLATILE.search(text) or DYNAMIC.search(text) or "[" in text] == []


def test_text_that_looks_like_a_formula_stays_text() -> None:
    evil = ("=1+1", "+1", "-1", "@SUM(A1)", "=HYPERLINK(A1)", "http://example.org", "12")
    bill = priced_bill()
    lines = tuple(
        line.model_copy(update={"description": evil[index % 7], "part_number": evil[(index + 1) % 7], "note": evil[0]})
        for index, line in enumerate(bill.lines)
    )
    data = workbook(plan_of(8), design_for(8), bill.model_copy(update={"lines": lines}))
    sheet = opened(data)["BOM"]
    found = {cell.value: cell.data_type for row in sheet.iter_rows(min_row=5) for cell in row if cell.value in evil}
    assert found == dict.fromkeys(evil, "s")
    assert {cell.hyperlink for row in sheet.iter_rows() for cell in row} == {None}
    assert len(formulas(data)) == len(formulas(priced_workbook()))


def test_without_any_price_there_is_no_total_and_no_zero() -> None:
    bill = bill_of(8)
    options = sum(line.optional and line.priced for line in bill.lines)
    book = _written(bill)
    label, lines, missing, total = _total_row(book)
    assert (label, total) == (f"Total (incomplete: {bill.missing} lines without a price)", None)
    assert lines == missing == bill.missing > 0
    money = {cell.value for column in ("K", "L") for cell in book["BOM"][column] if cell.row > 4}
    assert money == {None}
    assert _options_row(book) == (f"Options, not in the total ({options}, {options} without a price)", None)
    assert {row[7] for row in book["Node build"].iter_rows(min_row=11, values_only=True)} <= {None, "In one [EUR]"}


def test_with_every_price_the_total_is_a_total() -> None:
    bill = bill_of(8, book_of(8))
    assert bill.complete
    book = _written(bill)
    options = [line.extended for line in bill.lines if line.optional and line.priced]
    assert _total_row(book)[::3] == ("Total", float(bill.total))
    assert _options_row(book) == (f"Options, not in the total ({len(options)})", float(sum(filter(None, options))))


def test_the_sheet_of_lines_ends_with_the_total() -> None:
    bill, book = priced_bill(), priced_cells(values=True)
    last = [cell.value for cell in list(book["BOM"].iter_rows())[-1]]
    assert (last[0], last[11]) == (f"Total (incomplete: {bill.missing} lines without a price)", float(bill.total))
    assert [row[0].value for row in priced_cells()["BOM"].iter_rows()][-1].startswith("=")


def test_a_group_without_any_price_has_no_total() -> None:
    book = book_of(8)
    lines = bill_of(8).lines
    bare = {line.key for line in lines if line.group == "fabric"}
    bill = bill_of(8, book.model_copy(update={"items": tuple(item for item in book.items if item.key not in bare)}))
    written = _written(bill)
    on_summary = {row[3]: row[6] for row in written["Summary"].iter_rows(values_only=True)}
    on_bom = {row[0]: row[11] for row in written["BOM"].iter_rows(values_only=True)}
    assert on_summary["Fabric switches"] is on_bom["Fabric switches"] is None
    assert on_summary["Storage nodes"] == on_bom["Storage nodes"] > 0


def test_one_missing_line_is_one_line() -> None:
    book = book_of(8)
    single = next(line.key for line in counted_lines(bill_of(8).lines) if line.group == "software")
    items = tuple(item for item in book.items if item.key != single)
    bill = bill_of(8, book.model_copy(update={"items": items}))
    assert _total_row(_written(bill))[0] == "Total (incomplete: 1 line without a price)"


@pytest.mark.parametrize(
    ("currency", "money", "list_price"),
    [("JPY", "[$¥] #,##0", "0"), ("CHF", "[$CHF] #,##0.00", "#,##0.00####"), ("EUR", "[$€] #,##0.00", "#,##0.00####")],
)
def test_yen_have_no_decimals_and_francs_keep_their_code(currency: str, money: str, list_price: str) -> None:
    cells = cells_of_lines(opened(workbook(plan_of(8), design_for(8), bill_of(8, currency=currency))))
    assert {line["Extended [" + currency + "]"].number_format for line in cells.values()} == {money}
    assert {line["List [" + currency + "]"].number_format for line in cells.values()} == {list_price}


def test_a_price_in_parts_of_a_yen_is_shown_in_full() -> None:
    book = book_of(8)
    first = book.items[0].model_copy(update={"list_price": Decimal("12.5"), "currency": "JPY"})
    bill = bill_of(8, book.model_copy(update={"currency": "JPY", "items": (first,)}), currency="JPY")
    cells = cells_of_lines(opened(workbook(plan_of(8), design_for(8), bill)))
    own = {line.line for line in bill.lines if line.list_price is not None}
    assert {cells[line]["List [JPY]"].number_format for line in own} == {"0.00####"}


def test_prices_and_lines_name_the_book_and_its_terms() -> None:
    book = book_of(8).model_copy(update={"name": 'a "cheap" book', "terms": "ex works"})
    written = _written(bill_of(8, book))
    rows = list(written["Price sources"].iter_rows(values_only=True))
    head = next(index for index, row in enumerate(rows) if row[0] == "Currency")
    assert rows[head + 1][1:5] == ('a "cheap" book', "invented for tests", None, "ex works")
    lines = [row for row in rows[head + 4 :] if row[3] is not None]
    assert {row[4] for row in lines} == {'a "cheap" book'}
    named = {cells["Price book"].value for cells in cells_of_lines(written).values()}
    assert named == {'a "cheap" book', None}


def test_a_book_whose_prices_are_of_several_days_names_the_first_and_the_last() -> None:
    book = book_of(8)
    first = book.items[0].model_copy(update={"date": date(2026, 9, 1)})
    written = _written(bill_of(8, book.model_copy(update={"items": (first, *book.items[1:])})))
    dates = [row[6] for row in written["Price sources"].iter_rows(values_only=True)]
    assert "2026-09-01 to 2026-10-01" in dates


def test_part_numbers_that_nobody_confirmed_are_open_points() -> None:
    lines = [line for line in priced_bill().lines if line.priced]
    unsure = {line.part_number for line in lines if line.part_number_known in {"listing", "pattern"}}
    points = priced_cells()["Open points"].iter_rows(values_only=True)
    listed = {number for row in points if row[0] == "part number" for number in unsure if number in row[2]}
    assert listed == unsure != set()


def test_roles_have_the_colours_of_the_drawings() -> None:
    sheet = priced_cells()["Rack elevation"]
    found = {cell.value: cell.fill.fgColor.rgb[2:].lower() for row in sheet.iter_rows() for cell in row if cell.value}
    for device in design_for(8).devices:
        assert f"#{found[device.name]}" == LIGHT[device.role]


def test_a_discount_of_a_book_is_the_parts_own() -> None:
    book = book_of(8)
    first = book.items[0].model_copy(update={"discount": Decimal("0.25")})
    bill = bill_of(8, book.model_copy(update={"items": (first, *book.items[1:])}))
    data = workbook(plan_of(8), design_for(8), bill)
    cells, values = cells_of_lines(opened(data)), cells_of_lines(opened(data, values=True))
    given = {line.line for line in bill.lines if line.discount_from == "book"}
    assert given
    assert {number for number, line in values.items() if line["Own discount [%]"].value is not None} == given
    assert {values[line][name].value for line in given for name in ("Own discount [%]", "Discount [%]")} == {0.25}
    assert not any(cells[line]["Own discount [%]"].protection.locked for line in given)
    assert all(cells[line]["Discount [%]"].protection.locked for line in given)
