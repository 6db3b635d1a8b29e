"""What is said of prices that are missing, as formulas that follow what is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.bom.workbook.cells import Formula
from kvplan.bom.workbook.names import LINE_COUNTED, LINE_EXTENDED, LINES, MISSING
from kvplan.units import counted

if TYPE_CHECKING:
    from kvplan.schema.bom import Bom

YES, NO_PRICE, OPTION, IN_PARTS, INCLUDED = "yes", "no price", "option", "in parts", "included"
"""What the column `In total` says; only lines with `yes` are added up."""


def total_label(bom: Bom) -> Formula:
    """Name the total, honestly."""
    lines = f'{MISSING}&IF({MISSING}=1," line"," lines")'
    incomplete = f"Total (incomplete: {counted(bom.missing, 'line')} without a price)"
    text = f'=IF({MISSING}=0,"Total","Total (incomplete: "&{lines}&" without a price)")'
    return Formula(text, incomplete if bom.missing else "Total")


def total_of_lines(bom: Bom) -> Formula:
    """Add up all lines that count; where none has a price there is no total."""
    text = f'=IF(COUNTIF({LINE_COUNTED},"{YES}")=0,"",SUMIFS({LINE_EXTENDED},{LINE_COUNTED},"{YES}"))'
    return Formula(text, bom.total if bom.priced else "")


def missing_severity(bom: Bom, severity: str) -> Formula:
    """Say how grave it is that prices are missing, until none is."""
    return Formula(f'=IF({MISSING}=0,"settled","{severity}")', severity if bom.missing else "settled")


def missing_text(bom: Bom) -> Formula:
    """Say how many lines have no price."""
    lines = sum(group.lines for group in bom.groups)
    rest = "; the total is incomplete"
    text = f'={MISSING}&" of "&{LINES}&" lines without a price"&IF({MISSING}=0,"","{rest}")'
    return Formula(text, f"{bom.missing} of {lines} lines without a price{rest if bom.missing else ''}")
