"""`kvplan report`: a Plan as one HTML page, or as Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kvplan.cli import bom as quote
from kvplan.cli import building, options
from kvplan.cli.building import BuildFlags
from kvplan.cli.quoted import QuoteFlags
from kvplan.cli.quoting import TermFlags

if TYPE_CHECKING:
    from kvplan.cli.quoted import Quoted

EXAMPLES = options.examples(
    "kvplan report plan.json -o report.html",
    "kvplan report plan.json --price-book prices.yaml --discount 12% \\\n      -o report.html",
    "kvplan report plan.json --format md -o report.md",
)
FORMATS = ("html", "md")
_ENDINGS = {".html": "html", ".htm": "html", ".md": "md"}
Format = Annotated[
    str | None,
    typer.Option("--format", "-f", help="html or md. Default: by the ending of -o, else html.", metavar="FORMAT"),
]


def report(  # noqa: PLR0913 - one parameter an option
    plan: building.PlanFile,
    *,
    price_book: quote.PriceBooks = None,
    prices: quote.Prices = None,
    discount: quote.Discounts = None,
    currency: quote.Currency = None,
    rate: quote.Rates = None,
    date: quote.Day = None,
    valid_days: quote.ValidDays = "30",
    max_price_age: quote.MaxPriceAge = "90",
    support_years: quote.SupportYears = None,
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
    """Write a Plan as one page: decision, charts, racks, bill.

    The page holds everything: no script, no request to a network; it prints on A4 and reads in light and dark.
    """
    flags = BuildFlags(
        build=build, medium=medium, clients=clients, spines=spines, racks=racks, rack_units=rack_units,
        rack_power_kw=rack_power_kw,
    )  # fmt: skip
    terms = TermFlags(currency, discount or (), rate or (), valid_days, date, max_price_age, support_years)
    _report(QuoteFlags(plan, flags, terms, price_book, prices, catalogue), output, format_)


def _report(flags: QuoteFlags, output: Path | None, form: str | None) -> None:
    """Read everything, write the report, and save or print it."""
    from kvplan.cli.console import out
    from kvplan.cli.quoted import read_quote
    from kvplan.inputs.files import write_atomically
    from kvplan.reporting import html_report, markdown_report

    chosen, quoted = read_quote(flags, lambda: _format(output, form))
    write = html_report if chosen == "html" else markdown_report
    text = write(quoted.plan, quoted.design, quoted.bom, catalogue=quoted.catalogue)
    if output is None:
        out(text)
        return
    write_atomically(output, text)
    out(f"{output}: {_summary(quoted)}\n")


def _format(output: Path | None, form: str | None) -> str:
    """Choose the format: as asked, else by the ending of the file, else the page."""
    from kvplan.cli.parsing import Options

    if form is None:
        return _ENDINGS.get(output.suffix.lower(), "html") if output else "html"
    asked = Options()
    chosen = asked.form(form, FORMATS)
    asked.check()
    return chosen


def _summary(quoted: Quoted) -> str:
    """Say in a line what was saved."""
    from kvplan.render.report.source import Source, priced_words
    from kvplan.units import counted

    source = Source(quoted.plan, quoted.design, quoted.bom)
    total, word = priced_words(quoted.bom)
    warned = f"{counted(len(source.errors), 'error')}, {counted(source.warned, 'warning')}"
    return f"{quoted.plan.profile.name}, {quoted.plan.profile.nodes} nodes; {warned}; {total} ({word})"
