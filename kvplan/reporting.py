"""The report of a Plan, Design and Bom in each of its formats, with what it takes from tables and templates."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from kvplan.assets import templates_dir
from kvplan.catalogue.tables import MEASUREMENTS
from kvplan.render.report.content import report
from kvplan.render.report.html import page
from kvplan.render.report.markdown import document
from kvplan.render.report.source import Source

if TYPE_CHECKING:
    from kvplan.catalogue.loader import Catalogue
    from kvplan.render.report.blocks import Report
    from kvplan.schema.bom import Bom
    from kvplan.schema.design import Design
    from kvplan.schema.measurement import Measurement
    from kvplan.schema.plan import Plan


def html_report(plan: Plan, design: Design, bom: Bom, *, catalogue: Catalogue) -> str:
    """Write the report as one self-contained HTML page.

    Parameters
    ----------
    plan
        The Plan.
    design
        How it is racked, cabled and addressed.
    bom
        What it takes, priced or not.
    catalogue
        Tables with the published measurements.

    Returns
    -------
    str
        The page; equal input gives equal bytes.
    """
    return page(_arranged(plan, design, bom, catalogue), _templates())


def markdown_report(plan: Plan, design: Design, bom: Bom, *, catalogue: Catalogue) -> str:
    """Write the report as Markdown; parameters as of `html_report`."""
    return document(_arranged(plan, design, bom, catalogue))


def published(plan: Plan, catalogue: Catalogue) -> tuple[Measurement, ...]:
    """Return what was published of a Plan's model on its GPU."""
    rows = catalogue.records(MEASUREMENTS)
    return tuple(row for row in rows if (row.model, row.gpu) == (plan.model.id, plan.request.gpu))


def _arranged(plan: Plan, design: Design, bom: Bom, catalogue: Catalogue) -> Report:
    """Arrange what every format shows."""
    return report(Source(plan, design, bom, published(plan, catalogue)))


@cache
def _templates() -> dict[str, str]:
    """Read the templates of the page, by name."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted((templates_dir() / "report").glob("*.j2"))}
