"""`kvplan bom`: the bill of materials of a Plan, priced from the user's own price books."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kvplan.cli import building, options, quoting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvplan.cli.quoted import Quoted
    from kvplan.render.view import View

EXAMPLES = options.examples(
    "kvplan bom plan.json -o quote.xlsx",
    "kvplan bom plan.json --price-book prices.yaml --discount 12% \\\n      --discount services=0% --currency EUR",
    "kvplan bom plan.json -o to-fill.csv",
)
FORMATS = {
    "table": (".txt",),
    "xlsx": (".xlsx",),
    "csv": (".csv",),
    "json": (".json",),
    "yaml": (".yaml", ".yml"),
    "md": (".md",),
}
"""Every format with the endings of its files."""
Format = Annotated[
    str | None,
    typer.Option(
        "--format", "-f", help="table, xlsx, csv, json, yaml or md. Default: by -o, else table.", metavar="FORMAT"
    ),
]


def bom(  # noqa: PLR0913 - one parameter an option
    plan: building.PlanFile,
    *,
    price_book: quoting.PriceBooks = None,
    prices: quoting.Prices = None,
    discount: quoting.Discounts = None,
    currency: quoting.Currency = None,
    rate: quoting.Rates = None,
    date: quoting.Date = None,
    valid_days: quoting.ValidDays = "30",
    max_price_age: quoting.MaxPriceAge = "90",
    support_years: quoting.SupportYears = None,
    clients: building.Clients = None,
    medium: building.Medium = None,
    spines: building.Spines = None,
    racks: building.Racks = None,
    rack_units: building.RackUnits = None,
    rack_power_kw: building.RackPower = None,
    build: building.BuildFile = None,
    catalogue: options.CatalogueDirs = None,
    output: options.Output = None,
    format_: Format = None,
) -> None:
    """List what a Plan needs, and price it from your books.

    No price comes from kvplan: where your price books have none, a line stays blank and the total is incomplete. Fill
    the column list_price of the CSV export and read it back with --prices.
    """
    _bom(locals(), output, format_)


def _bom(given: Mapping[str, Any], output: Path | None, form: str | None) -> None:
    """Read everything, make the bill, and save or print it."""
    from kvplan.cli.parsing import format_of, keep_inputs
    from kvplan.cli.quoted import read_quote
    from kvplan.errors import Problems

    problems = Problems()
    with problems.kept():
        chosen = format_of(output, form, FORMATS, default="table")
        _check_terminal(chosen, output)
    with problems.kept():
        keep_inputs(output, given)
    with problems.kept():
        quoted = read_quote(given)
    problems.raise_any()
    if output is None:
        _print(quoted, chosen)
    else:
        _save(quoted, chosen, output)


def _check_terminal(chosen: str, output: Path | None) -> None:
    """Keep a workbook off the terminal."""
    import sys

    from kvplan.errors import InputError

    if chosen == "xlsx" and output is None and sys.stdout.isatty():
        what, hint = "a workbook does not go to a terminal", "name a file: -o quote.xlsx"
        raise InputError.single(where="--format", what=what, hint=hint)


def _save(quoted: Quoted, chosen: str, output: Path) -> None:
    """Save the bill, and say what it comes to."""
    from kvplan.cli.shared import show_view
    from kvplan.inputs.files import write_atomically
    from kvplan.render.bom_view import bom_summary_view

    write_atomically(output, _workbook(quoted) if chosen == "xlsx" else _text(quoted, chosen))
    title, follow_up = _title(quoted), f"{output}, as {chosen}"
    show_view(bom_summary_view(quoted.bom, title=title, follow_up=follow_up, design=quoted.design.findings))


def _print(quoted: Quoted, chosen: str) -> None:
    """Write the bill to stdout, a workbook as it is and text as the terminal takes it."""
    from kvplan.cli.console import out, out_bytes
    from kvplan.cli.shared import show_view

    if chosen == "xlsx":
        out_bytes(_workbook(quoted))
    elif chosen == "table":
        show_view(_view(quoted))
    else:
        out(_text(quoted, chosen))


def _workbook(quoted: Quoted) -> bytes:
    """Write the bill as a workbook."""
    from kvplan.bom.workbook import workbook

    return workbook(quoted.plan, quoted.design, quoted.bom)


def _text(quoted: Quoted, chosen: str) -> str:
    """Write the bill in a format for files."""
    from kvplan.render import data as as_data
    from kvplan.render.bom_view import bom_rows
    from kvplan.render.markdown import view_markdown
    from kvplan.render.text import view_text

    match chosen:
        case "csv":
            return as_data.rows_csv(*bom_rows(quoted.bom))
        case "json":
            return as_data.record_json(quoted.bom)
        case "yaml":
            return as_data.data_yaml(quoted.bom.model_dump(mode="json"))
        case "md":
            return view_markdown(_view(quoted), title=f"Quote: {_title(quoted)}")
        case _:
            return view_text(_view(quoted))


def _view(quoted: Quoted) -> View:
    """Arrange the bill for people."""
    from kvplan.render.bom_view import bom_view

    return bom_view(quoted.bom, title=_title(quoted), design=quoted.design.findings)


def _title(quoted: Quoted) -> str:
    """Say what is built."""
    from kvplan.units import format_bytes

    profile = quoted.plan.profile
    return f"{profile.name}, {profile.nodes} nodes, {format_bytes(profile.usable_bytes, digits=3)} usable"
