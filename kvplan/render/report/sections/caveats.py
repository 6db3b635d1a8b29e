"""What to watch: warnings by severity from Plan, Design and Bom, and what was assumed."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from kvplan.render.notices import all_found
from kvplan.render.report.blocks import Notice, Notices, Part, Prose
from kvplan.render.report.words import sentence
from kvplan.schema.base import gravest_first
from kvplan.schema.design import Finding

if TYPE_CHECKING:
    from kvplan.render.report.source import Source
    from kvplan.schema.base import Severity
    from kvplan.schema.plan import PlanWarning

_TITLES: dict[Severity, str] = {
    "error": "Errors: settle these first",
    "warning": "Warnings: know these before you sign",
    "info": "Notes",
}


def caveats(source: Source) -> Part:
    """Group everything that was found by how grave it is, then list what was assumed."""
    found = gravest_first(all_found(source.plan, source.design, source.bom))
    groups = [(severity, tuple(map(_notice, group))) for severity, group in groupby(found, key=lambda it: it.severity)]
    blocks = [Notices(f"{_TITLES[severity]} ({len(notices)})", severity, notices) for severity, notices in groups]
    points = tuple(Notice(point.id, sentence(point.text), source=point.source) for point in source.plan.open_points)
    if points:
        blocks.append(Notices(f"Open points: assumed, to be confirmed ({len(points)})", None, points))
    return Part(
        "caveats", "Warnings and open points", tuple(blocks) or (Prose(("Nothing was found.",)),), short="Warnings"
    )


def _notice(found: PlanWarning | Finding) -> Notice:
    """Write what was found: by a rule with its place and remedy, by sizing with its source."""
    if isinstance(found, Finding):
        remedy = sentence(found.remedy) if found.remedy else ""
        return Notice(found.id, sentence(found.text), where=found.where, remedy=remedy)
    return Notice(found.id, sentence(found.text), source=found.source)
