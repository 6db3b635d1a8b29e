"""What to watch: warnings by severity from Plan, Design and Bom, and what was assumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.render.notices import plan_warnings
from kvplan.render.report.blocks import Notice, Notices, Part, Prose
from kvplan.render.report.source import sentence

if TYPE_CHECKING:
    from kvplan.render.report.blocks import Block, Tone
    from kvplan.render.report.source import Source

_SEVERITIES: tuple[tuple[str, str, Tone], ...] = (
    ("error", "Errors: settle these first", "bad"),
    ("warning", "Warnings: know these before you sign", "doubtful"),
    ("info", "Notes", "plain"),
)


def caveats(source: Source) -> Part:
    """Group everything that was found by how grave it is, then list what was assumed."""
    blocks: list[Block] = []
    for severity, title, tone in _SEVERITIES:
        notices = _found(source, severity)
        if notices:
            blocks.append(Notices(f"{title} ({len(notices)})", tone, notices))
    points = tuple(Notice(point.id, sentence(point.text), source=point.source) for point in source.plan.open_points)
    if points:
        blocks.append(Notices(f"Open points: assumed, to be confirmed ({len(points)})", "plain", points))
    return Part(
        "caveats", "Warnings and open points", tuple(blocks) or (Prose(("Nothing was found.",)),), short="Warnings"
    )


def _found(source: Source, severity: str) -> tuple[Notice, ...]:
    """Collect what has a severity, the Plan's first."""
    warnings = (
        Notice(warning.id, sentence(warning.text), source=warning.source)
        for warning in plan_warnings(source.plan)
        if warning.severity == severity
    )
    findings = (
        Notice(finding.id, sentence(finding.text), where=finding.where, remedy=sentence(finding.remedy or ""))
        if finding.remedy
        else Notice(finding.id, sentence(finding.text), where=finding.where)
        for finding in (*source.design.findings, *source.bom.findings)
        if finding.severity == severity
    )
    return (*warnings, *findings)
