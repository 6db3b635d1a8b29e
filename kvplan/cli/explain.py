"""`kvplan explain`: how a number of a Plan came about, or what a check is about."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from kvplan.cli import options

EXAMPLES = options.examples(
    "kvplan explain plan.json profile.usable_bytes",
    "kvplan explain plan.json 'network.stages[uplink].utilisation'",
    "kvplan explain KV-NET-003",
)
_CHECK_ID = re.compile(r"kv(-\w*)*", re.IGNORECASE)


def explain(
    plan: Annotated[Path, typer.Argument(help="A saved Plan, or the id of a check.", show_default=False)],
    field: Annotated[
        str, typer.Argument(help="Field, such as profile.usable_bytes or kv. Default: every number.")
    ] = "",
    format_: options.Format = "table",
) -> None:
    """Show how a number of a Plan came about, or the page of a check.

    Of a number: formula, inputs, units and sources, and the same for everything that went into it. Of a check, such as
    KV-NET-003: what is looked at and why, what is right, what to do, how to look by hand, and the source.
    """
    from kvplan.cli.shared import checked_format

    chosen = checked_format(format_)
    if _CHECK_ID.fullmatch(str(plan)) and not plan.exists():
        _explain_check(str(plan), field, chosen)
    else:
        _explain_plan(plan, field, chosen)


def _explain_plan(plan: Path, field: str, chosen: str) -> None:
    """Show how a number, or every number, of a Plan came about."""
    from kvplan.cli.console import color, out, width
    from kvplan.cli.shared import read_plan, show, versioned
    from kvplan.core.explanation import explain as explained
    from kvplan.render import explain as render

    found = explained(read_plan(plan), field)
    if chosen == "table":
        out(render.explanation_text(found, width=width(), color=color()))
        return
    show(
        chosen,
        data=lambda: versioned(explanations=[render.explanation_data(item) for item in found]),
        view=lambda: render.explanation_view(found),
        title=f"{plan.name}: {field or 'every number'}",
        rows=lambda: (render.HEADERS, render.explanation_rows(found)),
    )


def _explain_check(check_id: str, field: str, chosen: str) -> None:
    """Show the page of a check."""
    from kvplan.checks.registry import check_of
    from kvplan.cli.shared import show
    from kvplan.errors import InputError
    from kvplan.render import check_view as render
    from kvplan.schema.checking import CHECK_FORMAT_VERSION

    if field:
        raise InputError.single(field, "a check has no fields", allowed="a field goes with a Plan")
    page = check_of(check_id).page
    show(
        chosen,
        data=lambda: {"format_version": CHECK_FORMAT_VERSION, **page.model_dump(mode="json")},
        view=lambda: render.page_view(page),
        title=page.id,
        rows=lambda: (render.PAGE_HEADERS, [render.page_row(page)]),
    )
