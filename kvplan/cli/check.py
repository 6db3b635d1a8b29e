"""`kvplan check`: what is wrong with a deployment, before it touches a machine."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from kvplan.cli import building, options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.schema.checking import CheckReport

EXAMPLES = options.examples(
    "kvplan check plan.json site.yaml",
    "kvplan check plan.json site.yaml --severity warning --skip 'KV-NET-*'",
)
FORMATS = ("table", "json", "md")
_OBJECTS: Final = 50_000
"""New objects before garbage is looked for."""


def check(
    plan: building.PlanFile,
    site: Annotated[Path, typer.Argument(help="The Site of the Plan.", show_default=False)],
    *,
    skip: Annotated[
        list[str] | None,
        typer.Option(
            "--skip", help="Leave a check out, by id or pattern; repeatable.", metavar="ID", show_default=False
        ),
    ] = None,
    severity: Annotated[
        str, typer.Option("--severity", help="Return 6 from here on: error, warning or info.", metavar="SEVERITY")
    ] = "error",
    catalogue: options.CatalogueDirs = None,
    format_: Annotated[str, typer.Option("--format", "-f", help="table, json or md.", metavar="FORMAT")] = "table",
) -> None:
    """Check a Plan, a Site and the files that they make.

    Shows what is wrong, where it stands and what to do, the gravest first. Returns 6 when something as grave as
    --severity is found. `kvplan explain KV-NET-003` shows the page of a check.
    """
    from kvplan.checks.framework import Context
    from kvplan.checks.registry import all_checks
    from kvplan.checks.runner import examine
    from kvplan.cli.siting import read_sited
    from kvplan.errors import Problems

    problems = Problems()
    with problems.kept():
        skipped = _skipped(format_, severity, skip or [])
    with problems.kept():
        sited = read_sited(plan, site, catalogue)
    problems.raise_any()
    context = Context(sited.deployment, sited.tree)
    with _rarely_collected():
        report = examine(context, all_checks(), plan=str(plan), document=sited.document, skipped=skipped)
    _show(report, format_)
    _judge(report, severity)


@contextmanager
def _rarely_collected() -> Iterator[None]:
    """Look for garbage less often: nearly all that is read from files is kept, and looking took a third of the time."""
    before = gc.get_threshold()
    gc.set_threshold(_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _skipped(format_: str, severity: str, skip: list[str]) -> frozenset[str]:
    """Check the options, and return the ids to skip."""
    from kvplan.checks.registry import matching
    from kvplan.cli.parsing import unknown_name
    from kvplan.errors import Problems
    from kvplan.schema.base import SEVERITIES

    problems = Problems()
    skipped: frozenset[str] = frozenset()
    problems.found += unknown_name("--format", "format", format_, FORMATS)
    problems.found += unknown_name("--severity", "severity", severity, SEVERITIES)
    with problems.kept():
        skipped = matching(skip, "--skip")
    problems.raise_any()
    return skipped


def _show(report: CheckReport, form: str) -> None:
    """Print the report."""
    from kvplan.cli.console import out
    from kvplan.cli.shared import show_view
    from kvplan.render.check_view import report_view
    from kvplan.render.data import record_json
    from kvplan.render.markdown import view_markdown

    if form == "json":
        out(record_json(report))
    elif form == "md":
        out(view_markdown(report_view(report), title=f"Checks of {report.plan} and {report.site}"))
    else:
        show_view(report_view(report))


def _judge(report: CheckReport, threshold: str) -> None:
    """End with 6 when something as grave as the threshold was found."""
    from kvplan.errors import ExitCode
    from kvplan.schema.base import SEVERITIES

    graver = SEVERITIES[: [*SEVERITIES].index(threshold) + 1]  # type: ignore[arg-type]
    if any(found.severity in graver for found in report.findings):
        raise typer.Exit(ExitCode.PREFLIGHT_FAILED)
