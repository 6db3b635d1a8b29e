"""The sheet of the bill of materials: every line with live quantities, prices to fill in, and live money."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xlsxwriter.utility import xl_rowcol_to_cell

from kvplan.bom.workbook.cells import Formula, Styled, quoted, widths_of
from kvplan.bom.workbook.counts import quantity_formula
from kvplan.bom.workbook.layout import HEADER_ROW, PRINTED, SHEET, columns
from kvplan.bom.workbook.names import (
    LINE_COUNTED,
    LINE_EXTENDED,
    LINE_GROUP,
    discount_choice,
    minimum_name,
    rate_name,
)
from kvplan.bom.workbook.sheet import SHARE
from kvplan.bom.workbook.totals import IN_PARTS, INCLUDED, NO_PRICE, OPTION, YES, total_label, total_of_lines
from kvplan.schema.kit import GROUP_TITLES
from kvplan.schema.money import minor_units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import date
    from decimal import Decimal

    from kvplan.bom.workbook.cells import Cell, Plain
    from kvplan.bom.workbook.context import Context
    from kvplan.bom.workbook.layout import Key, Layout, Run
    from kvplan.bom.workbook.sheet import Sheet
    from kvplan.schema.bom import BomLine

_NAMED: dict[str, Key] = {LINE_GROUP: "group", LINE_COUNTED: "counted", LINE_EXTENDED: "extended"}
_TYPED = "typed into the workbook"
"""What stands for the book of a price that somebody typed."""
_PRICE_RULE: dict[str, Any] = {
    "validate": "decimal", "criteria": ">=", "value": 0, "ignore_blank": True,
    "error_title": "List price", "error_message": "A price is a number of 0 or more, or blank.",
}  # fmt: skip


def lines_sheet(context: Context) -> None:
    """Write the sheet."""
    bom, layout = context.bom, context.layout
    table = columns(bom.currency)
    sheet = context.sheet(SHEET, widths_of(table.values()), PRINTED)
    sheet.title(
        "Bill of materials",
        "Yellow cells are inputs: type list prices there, and discounts that a part has for itself. Blank means that "
        "nobody gave a price; it is never 0. A part that stands in several lines takes price and own discount of the "
        "first. Options are not in the total. Discounts of groups and spare rates are set on the sheet Assumptions. "
        "Notes, keys and sources stand to the right of what is printed.",
    )
    header = sheet.head(list(table.values()))
    for run in layout.runs:
        _heading(sheet, context, run)
        for line in run.lines:
            sheet.line(list(table.values()), list(_values(context, line)), *(() if line.parent else ("strong",)))
    sheet.paper.autofilter(header, 0, layout.body.stop - 1, len(table) - 1)
    _band(sheet, table, {"line": total_label(bom), "extended": total_of_lines(bom)}, "total")
    for name, key in _NAMED.items():
        context.name_cells(name, sheet, layout.column(key))
    _watch_prices(sheet, layout, list(table))
    sheet.freeze(HEADER_ROW + 1, 1)
    sheet.finish(bom.plan_sha256)


def _heading(sheet: Sheet, context: Context, run: Run) -> None:
    """Write the heading of a group with what its lines come to."""
    layout, bom = context.layout, context.bom
    flags, extended = layout.rows_of(run, "counted"), layout.rows_of(run, "extended")
    group = next(group for group in bom.groups if group.id == run.group)
    text = f'=IF(COUNTIF({flags},"{YES}")=0,"",SUMIFS({extended},{flags},"{YES}"))'
    values: dict[Key, Plain] = {
        "line": GROUP_TITLES[run.group],
        "extended": Formula(text, group.total if group.priced else ""),
        "group": GROUP_TITLES[run.group],
    }
    _band(sheet, columns(bom.currency), values, "group")


def _band(sheet: Sheet, table: Mapping[Key, Any], values: Mapping[Key, Plain], style: str) -> None:
    """Write a row that stands out, over the whole width."""
    for index, (key, column) in enumerate(table.items()):
        looks = ("text",) if key == "line" else column.style
        sheet.put(sheet.row, index, values.get(key), *looks, style)
    sheet.row += 1


def _values(context: Context, line: BomLine) -> Iterator[Cell]:
    """Give the cells of a line, in the order of the columns."""
    yield Styled(line.line, ("inset",) if line.parent else ())
    yield line.vendor
    yield line.part_number
    yield Styled(line.description, ("deep",) if line.parent else ())
    yield _per_parent(context, line)
    yield _quantity(context, line)
    yield line.unit
    yield from _money(context, line)
    yield _counted(context.layout, line)
    yield line.term_months
    yield line.lead_time_days
    yield _of_book(context.layout, line, line.valid_until)
    yield line.note
    yield GROUP_TITLES[line.group]
    yield line.key
    yield line.parent
    yield line.basis
    yield _book(context.layout, line)
    yield _of_book(context.layout, line, line.price_date)
    yield line.source
    yield line.confidence


def _per_parent(context: Context, line: BomLine) -> Cell:
    """Give the quantity in one parent; of a major line, and of a spare, whatever decides it."""
    if line.spare_rate_id:
        covered = ",".join(context.layout.here(other, "quantity") for other in line.spare_of)
        # Rounded first, or 7 % of 100 would come to 8: in binary it is a hair above 7.
        needed = f"ROUNDUP(ROUND({rate_name(line.spare_rate_id)}*SUM({covered}),6),0)"
        return Formula(f"=MAX({_minimum(context, line)},{needed})", line.quantity_per_parent)
    if line.parent:
        return line.quantity_per_parent
    text = quantity_formula(line, context.bom.counts)
    return Formula(text, line.quantity_per_parent) if text else line.quantity_per_parent


def _quantity(context: Context, line: BomLine) -> Cell:
    """Give the quantity in all."""
    per = context.layout.here(line.line, "per")
    parents = f"*{context.layout.here(line.parent, 'quantity')}" if line.parent else ""
    return Formula(f"={per}{parents}", line.quantity)


def _minimum(context: Context, line: BomLine) -> str:
    """Refer to the fewest spares of the line's kind, or write the line's own number where it differs."""
    rate = next(rate for rate in context.bom.spare_rates if rate.id == line.spare_rate_id)
    return minimum_name(rate.id) if rate.minimum == line.spare_minimum else str(line.spare_minimum)


def _money(context: Context, line: BomLine) -> Iterator[Cell]:
    """Give list price, both discounts, net and extended; nothing for a line that has no price of its own.

    What is no number, such as a word typed for a price, leaves the line without a price and the total incomplete.
    """
    layout, currency = context.layout, context.bom.currency
    if not line.priced:
        yield from (None, None, None, None, None)
        return
    keys: tuple[Key, ...] = ("list", "own", "discount", "net", "quantity")
    price, own, discount, net, quantity = (layout.here(line.line, key) for key in keys)
    exact = ("exact",) if line.list_price is not None and _is_finer(line.list_price, currency) else ()
    yield Styled(_led(layout, line, "list", _list_price), ("input", *exact))
    yield Styled(_led(layout, line, "own", _own_discount), ("input",))
    yield Formula(f'=IF({own}="",{discount_choice(line)},{own})', line.discount)
    # Rounded twice: 97.50 x 0.07 is 6.824999... in binary, which a single ROUND may take for less than half a cent.
    rounded = f"ROUND(ROUND({price}*(1-{discount}),8),{minor_units(currency)})"
    numbers = f"AND(ISNUMBER({price}),ISNUMBER({discount}))"
    yield Formula(f'=IF({numbers},{rounded},"")', "" if line.net_price is None else line.net_price)
    extended = f'=IF(ISNUMBER({net}),{net}*{quantity},"")'
    yield Formula(extended, "" if line.extended is None else line.extended)


def _is_finer(price: Decimal, currency: str) -> bool:
    """Tell whether a price is given in parts of the smallest unit of a currency without cents."""
    return not minor_units(currency) and price != int(price)


def _list_price(line: BomLine) -> Decimal | None:
    """Return the list price."""
    return line.list_price


def _own_discount(line: BomLine) -> Decimal | None:
    """Return the discount that the part has for itself."""
    return line.discount if line.discount_from == "book" else None


def _led(layout: Layout, line: BomLine, key: Key, value_of: Callable[[BomLine], Decimal | None]) -> Plain:
    """Give an input of a line; of a part that stands in an earlier line too, it follows that one until typed over."""
    leader, value = layout.leaders[line.key], value_of(line)
    if leader == line or value_of(leader) != value:
        return value
    above = layout.here(leader.line, key)
    return Formula(f'=IF({above}="","",{above})', "" if value is None else value)


def _is_given(layout: Layout, line: BomLine) -> str:
    """Tell whether the list price is still that of the book."""
    price = layout.here(line.line, "list")
    return f"AND(ISNUMBER({price}),{price}={line.list_price:f})"


def _of_book(layout: Layout, line: BomLine, day: date | None) -> Plain:
    """Give a day of the book's price; another price that is typed over it has none."""
    if day is None or line.list_price is None:
        return None
    return Formula(f'=IF({_is_given(layout, line)},DATE({day.year},{day.month},{day.day}),"")', day)


def _book(layout: Layout, line: BomLine) -> Plain:
    """Name the book that the price is from, or say that it was typed."""
    if not line.priced:
        return None
    typed = f'IF({layout.here(line.line, "list")}="","","{_TYPED}")'
    if line.list_price is None:
        return Formula(f"={typed}", "")
    return Formula(f"=IF({_is_given(layout, line)},{quoted(line.price_book)},{typed})", line.price_book)


def _counted(layout: Layout, line: BomLine) -> Cell:
    """Say whether the line is in the total, and if not, why."""
    if not line.priced:
        return INCLUDED if line.parent else IN_PARTS
    if line.optional:
        return OPTION
    flag = NO_PRICE if line.net_price is None else YES
    return Formula(f'=IF(ISNUMBER({layout.here(line.line, "net")}),"{YES}","{NO_PRICE}")', flag)


def _watch_prices(sheet: Sheet, layout: Layout, order: list[Key]) -> None:
    """Colour list prices that are missing, and check what is typed."""
    first, last, price = layout.body.start, layout.body.stop - 1, order.index("list")
    flag = xl_rowcol_to_cell(first, order.index("counted"), col_abs=True)
    rule = {"type": "formula", "criteria": f'={flag}="{NO_PRICE}"', "format": sheet.styles.difference("missing")}
    sheet.paper.conditional_format(first, price, last, price, rule)
    sheet.paper.data_validation(first, price, last, price, _PRICE_RULE)
    own = order.index("own")
    sheet.paper.data_validation(first, own, last, own, SHARE)
