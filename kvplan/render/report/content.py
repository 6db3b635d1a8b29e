"""The report put together: title, sections in the order in which a buyer asks, and where everything comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.render.report.blocks import Fact, Report
from kvplan.render.report.sections.building import fabric, racks
from kvplan.render.report.sections.candidates import candidates
from kvplan.render.report.sections.capacity import capacity
from kvplan.render.report.sections.caveats import caveats
from kvplan.render.report.sections.decision import decision
from kvplan.render.report.sections.formulas import formulas
from kvplan.render.report.sections.network import network
from kvplan.render.report.sections.purchase import purchase
from kvplan.render.report.sections.request import request
from kvplan.render.report.sections.speed import speed

if TYPE_CHECKING:
    from kvplan.render.report.source import Source

_SECTIONS = (
    decision, request, candidates, speed, capacity, network, fabric, racks, purchase, caveats, formulas,
)  # fmt: skip
_HASH_SHOWN = 12


def report(source: Source) -> Report:
    """Arrange the whole report."""
    plan = source.plan
    asked = plan.request
    return Report(
        title=f"Shared KV-cache storage for {asked.model}",
        subtitle=f"{asked.context_tokens:,} tokens of context on {asked.gpus:,} x {plan.parts.gpu.title or asked.gpu}",
        facts=(
            Fact("Plan", source.design.plan_sha256[:_HASH_SHOWN]),
            Fact("Date", source.bom.date.isoformat()),
            Fact("Made by", f"kvplan {plan.kvplan_version}"),
        ),
        parts=tuple(section(source) for section in _SECTIONS),
        provenance=_provenance(source),
    )


def _provenance(source: Source) -> tuple[Fact, ...]:
    """Say which program, tables, options and price books stand behind the page."""
    plan, lock = source.plan, source.plan.catalogue
    books = ", ".join(f"{book.name} ({book.currency})" for book in source.bom.books)
    return (
        Fact("Plan", source.design.plan_sha256, "SHA-256"),
        Fact("kvplan", plan.kvplan_version, f"plan format {plan.format_version}"),
        Fact("Catalogue", lock.version, f"SHA-256 {lock.sha256}"),
        Fact("Own tables", ", ".join(lock.user_tables) or "none"),
        Fact("Price books", books or "none"),
        Fact("Date of the quote", source.bom.date.isoformat(), f"valid until {source.bom.valid_until.isoformat()}"),
    )
