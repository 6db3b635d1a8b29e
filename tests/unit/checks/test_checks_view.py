"""How a run of checks reads."""

from __future__ import annotations

from kvplan.render.check_view import MOST_LINES, catalogue_page, report_view
from kvplan.schema.checking import CheckFinding, CheckPage, CheckReport

PAGE = {"title": "Odd | even", "expected": "all is even", "manual": "m", "source": "s"}


def finding(number: int, remedy: str = "mend it", place: str = "") -> CheckFinding:
    """Return a finding with a remedy."""
    where = f"gpu-{number:04d}"
    return CheckFinding(
        id="KV-XYZ-001", severity="error", where=where, place=place, what="is odd", remedy=remedy, **PAGE
    )


def report(*findings: CheckFinding, **fields: tuple[str, ...]) -> CheckReport:
    """Return a report with findings."""
    none: dict[str, tuple[str, ...]] = {"run": ("KV-XYZ-001",), "skipped": (), "not_run": (), "held_up_by": ()}
    return CheckReport(plan="plan.json", site="site.yaml", findings=findings, **{**none, **fields})


def test_a_remedy_of_all_is_said_once() -> None:
    section, _ = report_view(report(finding(1, place="site.yaml:3:4"), finding(2)))
    assert section.title == "error KV-XYZ-001"
    assert section.lines == (
        "site.yaml:3:4: gpu-0001: is odd",
        "gpu-0002: is odd",
        "expected: all is even",
        "remedy: mend it",
    )


def test_remedies_that_differ_follow_what_they_mend() -> None:
    section, _ = report_view(report(finding(1), finding(2, "mend that")))
    assert section.lines == (
        "gpu-0001: is odd",
        "remedy: mend it",
        "gpu-0002: is odd",
        "remedy: mend that",
        "expected: all is even",
    )


def test_many_findings_are_counted() -> None:
    section, _ = report_view(report(*map(finding, range(MOST_LINES + 5))))
    assert len(section.lines) == MOST_LINES + 3
    assert section.lines[MOST_LINES] == "and 5 more"


def test_the_sum_says_what_did_not_run() -> None:
    (last,) = report_view(report(run=("a", "b"), skipped=("c",), not_run=("d", "e"), held_up_by=("KV-SIT-001",)))
    assert last.lines == (
        "2 checks run, 1 skipped: 0 errors, 0 warnings, 0 notes",
        "2 checks of rendered files not run: KV-SIT-001 comes first",
    )


def test_the_page_has_a_table_an_area() -> None:
    pages = [
        CheckPage(id=check_id, severity="error", why="w", remedy="r", needs="offline", **PAGE)
        for check_id in ("KV-A-1", "KV-B-1")
    ]
    assert catalogue_page(pages).count("| id | severity | what is checked |") == 2
    assert "| KV-B-1 | error | Odd \\| even |" in catalogue_page(pages)
