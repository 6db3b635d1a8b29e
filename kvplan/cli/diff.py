"""`kvplan diff`: what changed between two Plans."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kvplan.cli import options

EXAMPLES = options.examples(
    "kvplan diff old.json new.json",
    "kvplan diff old.json new.json --exit-code --format json",
)


def diff(
    before: Annotated[Path, typer.Argument(help="The earlier Plan.", show_default=False)],
    after: Annotated[Path, typer.Argument(help="The later Plan.", show_default=False)],
    *,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Return 5 when the Plans differ.")] = False,
    format_: options.Format = "table",
) -> None:
    """Compare two Plans field by field."""
    from kvplan.cli.shared import checked_format, read_plan, show, versioned
    from kvplan.core.diff import differences
    from kvplan.errors import ExitCode
    from kvplan.render import diff as render

    chosen = checked_format(format_)
    found = differences(read_plan(before), read_plan(after))
    show(
        chosen,
        data=lambda: versioned(before=before.name, after=after.name, differences=render.diff_data(found)),
        view=lambda: render.diff_view(found, before.name, after.name),
        title=f"{before.name} and {after.name}",
        rows=lambda: (render.HEADERS, [render.diff_cells(item) for item in found]),
    )
    if exit_code and found:
        raise typer.Exit(ExitCode.DIFFERS)
