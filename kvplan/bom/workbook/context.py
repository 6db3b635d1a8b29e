"""What all sheets of one workbook share: the records, the book, the styles, and where the lines stand."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xlsxwriter.utility import xl_rowcol_to_cell

from kvplan.bom.workbook.sheet import Sheet
from kvplan.render.fabric.words import counted_title
from kvplan.schema.roles import ROLE_NOUNS, SWITCH_ROLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xlsxwriter import Workbook

    from kvplan.bom.workbook.counts import Count
    from kvplan.bom.workbook.layout import Layout
    from kvplan.bom.workbook.styles import Styles
    from kvplan.schema.bom import Bom
    from kvplan.schema.design import Design
    from kvplan.schema.plan import Plan


@dataclass(frozen=True, slots=True)
class Context:
    """The records to be shown and the book they are written into."""

    plan: Plan
    design: Design
    bom: Bom
    book: Workbook
    styles: Styles
    layout: Layout
    counts: tuple[Count, ...]

    def sheet(self, name: str, widths: Sequence[float], printed: int | None = None) -> Sheet:
        """Add a sheet; columns beyond those printed are there to look things up."""
        return Sheet(self.book, self.styles, name, widths, printed)

    def switches(self) -> str:
        """Count the switches by what they are."""
        found = Counter(device.role for device in self.design.devices)
        roles = (role for role in ROLE_NOUNS if role in SWITCH_ROLES and found[role])
        return ", ".join(counted_title(found[role], role) for role in roles)

    def name_cell(self, name: str, sheet: Sheet, row: int, column: int) -> None:
        """Give a cell a name for the whole book."""
        self.name_cells(name, sheet, xl_rowcol_to_cell(row, column, row_abs=True, col_abs=True))

    def name_cells(self, name: str, sheet: Sheet, place: str) -> None:
        """Give some cells a name for the whole book."""
        self.book.define_name(name, f"='{sheet.name}'!{place}")
