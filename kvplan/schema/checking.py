"""What a check is to a reader, what it found, and what a run of checks came to."""

from __future__ import annotations

from typing import Literal

from kvplan.schema.base import Record, Severity

CHECK_FORMAT_VERSION = "1.0"
Needs = Literal["offline", "tree", "live"]
"""What a check looks at: Plan and Site alone, the rendered files too, or machines that answer."""


class CheckPage(Record):
    """One check as its page has it: what is looked at, why, what is right, what to do, and how a person looks."""

    id: str
    severity: Severity
    title: str
    why: str
    expected: str
    remedy: str
    manual: str
    source: str
    needs: Needs


class CheckFinding(Record):
    """One thing that a check found; `place` is `file:line:column` where the Site says it, else empty."""

    id: str
    severity: Severity
    title: str
    where: str
    place: str
    what: str
    expected: str
    remedy: str
    manual: str
    source: str


class CheckReport(Record):
    """A run: which checks ran, which were skipped as asked, which could not run, and what was found, gravest first.

    `not_run` are checks of rendered files that wait for what `held_up_by` found: nothing can be rendered before.
    """

    format_version: str = CHECK_FORMAT_VERSION
    plan: str
    site: str
    run: tuple[str, ...]
    skipped: tuple[str, ...]
    not_run: tuple[str, ...]
    held_up_by: tuple[str, ...]
    findings: tuple[CheckFinding, ...]

    def count(self, severity: Severity) -> int:
        """Count the findings of a severity."""
        return sum(finding.severity == severity for finding in self.findings)
