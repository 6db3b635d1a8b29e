"""What the workbook is made of: text dump, inputs, print set-up, and nothing that a buyer's machine would refuse."""

from __future__ import annotations

import re
from datetime import datetime
from decimal import Decimal
from io import BytesIO
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import pytest
from designs import design_for, plan_of
from quotes import bill_of, book_of, priced_bill, priced_workbook
from workbook_dump import dumped, formulas, opened

from kvplan.bom.workbook import workbook

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


@pytest.fixture(scope="module")
def book() -> Workbook:
    return opened(priced_workbook())


def _written(bill: Bom) -> Workbook:
    return opened(workbook(plan_of(8), design_for(8), bill), values=True)


def _total_row(book: Workbook) -> tuple[Any, ...]:
    return next(row[3:7] for row in book["Summary"].iter_rows(values_only=True) if str(row[3]).startswith("Total"))


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
    of_books = [line for line in priced if line.discount_from == "book"]
    assert unlocked.pop("BOM") == len(priced) + len(of_books)
    assert unlocked.pop("Summary") == 1
    assert {name for name, count in unlocked.items() if count} == {"Assumptions", "Open points"}


def test_names_lead_to_what_they_say(book: Workbook) -> None:
    bill = priced_bill()
    values = opened(priced_workbook(), values=True)

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
    book = _written(bill)
    label, lines, missing, total = _total_row(book)
    assert (label, total) == (f"Total (incomplete: {bill.missing} lines without a price)", None)
    assert lines == missing == bill.missing > 0
    money = [row[9:11] for row in book["BOM"].iter_rows(min_row=5, values_only=True)]
    assert set(money) == {(None, None)}
    assert {row[7] for row in book["Node build"].iter_rows(min_row=11, values_only=True)} <= {None, "In one [EUR]"}


def test_with_every_price_the_total_is_a_total() -> None:
    bill = bill_of(8, book_of(8))
    assert bill.complete
    assert _total_row(_written(bill))[::3] == ("Total", float(bill.total))


def test_one_missing_line_is_one_line() -> None:
    book = book_of(8)
    spared = {line.key for line in bill_of(8).lines if line.spare_of}
    single = next(item.key for item in book.items if item.key not in spared and item.key.startswith("kit/scale"))
    items = tuple(item for item in book.items if item.key != single)
    bill = bill_of(8, book.model_copy(update={"items": items}))
    assert _total_row(_written(bill))[0] == "Total (incomplete: 1 line without a price)"


def test_yen_have_no_decimals_and_francs_keep_their_code() -> None:
    for currency, shown in (("JPY", "[$¥] #,##0"), ("CHF", "[$CHF] #,##0.00"), ("EUR", "[$€] #,##0.00")):
        data = workbook(plan_of(8), design_for(8), bill_of(8, currency=currency))
        sheet = opened(data)["BOM"]
        assert {sheet.cell(row, 11).number_format for row in (6, 7, 8)} == {shown}
        assert {sheet.cell(row, 8).number_format for row in (7, 8)} == {shown.partition(" ")[2]}
        assert sheet["H4"].value == f"List [{currency}]"


def test_a_discount_of_a_book_is_its_own_number() -> None:
    book = book_of(8)
    first = book.items[0].model_copy(update={"discount": Decimal("0.25")})
    bill = bill_of(8, book.model_copy(update={"items": (first, *book.items[1:])}))
    lines = [line for line in bill.lines if line.discount_from == "book"]
    sheet = opened(workbook(plan_of(8), design_for(8), bill))["BOM"]
    cells = {row[0].value: row[8] for row in sheet.iter_rows(min_row=5)}
    assert lines
    assert {(cells[line.line].value, cells[line.line].protection.locked) for line in lines} == {(0.25, False)}
