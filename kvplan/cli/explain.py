"""`kvplan explain`: how a number of a Plan came about."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kvplan.cli import options

EXAMPLES = options.examples(
    "kvplan explain plan.json profile.usable_bytes",
    "kvplan explain plan.json 'network.stages[uplink].utilisation'",
)


def explain(
    plan: Annotated[Path, typer.Argument(help="A saved Plan.", show_default=False)],
    field: Annotated[
        str, typer.Argument(help="Field, such as profile.usable_bytes or kv. Default: every number.")
    ] = "",
    format_: options.Format = "table",
) -> None:
    """Show how a number of a Plan came about.

    Formula, inputs, units and sources, and the same for everything that went into it.
    """
    from kvplan.cli.console import color, out, width
    from kvplan.cli.shared import checked_format, read_plan, show, versioned
    from kvplan.core.explanation import explain as explained
    from kvplan.render import explain as render

    chosen = checked_format(format_)
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
