"""`kvplan bom`: the bill of materials of a Plan, priced from the user's own price books."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kvplan.cli import building, options
from kvplan.cli.building import BuildFlags
from kvplan.cli.quoted import QuoteFlags
from kvplan.cli.quoting import TermFlags

if TYPE_CHECKING:
    from collections.abc import Callable

    from kvplan.cli.quoted import Quoted
    from kvplan.render.view import View

EXAMPLES = options.examples(
    "kvplan bom plan.json -o quote.xlsx",
    "kvplan bom plan.json --price-book prices.yaml --discount 12% \\\n      --discount services=0% --currency EUR",
    "kvplan bom plan.json --format csv -o to-fill.csv",
)
FORMATS = ("table", "xlsx", "csv", "json", "yaml", "md")
_ENDINGS = {
    ".xlsx": "xlsx",
    ".csv": "csv",
    ".json": "json",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".md": "md",
    ".txt": "table",
}
PriceBooks = Annotated[
    list[Path] | None,
    typer.Option(
        "--price-book",
        help="Price book, YAML or CSV; repeatable, a later one wins.",
        metavar="FILE",
        show_default=False,
    ),
]
Prices = Annotated[
    list[Path] | None,
    typer.Option("--prices", help="CSV export with its prices filled in; wins over books.", metavar="FILE"),
]
Discounts = Annotated[
    list[str] | None,
    typer.Option(
        "--discount",
        help="12% of everything, or GROUP=20% of a group; repeatable.",
        metavar="PERCENT",
        show_default=False,
    ),
]
Currency = Annotated[
    str | None,
    typer.Option("--currency", help="Of the quote. Default: that of the price books, else EUR.", metavar="CODE"),
]
Rates = Annotated[
    list[str] | None,
    typer.Option(
        "--rate", help="What a unit of another currency is worth: USD=0.92; repeatable.", metavar="CODE=WORTH"
    ),
]
Day = Annotated[str | None, typer.Option("--date", help="Day of the quote. Default: today.", metavar="YYYY-MM-DD")]
ValidDays = Annotated[str, typer.Option("--valid-days", help="How long the quote holds.", metavar="DAYS")]
MaxPriceAge = Annotated[str, typer.Option("--max-price-age", help="Older prices are pointed out.", metavar="DAYS")]
SupportYears = Annotated[
    str | None,
    typer.Option("--support-years", help="Term of support and subscriptions. Default: 3 years.", metavar="YEARS"),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", help="File to save to; its ending chooses the format.", metavar="FILE", show_default=False
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format", "-f", help="table, xlsx, csv, json, yaml or md. Default: by -o, else table.", metavar="FORMAT"
    ),
]


def bom(  # noqa: PLR0913 - one parameter an option
    plan: building.PlanFile,
    *,
    price_book: PriceBooks = None,
    prices: Prices = None,
    discount: Discounts = None,
    currency: Currency = None,
    rate: Rates = None,
    date: Day = None,
    valid_days: ValidDays = "30",
    max_price_age: MaxPriceAge = "90",
    support_years: SupportYears = None,
    clients: building.Clients = None,
    medium: building.Medium = None,
    spines: building.Spines = None,
    racks: building.Racks = None,
    rack_units: building.RackUnits = None,
    rack_power_kw: building.RackPower = None,
    build: building.BuildFile = None,
    catalogue: options.CatalogueDirs = None,
    output: Output = None,
    format_: Format = None,
) -> None:
    """List what a Plan needs, and price it from your books.

    No price comes from kvplan: where your price books have none, a line stays blank and the total is incomplete. Fill
    the column list_price of the CSV export and read it back with --prices.
    """
    flags = BuildFlags(
        build=build, medium=medium, clients=clients, spines=spines, racks=racks, rack_units=rack_units,
        rack_power_kw=rack_power_kw,
    )  # fmt: skip
    terms = TermFlags(currency, discount or (), rate or (), valid_days, date, max_price_age, support_years)
    _bom(QuoteFlags(plan, flags, terms, price_book, prices, catalogue), output, format_)


def _bom(flags: QuoteFlags, output: Path | None, form: str | None) -> None:
    """Read everything, make the bill, and save or print it."""
    from kvplan.cli.quoted import read_quote

    chosen, quoted = read_quote(flags, lambda: _format(output, form))
    if output is None:
        _print(quoted, chosen)
    else:
        _save(quoted, chosen, output)


def _format(output: Path | None, form: str | None) -> str:
    """Choose the format: as asked, else by the ending of the file, else a table."""
    import sys

    from kvplan.cli.parsing import Options
    from kvplan.errors import InputError

    if form is None and output is None:
        return "table"
    if form is None:
        ending = output.suffix.lower() if output else ""
        if ending not in _ENDINGS:
            what, allowed = f"{str(output)!r} says no format by its ending", f"endings: {', '.join(_ENDINGS)}"
            raise InputError.single(where="--output", what=what, allowed=allowed, hint="or name --format")
        return _ENDINGS[ending]
    asked = Options()
    chosen = asked.form(form, FORMATS)
    asked.check()
    if chosen == "xlsx" and output is None and sys.stdout.isatty():
        what, hint = "a workbook does not go to a terminal", "name a file: -o quote.xlsx"
        raise InputError.single(where="--format", what=what, hint=hint)
    return chosen


def _save(quoted: Quoted, chosen: str, output: Path) -> None:
    """Save the bill, and say what it comes to."""
    from kvplan.cli.shared import show_view
    from kvplan.inputs.files import write_atomically
    from kvplan.render.bom_view import bom_summary_view

    write_atomically(output, _content(quoted, chosen))
    title, follow_up = _title(quoted), f"{output}, as {chosen}"
    show_view(bom_summary_view(quoted.bom, title=title, follow_up=follow_up, design=quoted.design.findings))


def _print(quoted: Quoted, chosen: str) -> None:
    """Write the bill to stdout, a workbook as it is and text as the terminal takes it."""
    import sys

    from kvplan.cli.console import color, out, width

    if chosen == "xlsx":
        sys.stdout.buffer.write(_content(quoted, chosen))
        sys.stdout.buffer.flush()
    elif chosen == "table":
        out(_table(quoted, width(), color=color()))
    else:
        out(_content(quoted, chosen).decode())


def _content(quoted: Quoted, chosen: str) -> bytes:
    """Write the bill in a format."""
    from kvplan.cli.console import DEFAULT_WIDTH
    from kvplan.render import data as as_data
    from kvplan.render.bom_view import bom_rows
    from kvplan.render.markdown import view_markdown

    made = quoted.bom
    if chosen == "xlsx":
        from kvplan.bom.workbook import workbook

        return workbook(quoted.plan, quoted.design, made)
    writers: dict[str, Callable[[], str]] = {
        "csv": lambda: as_data.rows_csv(*bom_rows(made)),
        "json": lambda: as_data.record_json(made),
        "yaml": lambda: as_data.data_yaml(made.model_dump(mode="json")),
        "md": lambda: view_markdown(_view(quoted), title=f"Quote: {_title(quoted)}"),
        "table": lambda: _table(quoted, DEFAULT_WIDTH, color=False),
    }
    return writers[chosen]().encode()


def _table(quoted: Quoted, width: int, *, color: bool) -> str:
    """Write the bill as a table."""
    from kvplan.render.text import view_text

    return view_text(_view(quoted), width=width, color=color)


def _view(quoted: Quoted) -> View:
    """Arrange the bill for people."""
    from kvplan.render.bom_view import bom_view

    return bom_view(quoted.bom, title=_title(quoted), design=quoted.design.findings)


def _title(quoted: Quoted) -> str:
    """Say what is built."""
    from kvplan.units import format_bytes

    profile = quoted.plan.profile
    return f"{profile.name}, {profile.nodes} nodes, {format_bytes(profile.usable_bytes, digits=3)} usable"
