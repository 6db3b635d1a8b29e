"""Software, subscriptions and support: what is licensed by what, for how long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.bom.workbook.sheet import Column, Formula
from kvplan.schema.kit import GROUP_TITLES
from kvplan.units import TB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.bom.workbook.quote import Quote
    from kvplan.bom.workbook.sheet import Cell

_WIDTHS = (8, 24, 14, 22, 46, 10, 10, 10, 16, 40)
_GROUPS = frozenset({"software", "support", "services"})


def software_sheet(quote: Quote) -> None:
    """Write the sheet."""
    plan = quote.plan
    software = plan.request.software
    sheet = quote.sheet("Software and support", _WIDTHS)
    sheet.title(
        "Software and support",
        f"Capacity for licences: {plan.profile.raw_bytes / TB:,.1f} TB raw, "
        f"{plan.profile.usable_bytes / TB:,.1f} TB usable. Software set {software}: vLLM {plan.request.vllm_version}, "
        f"cache back end {plan.request.cache_backend}.",
    )
    columns = (
        Column("Line", 8, ("text",)),
        Column("Group", 24),
        Column("Vendor", 14),
        Column("Part number", 22),
        Column("Description", 46),
        Column("Quantity", 10, ("count",)),
        Column("Unit", 10, ("text",)),
        Column("Term [months]", 10, ("count",)),
        Column(f"Extended [{quote.bom.currency}]", 16, ("money",)),
        Column("Quantity from, note", 40, ("wrap", "muted")),
    )
    body = sheet.table(columns, _rows(quote), filtered=True)
    sheet.freeze(body.start, 1)
    sheet.finish(quote.bom.plan_sha256)


def _rows(quote: Quote) -> Iterator[tuple[Cell, ...]]:
    """List the lines of these groups, and all others that run for a term."""
    layout = quote.layout
    for line in quote.bom.lines:
        if line.group not in _GROUPS and line.term_months is None:
            continue
        quantity = Formula(f"={layout.cell(line, 'quantity')}", line.quantity)
        extended = layout.copy(line, "extended", line.extended) if line.priced else None
        notes = "; ".join(filter(None, (line.basis, line.note, "option, not in the total" if line.optional else "")))
        yield (
            line.line, GROUP_TITLES[line.group], line.vendor, line.part_number, line.description, quantity, line.unit,
            line.term_months, extended, notes,
        )  # fmt: skip
