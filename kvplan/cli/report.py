"""`kvplan report`: a Plan as one HTML page, or as Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kvplan.cli import building, options, quoting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvplan.cli.quoted import Quoted

EXAMPLES = options.examples(
    "kvplan report plan.json -o report.html",
    "kvplan report plan.json --price-book prices.yaml --discount 12% \\\n      -o report.html",
    "kvplan report plan.json -o report.md",
)
FORMATS = {"html": (".html", ".htm"), "md": (".md",)}
"""Both formats with the endings of their files."""
Format = Annotated[
    str | None,
    typer.Option("--format", "-f", help="html or md. Default: by the ending of -o, else html.", metavar="FORMAT"),
]


def report(  # noqa: PLR0913 - one parameter an option
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
    """Write a Plan as one page: decision, charts, racks, bill.

    The page holds everything: no script, no request to a network; it prints on A4 and reads in light and dark.
    """
    _report(locals(), output, format_)


def _report(given: Mapping[str, Any], output: Path | None, form: str | None) -> None:
    """Read everything, write the report, and save or print it."""
    from kvplan.cli.console import out, out_bytes
    from kvplan.cli.parsing import format_of, keep_inputs
    from kvplan.cli.quoted import read_quote
    from kvplan.errors import Problems
    from kvplan.inputs.files import write_atomically
    from kvplan.reporting import html_report, markdown_report

    problems = Problems()
    with problems.kept():
        chosen = format_of(output, form, FORMATS, default="html")
    with problems.kept():
        keep_inputs(output, given)
    with problems.kept():
        quoted = read_quote(given)
    problems.raise_any()
    write = html_report if chosen == "html" else markdown_report
    text = write(quoted.plan, quoted.design, quoted.bom, catalogue=quoted.catalogue)
    if output is not None:
        write_atomically(output, text)
        out(f"{output}: {_summary(quoted)}\n")
    elif chosen == "html":
        # The page says that it is UTF-8, so that it is whatever the terminal takes.
        out_bytes(text.encode())
    else:
        out(text)


def _summary(quoted: Quoted) -> str:
    """Say in a line what was saved."""
    from kvplan.render.report.source import Source, priced_words
    from kvplan.units import counted

    source = Source(quoted.plan, quoted.design, quoted.bom)
    total, word = priced_words(quoted.bom)
    warned = f"{counted(len(source.errors), 'error')}, {counted(source.warned, 'warning')}"
    return f"{quoted.plan.profile.name}, {quoted.plan.profile.nodes} nodes; {warned}; {total} ({word})"
