"""The sheet of assumptions: the inputs of the quote as named cells, and every constant that the Plan rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvplan.bom.workbook.counts import NAMES
from kvplan.bom.workbook.names import (
    BTU,
    BTU_PER_HOUR_PER_W,
    CURRENCY,
    DISCOUNT,
    discount_name,
    has_own_discount,
    minimum_name,
    rate_name,
)
from kvplan.bom.workbook.sheet import SHARE, Column, Formula, Styled
from kvplan.schema.kit import GROUP_TITLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.bom.workbook.counts import Count
    from kvplan.bom.workbook.quote import Quote
    from kvplan.bom.workbook.sheet import Cell, Plain, Sheet

_WIDTHS = (36, 30, 16, 14, 14, 52)
_INPUTS = (
    Column("Input", 36),
    Column("Name of the cell", 30, ("text", "muted")),
    Column("Value", 16, ("any",)),
    Column("Unit", 14, ("text",)),
    Column("Confidence", 14, ("text",)),
    Column("Source", 52, ("wrap", "muted")),
)
_CONSTANTS = (
    Column("Constant", 36),
    Column("Note", 30, ("wrap", "muted", "small")),
    *_INPUTS[2:],
)
_VALUE = 2
_WHOLE: dict[str, Any] = {
    "validate": "integer", "criteria": "between", "minimum": 0, "maximum": 100_000,
    "error_title": "Count", "error_message": "A count is a whole number of 0 or more.",
}  # fmt: skip


def assumptions_sheet(quote: Quote) -> None:
    """Write the sheet."""
    sheet = quote.sheet("Assumptions", _WIDTHS)
    sheet.title(
        "Assumptions",
        "Yellow cells are inputs: what is typed there changes quantities and money on all sheets. Everything else is "
        "protected, without a password.",
    )
    sheet.caption("Inputs of the quote")
    sheet.head(_INPUTS)
    sheet.freeze(1)
    _inputs(quote, sheet)
    sheet.caption("Constants of the plan")
    sheet.table(_CONSTANTS, _constants(quote))
    sheet.breaks.append(sheet.row)
    sheet.caption("How it is built")
    sheet.table((Column("Option", 36), Column("Section", 30, ("text", "muted")), Column("Value", 16)), _options(quote))
    sheet.finish(quote.bom.plan_sha256)


def _inputs(quote: Quote, sheet: Sheet) -> None:
    """Write the named cells."""
    bom = quote.bom
    for count in quote.counts:
        _count(quote, sheet, count)
    _input(quote, sheet, "Discount of the quote", DISCOUNT, bom.discount, "%", "as given when the quote was made")
    for group in bom.groups:
        own = has_own_discount(bom, group.id)
        value: Plain = group.discount if own else Formula(f"={DISCOUNT}", group.discount)
        text = "as given when the quote was made" if own else "follows the discount of the quote until typed over"
        _input(quote, sheet, f"Discount: {GROUP_TITLES[group.id]}", discount_name(group.id), value, "%", text)
    for rate in bom.spare_rates:
        title = rate.title or rate.id
        text = "table of spares; of what is installed of each part"
        _input(quote, sheet, f"{title}: share", rate_name(rate.id), rate.rate, "%", text)
        _input(quote, sheet, f"{title}: at least", minimum_name(rate.id), rate.minimum, "each", "table of spares")
    _currency(quote, sheet)
    text = "1 W = 3.412 BTU/h"
    _named(quote, sheet, ("Heat of one watt", BTU, BTU_PER_HOUR_PER_W, "BTU/h per W", "vendor", text))


def _count(quote: Quote, sheet: Sheet, count: Count) -> None:
    """Write a count that decides quantities."""
    if isinstance(count.value, Formula):
        row = (
            count.title,
            NAMES[count.per],
            Styled(count.value, ("count",)),
            "count",
            "derived",
            "follows from the above",
        )
        _named(quote, sheet, row)
    else:
        text = "quantities and money only; all else follows from a new plan"
        _input(quote, sheet, count.title, NAMES[count.per], count.value, "count", text)


def _input(quote: Quote, sheet: Sheet, title: str, name: str, value: Plain, unit: str, source: str) -> None:
    """Write one input, unlocked, and check what is typed into it."""
    share = unit == "%"
    sheet.paper.data_validation(sheet.row, _VALUE, sheet.row, _VALUE, SHARE if share else _WHOLE)
    _named(quote, sheet, (title, name, Styled(value, ("percent" if share else "count", "input")), unit, "", source))


def _named(quote: Quote, sheet: Sheet, values: tuple[Cell, ...]) -> None:
    """Write a row and name its value."""
    name = values[1]
    quote.name_cell(str(name), sheet, sheet.row, _VALUE)
    sheet.line(_INPUTS, values)


def _currency(quote: Quote, sheet: Sheet) -> None:
    """Write the currency, which is no input: prices in another one need another quote."""
    currency = quote.bom.currency
    rule = {
        "validate": "list", "source": [currency], "error_title": "Currency",
        "error_message": f"The prices of this quote are in {currency}; another currency needs another quote.",
    }  # fmt: skip
    sheet.paper.data_validation(sheet.row, _VALUE, sheet.row, _VALUE, rule)
    text = "all prices are in it; for another one make another quote with --currency"
    _named(quote, sheet, ("Currency", CURRENCY, Styled(currency, ("text",)), "ISO 4217", "", text))


def _constants(quote: Quote) -> Iterator[tuple[Cell, ...]]:
    """List the constants of the Plan, those that are only assumed marked."""
    for name, constant in sorted(quote.plan.constants.items()):
        confidence = Styled(constant.confidence, ("missing",) if constant.confidence == "assumed" else ())
        yield name, constant.note, constant.value, constant.unit, confidence, constant.source


def _options(quote: Quote) -> Iterator[tuple[Cell, ...]]:
    """List the options of racking, cabling and addressing."""
    options = quote.design.options
    yield "clients quoted", "scope", options.clients
    for section in ("racks", "cabling", "fabric", "management", "addresses"):
        for key, value in getattr(options, section).model_dump().items():
            yield key, section, _option_text(value)


def _option_text(value: Any) -> str:
    """Write the value of an option."""
    if isinstance(value, dict):
        return ", ".join(f"{key}: {item}" for key, item in value.items()) or "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None or value == "" else str(value)
