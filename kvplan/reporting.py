"""What a report needs beside Plan, Design and Bom: the templates, and what was published of the same system."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from kvplan.assets import templates_dir
from kvplan.catalogue.tables import MEASUREMENTS

if TYPE_CHECKING:
    from pathlib import Path

    from kvplan.catalogue.loader import Catalogue
    from kvplan.schema.bom import Bom
    from kvplan.schema.design import Design
    from kvplan.schema.measurement import Measurement
    from kvplan.schema.plan import Plan


def html_report(plan: Plan, design: Design, bom: Bom, *, catalogue: Catalogue) -> str:
    """Write the report of a Plan as one self-contained HTML page.

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
    from kvplan.render.report.html import report_html  # noqa: PLC0415 - sizing must not load the templates' engine

    templates, measurements = template_texts(templates_dir() / "report"), published(plan, catalogue)
    return report_html(plan, design, bom, templates=templates, measurements=measurements)


def markdown_report(plan: Plan, design: Design, bom: Bom, *, catalogue: Catalogue) -> str:
    """Write the report of a Plan as Markdown.

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
        The document.
    """
    from kvplan.render.report.markdown import report_markdown  # noqa: PLC0415 - sizing must not load reports

    return report_markdown(plan, design, bom, measurements=published(plan, catalogue))


def published(plan: Plan, catalogue: Catalogue) -> tuple[Measurement, ...]:
    """Return what was published of a Plan's model on its GPU."""
    rows = catalogue.records(MEASUREMENTS)
    return tuple(row for row in rows if (row.model, row.gpu) == (plan.model.id, plan.request.gpu))


@cache
def template_texts(folder: Path) -> dict[str, str]:
    """Read the templates of a folder, by name."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.j2"))}
