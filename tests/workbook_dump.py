"""A workbook as text: cells with formulas and cached values, names, rules, and how it prints."""

from __future__ import annotations

from datetime import date, datetime
from io import BytesIO
from typing import TYPE_CHECKING, Any

from openpyxl import load_workbook

if TYPE_CHECKING:
    from collections.abc import Iterator

    from openpyxl.cell.cell import Cell
    from openpyxl.workbook import Workbook
    from openpyxl.worksheet.worksheet import Worksheet


_LONG = {"Cable schedule", "Port map", "Power and heat"}


def opened(data: bytes, *, values: bool = False) -> Workbook:
    """Read a workbook with its formulas, or with the values that they carry."""
    return load_workbook(BytesIO(data), data_only=values)


def formulas(data: bytes) -> dict[tuple[str, str], tuple[str, Any]]:
    """Return every formula cell by sheet and address, with its formula and the value that it carries."""
    live, cached = opened(data), opened(data, values=True)
    return {
        (sheet.title, cell.coordinate): (cell.value, cached[sheet.title][cell.coordinate].value)
        for sheet in live
        for row in sheet.iter_rows()
        for cell in row
        if cell.data_type == "f"
    }


def cells_of_lines(book: Workbook) -> dict[str, dict[str, Cell]]:
    """Return the cells of the lines of the bill of materials by number of the line and heading."""
    rows = list(book["BOM"].iter_rows(min_row=4))
    headings = [cell.value for cell in rows[0]]
    found = (dict(zip(headings, row, strict=True)) for row in rows[1:])
    return {cells["Line"].value: cells for cells in found if cells["Key"].value}


def dumped(data: bytes, *, most: int = 1_000_000) -> str:
    """Write a workbook as text, of long lists of what is built only the first rows."""
    live, cached = opened(data), opened(data, values=True)
    lines = [f"title: {live.properties.title}", f"created: {live.properties.created}", "", "names"]
    lines += [f"  {name} {item.attr_text}" for name, item in sorted(live.defined_names.items())]
    for sheet in live:
        lines += ["", f"sheet {sheet.title}", *_set_up(sheet), *_rules(sheet)]
        for row, values in zip(sheet.iter_rows(), cached[sheet.title].iter_rows(), strict=True):
            cells = [_cell(*pair) for pair in zip(row, values, strict=True) if pair[0].value is not None]
            if cells and (sheet.title not in _LONG or row[0].row <= most):
                lines.append(f"  {row[0].row:>4}  {' | '.join(cells)}")
    return "\n".join(lines) + "\n"


def _set_up(sheet: Worksheet) -> Iterator[str]:
    """Say how a sheet prints and what is protected."""
    page, protection = sheet.page_setup, sheet.protection
    widths = ", ".join(f"{name} {item.width:g}" for name, item in sorted(sheet.column_dimensions.items()))
    yield f"  print: {sheet.print_area}, rows {sheet.print_title_rows}, {page.orientation}, paper {page.paperSize}"
    yield f"  fit: {sheet.sheet_properties.pageSetUpPr.fitToPage}, {page.fitToWidth or 1} wide, {page.fitToHeight} high"
    yield f"  foot: {sheet.oddFooter.left.text} | {sheet.oddFooter.center.text} | {sheet.oddFooter.right.text}"
    yield f"  frozen: {sheet.freeze_panes}, filter: {sheet.auto_filter.ref}, breaks: {_breaks(sheet)}"
    yield f"  protected: {protection.sheet}, password {protection.password}, filter locked {protection.autoFilter}"
    yield f"  widths: {widths}"
    yield f"  merged: {', '.join(sorted(str(area) for area in sheet.merged_cells.ranges)) or '-'}"


def _breaks(sheet: Worksheet) -> str:
    """List the rows after which a page ends."""
    return ", ".join(str(item.id) for item in sheet.row_breaks.brk) or "-"


def _rules(sheet: Worksheet) -> Iterator[str]:
    """List data validations and conditional formats."""
    for item in sheet.data_validations.dataValidation:
        yield f"  check: {item.sqref} {item.type} {item.operator or ''} {item.formula1} {item.formula2 or ''}".rstrip()
    for area, rules in sheet.conditional_formatting._cf_rules.items():
        yield f"  colour: {area.sqref} {', '.join(formula for rule in rules for formula in rule.formula)}"


def _cell(cell: Cell, cached: Cell) -> str:
    """Write one cell; `!` marks an input, braces hold a formula."""
    lock = "" if cell.protection.locked else "!"
    if cell.data_type == "f":
        return f"{cell.column_letter}{lock} {_value(cached.value)} {{{cell.value}}}"
    return f"{cell.column_letter}{lock} {_value(cell.value)}"


def _value(value: Any) -> str:
    """Write a value: texts in quotes, so that they are told from numbers."""
    if isinstance(value, datetime | date):
        return f"{value:%Y-%m-%d}"
    return repr(value) if isinstance(value, str | float) else str(value)
