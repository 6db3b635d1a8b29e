"""Software, subscriptions and support: what is licensed by what, for how long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.bom import headings
from kvplan.bom.workbook.cells import Column, Formula, widths_of
from kvplan.schema.kit import GROUP_TITLES
from kvplan.units import TB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.bom.workbook.cells import Cell
    from kvplan.bom.workbook.context import Context

_GROUPS = frozenset({"software", "support", "services"})


def software_sheet(context: Context) -> None:
    """Write the sheet."""
    plan = context.plan
    columns = (
        Column("Line", ("text",), 8),
        Column("Group", width=24),
        Column("Vendor", width=14),
        Column(headings.PART_NUMBER, width=22),
        Column("Description", width=46),
        Column("Quantity", ("count",), 10),
        Column("Unit", ("text",), 10),
        Column(headings.TERM, ("count",), 10),
        Column(f"Extended [{context.bom.currency}]", ("money",), 16),
        Column("Quantity in the plan, note", ("wrap", "muted"), 40),
    )
    sheet = context.sheet("Software and support", widths_of(columns))
    sheet.title(
        "Software and support",
        f"Capacity for licences: {plan.profile.raw_bytes / TB:,.1f} TB raw, "
        f"{plan.profile.usable_bytes / TB:,.1f} TB usable. Software set {plan.request.software}: "
        f"vLLM {plan.request.vllm_version}, cache back end {plan.request.cache_backend}.",
    )
    body = sheet.table(columns, _rows(context), filtered=True)
    sheet.freeze(body.start, 1)
    sheet.finish(context.bom.plan_sha256)


def _rows(context: Context) -> Iterator[tuple[Cell, ...]]:
    """List the lines of these groups, and all others that run for a term."""
    layout = context.layout
    for line in context.bom.lines:
        if line.group not in _GROUPS and line.term_months is None:
            continue
        quantity = Formula(f"={layout.cell(line, 'quantity')}", line.quantity)
        extended = layout.copy(line, "extended", line.extended) if line.priced else None
        notes = "; ".join(filter(None, (line.basis, line.note, "option, not in the total" if line.optional else "")))
        yield (
            line.line, GROUP_TITLES[line.group], line.vendor, line.part_number, line.description, quantity, line.unit,
            line.term_months, extended, notes,
        )  # fmt: skip
