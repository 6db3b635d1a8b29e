"""The sheet of the bill of materials: every line with live quantities, prices to fill in, and live money."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from xlsxwriter.utility import xl_rowcol_to_cell

from kvplan.bom.workbook.counts import quantity_formula
from kvplan.bom.workbook.layout import HEADER_ROW, PRINTED, SHEET, columns
from kvplan.bom.workbook.names import (
    LINE_COUNTED,
    LINE_EXTENDED,
    LINE_GROUP,
    discount_formula,
    minimum_name,
    rate_name,
)
from kvplan.bom.workbook.sheet import SHARE, Formula, Styled
from kvplan.schema.kit import GROUP_TITLES
from kvplan.schema.money import minor_units

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.bom.workbook.layout import Key, Layout, Run
    from kvplan.bom.workbook.quote import Quote
    from kvplan.bom.workbook.sheet import Cell, Plain, Sheet
    from kvplan.schema.bom import BomLine

YES, NO_PRICE, OPTION, IN_PARTS, INCLUDED = "yes", "no price", "option", "in parts", "included"
"""What the column `In total` says; only lines with `yes` are added up."""
_NAMED: dict[str, Key] = {LINE_GROUP: "group", LINE_COUNTED: "counted", LINE_EXTENDED: "extended"}
_PRICE_RULE: dict[str, Any] = {
    "validate": "decimal", "criteria": ">=", "value": 0, "ignore_blank": True,
    "error_title": "List price", "error_message": "A price is a number of 0 or more, or blank.",
}  # fmt: skip


def lines_sheet(quote: Quote) -> None:
    """Write the sheet."""
    bom, layout = quote.bom, quote.layout
    table = columns(bom.currency)
    sheet = quote.sheet(SHEET, [column.width for column in table.values()], PRINTED)
    sheet.title(
        "Bill of materials",
        "Yellow cells are inputs: type list prices there. Blank means that nobody gave a price; it is never 0. A part "
        "that stands in several lines takes the price of the first. "
        "Options are not in the total. Discounts and spare rates are set on the sheet Assumptions. Notes, keys and "
        "sources stand to the right of what is printed.",
    )
    header = sheet.head(list(table.values()))
    for run in layout.runs:
        _heading(sheet, quote, run)
        for line in run.lines:
            _line(sheet, quote, line)
    sheet.paper.autofilter(header, 0, layout.end - 1, len(table) - 1)
    for name, key in _NAMED.items():
        quote.book.define_name(name, f"={layout.column(key)}")
    _watch_prices(sheet, layout, list(table))
    sheet.freeze(HEADER_ROW + 1, 1)
    sheet.finish(bom.plan_sha256)


def _heading(sheet: Sheet, quote: Quote, run: Run) -> None:
    """Write the heading of a group with what its lines come to."""
    layout = quote.layout
    flags = layout.rows_of(run, "counted")
    prices = [line.extended for line in run.lines if line.extended is not None and not line.optional]
    values: dict[Key, Plain] = {
        "line": GROUP_TITLES[run.group],
        "extended": Formula(
            f'=IF(COUNTIF({flags},"{YES}")=0,"",SUMIFS({layout.rows_of(run, "extended")},{flags},"{YES}"))',
            sum(prices, Decimal(0)) if prices else "",
        ),
        "group": GROUP_TITLES[run.group],
    }
    for index, (key, column) in enumerate(columns(quote.bom.currency).items()):
        value = values.get(key)
        style = ("text",) if key == "line" else column.style
        sheet.put(sheet.row, index, value, *style, "group")
    sheet.row += 1


def _line(sheet: Sheet, quote: Quote, line: BomLine) -> None:
    """Write one line."""
    table = columns(quote.bom.currency)
    sheet.line(list(table.values()), list(_values(quote, line)), *(() if line.parent else ("strong",)))


def _values(quote: Quote, line: BomLine) -> Iterator[Cell]:
    """Give the cells of a line, in the order of the columns."""
    layout = quote.layout
    yield Styled(line.line, ("inset",) if line.parent else ())
    yield line.vendor
    yield line.part_number
    yield Styled(line.description, ("deep",) if line.parent else ())
    yield _per_parent(quote, line)
    yield _quantity(quote, line)
    yield line.unit
    yield from _money(quote, line)
    yield _counted(layout, line)
    yield line.term_months
    yield line.lead_time_days
    yield line.valid_until
    yield line.note
    yield GROUP_TITLES[line.group]
    yield line.key
    yield line.parent
    yield line.basis
    yield line.price_source
    yield line.price_date
    yield line.source
    yield line.confidence


def _per_parent(quote: Quote, line: BomLine) -> Cell:
    """Give the quantity in one parent; of a major line, and of a spare, whatever decides it."""
    if line.spare_rate_id:
        covered = ",".join(quote.layout.here(other, "quantity") for other in line.spare_of)
        # Rounded first, or 7 % of 100 would come to 8: in binary it is a hair above 7.
        needed = f"ROUNDUP(ROUND({rate_name(line.spare_rate_id)}*SUM({covered}),6),0)"
        return Formula(f"=MAX({_minimum(quote, line)},{needed})", line.quantity_per_parent)
    if line.parent:
        return line.quantity_per_parent
    text = quantity_formula(line, {count.per: count.number for count in quote.counts})
    return Formula(text, line.quantity_per_parent) if text else line.quantity_per_parent


def _quantity(quote: Quote, line: BomLine) -> Cell:
    """Give the quantity in all."""
    per = quote.layout.here(line.line, "per")
    parents = f"*{quote.layout.here(line.parent, 'quantity')}" if line.parent else ""
    return Formula(f"={per}{parents}", line.quantity)


def _minimum(quote: Quote, line: BomLine) -> str:
    """Refer to the fewest spares of the line's kind, or write the line's own number where it differs."""
    rate = next(rate for rate in quote.bom.spare_rates if rate.id == line.spare_rate_id)
    return minimum_name(rate.id) if rate.minimum == line.spare_minimum else str(line.spare_minimum)


def _money(quote: Quote, line: BomLine) -> Iterator[Cell]:
    """Give list price, discount, net and extended; nothing for a line that has no price of its own."""
    layout = quote.layout
    if not line.priced:
        yield from (None, None, None, None)
        return
    price, discount, net, quantity = (layout.here(line.line, key) for key in ("list", "discount", "net", "quantity"))
    yield Styled(_list_price(layout, line), ("input",))
    if line.discount_from == "book":
        yield Styled(line.discount, ("input",))
    else:
        yield Formula(discount_formula(quote.bom, line), line.discount)
    # Rounded twice: 97.50 x 0.07 is 6.824999... in binary, which a single ROUND may take for less than half a cent.
    rounded = f"ROUND(ROUND({price}*(1-{discount}),8),{minor_units(quote.bom.currency)})"
    yield Formula(f'=IF({price}="","",{rounded})', "" if line.net_price is None else line.net_price)
    yield Formula(f'=IF({net}="","",{net}*{quantity})', "" if line.extended is None else line.extended)


def _list_price(layout: Layout, line: BomLine) -> Plain:
    """Give the list price; of a part that stands in an earlier line too, it follows that one until typed over."""
    leader = layout.leaders[line.key]
    if leader == line or leader.list_price != line.list_price:
        return line.list_price
    price = layout.here(leader.line, "list")
    return Formula(f'=IF({price}="","",{price})', "" if line.list_price is None else line.list_price)


def _counted(layout: Layout, line: BomLine) -> Cell:
    """Say whether the line is in the total, and if not, why."""
    if not line.priced:
        return INCLUDED if line.parent else IN_PARTS
    if line.optional:
        return OPTION
    missing = line.list_price is None
    return Formula(f'=IF({layout.here(line.line, "list")}="","{NO_PRICE}","{YES}")', NO_PRICE if missing else YES)


def _watch_prices(sheet: Sheet, layout: Layout, order: list[Key]) -> None:
    """Colour list prices that are missing, and check what is typed."""
    first, last, price = HEADER_ROW + 1, layout.end - 1, order.index("list")
    flag = xl_rowcol_to_cell(first, order.index("counted"), col_abs=True)
    rule = {"type": "formula", "criteria": f'={flag}="{NO_PRICE}"', "format": sheet.styles.difference("missing")}
    sheet.paper.conditional_format(first, price, last, price, rule)
    sheet.paper.data_validation(first, price, last, price, _PRICE_RULE)
    discount = order.index("discount")
    sheet.paper.data_validation(first, discount, last, discount, SHARE)
