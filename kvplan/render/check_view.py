"""A run of checks, and the page of one check, arranged for people."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final

from kvplan.render.view import Section, View
from kvplan.schema.base import SEVERITIES, Severity
from kvplan.units import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kvplan.schema.checking import CheckFinding, CheckPage, CheckReport

MOST_LINES: Final = 10
"""Findings of one check that are written out; data formats have all."""
_NOUNS: Final[dict[Severity, str]] = {"error": "error", "warning": "warning", "info": "note"}
PAGE_HEADERS: Final = ("id", "severity", "title", "why", "expected", "remedy", "manual", "source", "needs")


def report_view(report: CheckReport) -> View:
    """Arrange a run of checks: one section a check that found something, the gravest first, then the sum.

    Parameters
    ----------
    report
        The run.

    Returns
    -------
    View
        Sections with place, machine, what is wrong and what to do.
    """
    groups = groupby(report.findings, key=lambda finding: (finding.severity, finding.id))
    return (*(_group(tuple(found)) for _, found in groups), _sum(report))


def page_view(page: CheckPage) -> View:
    """Arrange the page of one check.

    Parameters
    ----------
    page
        The check as its page has it.

    Returns
    -------
    View
        What is looked at and why, what is right, what to do, how to look, and the source.
    """
    subject, _, why = page.why.partition("\n\n")
    about = tuple(" ".join(part.split()) for part in (subject, why) if part)
    return (
        Section(f"{page.id} ({page.severity}): {page.title}", about),
        Section("Expected", (page.expected,)),
        Section("Remedy", (page.remedy,)),
        Section("Look yourself", (page.manual,)),
        Section("Source", (page.source,)),
    )


def page_row(page: CheckPage) -> tuple[str, ...]:
    """Return a check as one row under `PAGE_HEADERS`."""
    return tuple(" ".join(str(getattr(page, name)).split()) for name in PAGE_HEADERS)


def catalogue_page(pages: Iterable[CheckPage]) -> str:
    """Write the list of all checks as Markdown: docs/checks.md without its notice.

    Parameters
    ----------
    pages
        Every check, in order.

    Returns
    -------
    str
        A heading, an introduction, and a table for each area.
    """
    areas = groupby(pages, key=lambda page: page.id.rpartition("-")[0])
    return "\n\n".join(("# The checks", _INTRODUCTION, *(_area(name, tuple(found)) for name, found in areas))) + "\n"


def _area(name: str, pages: Sequence[CheckPage]) -> str:
    """Write the table of one area."""
    rows = (f"| {page.id} | {page.severity} | {page.title.replace('|', chr(92) + '|')} |" for page in pages)
    return "\n".join((f"## {name}\n", "| id | severity | what is checked |", "|---|---|---|", *rows))


def _group(findings: Sequence[CheckFinding]) -> Section:
    """Write what one check found, what it expected, and what to do: once, or after each where that differs."""
    first, written = findings[0], findings[:MOST_LINES]
    remedies = {finding.remedy for finding in written}
    lines = [_line(finding) for finding in written]
    if len(remedies) > 1:
        lines = [text for finding in written for text in (_line(finding), f"remedy: {finding.remedy}")]
    if len(findings) > MOST_LINES:
        lines.append(f"and {len(findings) - MOST_LINES:,} more")
    below = (f"expected: {first.expected}", *((f"remedy: {first.remedy}",) if len(remedies) == 1 else ()))
    return Section(f"{first.severity} {first.id}", (*lines, *below))


def _line(finding: CheckFinding) -> str:
    """Write one finding with its place where it has one."""
    return ": ".join(part for part in (finding.place, finding.where, finding.what) if part)


def _sum(report: CheckReport) -> Section:
    """Count what ran and what was found."""
    found = ", ".join(counted(report.count(severity), _NOUNS[severity]) for severity in SEVERITIES)
    lines = [f"{counted(len(report.run), 'check')} run, {len(report.skipped):,} skipped: {found}"]
    if report.not_run:
        held_up_by = listed(report.held_up_by)
        lines.append(f"{counted(len(report.not_run), 'check')} of rendered files not run: {held_up_by} comes first")
    if report.findings:
        lines.append(f"more: kvplan explain {report.findings[0].id}")
    return Section("Sum", tuple(lines))


_INTRODUCTION: Final = """\
`kvplan check plan.json site.yaml` runs all of these, without a machine or a network. `kvplan explain KV-NET-003` prints
the page of one: why it is there, what is right, what to do, how to look by hand, and the source. `--skip 'KV-NET-*'`
leaves checks out. The exit code is 6 when something is found that is as grave as `--severity` says, an error unless
told otherwise. A severity is the gravest that a check gives; rules of rendered files may give a lesser one."""
