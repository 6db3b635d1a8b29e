"""The sheet of assumptions: the inputs of the quote as named cells, and every constant that the Plan rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvplan.bom.workbook.cells import Column, Formula, Styled, widths_of
from kvplan.bom.workbook.counts import NAMES
from kvplan.bom.workbook.names import CURRENCY, DISCOUNT, HEAT, discount_name, minimum_name, rate_name
from kvplan.bom.workbook.sheet import SHARE
from kvplan.schema.kit import GROUP_TITLES
from kvplan.units import BTU_PER_WATT_HOUR

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.bom.workbook.cells import Cell, Plain
    from kvplan.bom.workbook.context import Context
    from kvplan.bom.workbook.counts import Count
    from kvplan.bom.workbook.sheet import Sheet
    from kvplan.schema.bom import BomGroup

_INPUTS = (
    Column("Input", width=36),
    Column("Name of the cell", ("text", "muted"), 30),
    Column("Value", ("any",), 16),
    Column("Unit", ("text",), 14),
    Column("Confidence", ("text",), 14),
    Column("Source", ("wrap", "muted"), 52),
)
_CONSTANTS = (Column("Constant"), Column("Note", ("wrap", "muted", "small")), *_INPUTS[2:])
_BUILT = (Column("Option"), Column("Section", ("text", "muted")), Column("Value"))
_VALUE = 2
_WHOLE: dict[str, Any] = {
    "validate": "integer", "criteria": "between", "minimum": 0, "maximum": 100_000,
    "error_title": "Count", "error_message": "A count is a whole number of 0 or more.",
}  # fmt: skip


def assumptions_sheet(context: Context) -> None:
    """Write the sheet."""
    sheet = context.sheet("Assumptions", widths_of(_INPUTS))
    sheet.title(
        "Assumptions",
        "Yellow cells are inputs: what is typed there changes quantities and money on all sheets. Everything else is "
        "protected, without a password.",
    )
    sheet.caption("Inputs of the quote")
    sheet.head(_INPUTS)
    sheet.freeze(1)
    _inputs(context, sheet)
    sheet.caption("Constants of the plan")
    sheet.table(_CONSTANTS, _constants(context))
    sheet.breaks.append(sheet.row)
    sheet.caption("How it is built")
    sheet.table(_BUILT, _options(context))
    sheet.finish(context.bom.plan_sha256)


def _inputs(context: Context, sheet: Sheet) -> None:
    """Write the named cells."""
    bom = context.bom
    for count in context.counts:
        _count(context, sheet, count)
    _input(context, sheet, "Discount of the quote", DISCOUNT, bom.discount, "%", "as given when the quote was made")
    for group in bom.groups:
        value, text = _discount(context, group)
        _input(context, sheet, f"Discount: {GROUP_TITLES[group.id]}", discount_name(group.id), value, "%", text)
    for rate in bom.spare_rates:
        title = rate.title or rate.id
        text = "table of spares; of what is installed of each part"
        _input(context, sheet, f"{title}: share", rate_name(rate.id), rate.rate, "%", text)
        _input(context, sheet, f"{title}: at least", minimum_name(rate.id), rate.minimum, "each", "table of spares")
    _currency(context, sheet)
    text = "what is drawn becomes heat; 1,055.06 J make a BTU"
    _named(context, sheet, ("Heat of one watt", HEAT, BTU_PER_WATT_HOUR, "BTU/h per W", "derived", text))


def _discount(context: Context, group: BomGroup) -> tuple[Plain, str]:
    """Give the discount of a group, and say where it comes from."""
    if group.discount_given:
        return group.discount, "as given when the quote was made"
    if any(line.group != line.discount_group for line in context.bom.lines if line.group == group.id):
        return None, "blank: each line takes the discount of what it is a spare of, until one is typed here"
    return Formula(f"={DISCOUNT}", group.discount), "follows the discount of the quote until typed over"


def _count(context: Context, sheet: Sheet, count: Count) -> None:
    """Write a count that decides quantities."""
    if count.typed:
        text = "quantities and money only; all else follows from a new plan"
        _input(context, sheet, count.title, NAMES[count.per], count.value, "count", text)
    else:
        value = Styled(count.value, ("count",))
        row = (count.title, NAMES[count.per], value, "count", "derived", "follows from the above")
        _named(context, sheet, row)


def _input(context: Context, sheet: Sheet, title: str, name: str, value: Plain, unit: str, source: str) -> None:
    """Write one input, unlocked, and check what is typed into it."""
    share = unit == "%"
    sheet.paper.data_validation(sheet.row, _VALUE, sheet.row, _VALUE, SHARE if share else _WHOLE)
    _named(context, sheet, (title, name, Styled(value, ("percent" if share else "count", "input")), unit, "", source))


def _named(context: Context, sheet: Sheet, values: tuple[Cell, ...]) -> None:
    """Write a row and name its value."""
    name = values[1]
    context.name_cell(str(name), sheet, sheet.row, _VALUE)
    sheet.line(_INPUTS, values)


def _currency(context: Context, sheet: Sheet) -> None:
    """Write the currency, which is no input: prices in another one need another quote."""
    currency = context.bom.currency
    rule = {
        "validate": "list", "source": [currency], "error_title": "Currency",
        "error_message": f"The prices of this quote are in {currency}; another currency needs another quote.",
    }  # fmt: skip
    sheet.paper.data_validation(sheet.row, _VALUE, sheet.row, _VALUE, rule)
    text = "all prices are in it; for another one make another quote with --currency"
    _named(context, sheet, ("Currency", CURRENCY, Styled(currency, ("text",)), "ISO 4217", "", text))


def _constants(context: Context) -> Iterator[tuple[Cell, ...]]:
    """List the constants of the Plan, those that are only assumed marked."""
    for name, constant in sorted(context.plan.constants.items()):
        confidence = Styled(constant.confidence, ("missing",) if constant.confidence == "assumed" else ())
        yield name, constant.note, constant.value, constant.unit, confidence, constant.source


def _options(context: Context) -> Iterator[tuple[Cell, ...]]:
    """List the options of racking, cabling and addressing."""
    options = context.design.options
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
