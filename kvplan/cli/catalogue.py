"""`kvplan catalogue`: the data behind the numbers."""

from __future__ import annotations

from typing import Annotated

import typer

from kvplan.cli import options
from kvplan.cli.catalogue_add import EXAMPLES as ADD_EXAMPLES
from kvplan.cli.catalogue_add import add

app = typer.Typer(
    help="List, show, verify and extend the data behind the numbers.", no_args_is_help=True, rich_markup_mode=None
)


@app.command("list", epilog=options.examples("kvplan catalogue list", "kvplan catalogue list models --format csv"))
def list_(
    table: Annotated[str, typer.Argument(help="A table, such as models or gpus. Default: all tables.")] = "",
    catalogue: options.CatalogueDirs = None,
    format_: options.Format = "table",
) -> None:
    """List the tables, or the rows of one with source and confidence."""
    from kvplan.catalogue.tables import TABLES
    from kvplan.cli.shared import checked_format, open_catalogue, show, versioned
    from kvplan.render import catalogue_view as render

    chosen = checked_format(format_)
    tables = open_catalogue(catalogue)
    if not table:
        counts = {name: len(tables.ids(name)) for name in TABLES}
        show(
            chosen,
            data=lambda: versioned(version=tables.version, sha256=tables.sha256, tables=counts),
            view=lambda: render.tables_view(tables.version, tables.sha256, counts),
            title="Catalogue",
            rows=lambda: (("table", "rows"), [(name, str(count)) for name, count in counts.items()]),
        )
        return
    rows = tables.rows(table)
    show(
        chosen,
        data=lambda: versioned(table=table, rows=[row.model_dump(mode="json") for row in rows]),
        view=lambda: render.rows_view(table, rows),
        title=table,
        rows=lambda: render.rows_table(rows),
    )


@app.command("show", epilog=options.examples("kvplan catalogue show models gpt-oss-120b"))
def show_(
    table: Annotated[str, typer.Argument(help="A table, such as models or gpus.", show_default=False)],
    name: Annotated[str, typer.Argument(help="Id, alias or unique fragment.", show_default=False)],
    catalogue: options.CatalogueDirs = None,
    format_: options.Format = "table",
) -> None:
    """Show one row with everything it says."""
    from kvplan.cli.shared import checked_format, open_catalogue, show, versioned
    from kvplan.render import catalogue_view as render

    chosen = checked_format(format_)
    row = open_catalogue(catalogue).row(table, name)
    show(
        chosen,
        data=lambda: versioned(table=table, row=row.model_dump(mode="json")),
        view=lambda: render.row_view(row),
        title=name,
        rows=lambda: render.row_table(row),
    )


@app.command("verify", epilog=options.examples("kvplan catalogue verify --catalogue ./tables"))
def verify(catalogue: options.CatalogueDirs = None, format_: options.Format = "table") -> None:
    """Check every row, name, source and reference; returns 3 when something is wrong."""
    from kvplan.catalogue.tables import TABLES
    from kvplan.catalogue.verify import verify as problems_of
    from kvplan.cli.shared import checked_format, open_catalogue, show, versioned
    from kvplan.errors import InputError
    from kvplan.render.view import Section

    chosen = checked_format(format_)
    tables = open_catalogue(catalogue)
    problems = problems_of(tables)
    if problems:
        raise InputError(problems)
    rows = sum(len(tables.ids(name)) for name in TABLES)
    verdict = f"catalogue {tables.version} ({tables.sha256[:12]}): {rows:,} rows, no problem"
    show(
        chosen,
        data=lambda: versioned(version=tables.version, sha256=tables.sha256, rows=rows, problems=[]),
        view=lambda: (Section(verdict),),
        title="Catalogue",
        rows=lambda: (("version", "sha256", "rows", "problems"), [(tables.version, tables.sha256, str(rows), "0")]),
    )


@app.command("backends", epilog=options.examples("kvplan catalogue backends --format md"))
def backends(catalogue: options.CatalogueDirs = None, format_: options.Format = "table") -> None:
    """Compare the cache back ends: versions, sharing, restart, eviction, CPU tier, GPUDirect."""
    from kvplan.catalogue.tables import BACKENDS
    from kvplan.cli.shared import checked_format, open_catalogue, show, versioned
    from kvplan.render import catalogue_view as render

    chosen = checked_format(format_)
    rows = open_catalogue(catalogue).records(BACKENDS)
    show(
        chosen,
        data=lambda: versioned(table=BACKENDS.name, rows=[row.model_dump(mode="json") for row in rows]),
        view=lambda: render.backends_view(rows),
        title="Cache back ends",
        rows=lambda: render.backends_table(rows),
    )


app.command("add", epilog=ADD_EXAMPLES)(add)
