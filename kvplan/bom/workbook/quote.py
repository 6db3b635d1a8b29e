"""What all sheets of one workbook share: the records, the book, the styles, and where the lines stand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xlsxwriter.utility import xl_rowcol_to_cell

from kvplan.bom.workbook.sheet import Sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xlsxwriter import Workbook

    from kvplan.bom.workbook.counts import Count
    from kvplan.bom.workbook.layout import Layout
    from kvplan.bom.workbook.styles import Styles
    from kvplan.schema.bom import Bom
    from kvplan.schema.design import Design, Device
    from kvplan.schema.plan import Plan


@dataclass(frozen=True, slots=True)
class Quote:
    """The records to be shown and the book they are written into."""

    plan: Plan
    design: Design
    bom: Bom
    book: Workbook
    styles: Styles
    layout: Layout
    counts: tuple[Count, ...]
    _racked: dict[str, list[Device]] = field(default_factory=dict)

    def sheet(self, name: str, widths: Sequence[float], printed: int | None = None) -> Sheet:
        """Add a sheet; columns beyond those printed are there to look things up."""
        return Sheet(self.book, self.styles, name, widths, printed)

    def in_rack(self, rack: str) -> list[Device]:
        """List the devices of a rack."""
        if not self._racked:
            for device in self.design.devices:
                self._racked.setdefault(device.rack, []).append(device)
        return self._racked.get(rack, [])

    def name_cell(self, name: str, sheet: Sheet, row: int, column: int) -> None:
        """Give a cell a name for the whole book."""
        self.book.define_name(name, f"='{sheet.name}'!{xl_rowcol_to_cell(row, column, row_abs=True, col_abs=True)}")
