"""The bill of materials: what each group comes to, what has no price, and the lines of each group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.render.bom_view import amount
from kvplan.render.report.blocks import Block, Fact, Facts, Fold, Part, Prose, Table
from kvplan.render.report.source import priced_words
from kvplan.render.report.words import money
from kvplan.render.view import Grid
from kvplan.schema.money import percent_text
from kvplan.units import counted

if TYPE_CHECKING:
    from kvplan.render.report.source import Source
    from kvplan.schema.bom import Bom, BomGroup, BomLine

_HEADERS = ("Line", "Part number", "Description", "Quantity")


def purchase(source: Source) -> Part:
    """Show the groups with their subtotals, and fold their lines."""
    bom = source.bom
    total, word = priced_words(bom)
    facts = (
        Fact("Total, net", total, word),
        Fact("Date", bom.date.isoformat(), f"valid until {bom.valid_until.isoformat()}"),
        Fact("Currency", bom.currency, f"discount {percent_text(bom.discount)} unless a group or book says otherwise"),
    )
    return Part(
        "bom",
        "Bill of materials",
        (
            Facts("Quote", facts),
            *_incomplete(bom),
            Table("Groups", _groups(bom)),
            *(_lines(bom, group) for group in bom.groups if group.lines),
            *_books(bom),
            Prose(("The workbook with live formulas: `kvplan bom plan.json -o quote.xlsx`.",)),
        ),
        short="Materials",
    )


def _incomplete(bom: Bom) -> tuple[Block, ...]:
    """Say clearly that the total is none while prices are missing."""
    if bom.complete:
        return ()
    text = (
        f"Incomplete: {counted(bom.missing, 'line')} without a price. The total sums only what has one; a missing "
        "price is left blank and never counted as zero. Price books are yours: `--price-book book.yaml`."
    )
    return (Prose((text,)),)


def _groups(bom: Bom) -> Grid:
    """Lay the groups out, the total last."""
    rows = [
        (group.title, f"{group.lines:,}", f"{group.missing:,}", _subtotal(group, bom.currency))
        for group in bom.groups
        if group.lines
    ]
    lines = sum(group.lines for group in bom.groups)
    rows.append(("All groups", f"{lines:,}", f"{bom.missing:,}", _subtotal(bom, bom.currency)))
    return Grid(("Group", "Lines", "Without a price", "Net"), tuple(rows), "lrrr", marked=len(rows) - 1)


def _subtotal(whole: Bom | BomGroup, currency: str) -> str:
    """Write what a group or the quote comes to."""
    if not whole.priced:
        return "not priced"
    return f"{money(whole.total, currency)}{' (incomplete)' if whole.missing else ''}"


def _lines(bom: Bom, group: BomGroup) -> Fold:
    """Fold the lines of one group."""
    lines = [line for line in bom.lines if line.group == group.id]
    priced = any(line.extended is not None for line in bom.lines)  # options too, which Bom.priced leaves out
    columns = (f"Net, {bom.currency}", f"Extended, {bom.currency}") if priced else ()
    rows = tuple((*_line(line), *(_prices(line, bom.currency) if priced else ())) for line in lines)
    grid = Grid((*_HEADERS, *columns), rows, "lllr" + "r" * len(columns))
    return Fold(Table(f"{group.title}: {counted(group.lines, 'line')}", grid))


def _line(line: BomLine) -> tuple[str, ...]:
    """Describe one line."""
    extra = ", ".join(
        word
        for word in (
            f"{line.term_months} months" if line.term_months else "",
            "optional, not in the total" if line.optional else "",
            line.note,
        )
        if word
    )
    described = f"{line.description} ({extra})" if extra else line.description
    return (
        line.line,
        " ".join(part for part in (line.vendor, line.part_number) if part) or ("to be named" if line.priced else ""),
        described,
        f"{line.quantity:,} {line.unit}",
    )


def _prices(line: BomLine, currency: str) -> tuple[str, str]:
    """Write net and extended price; what has none says so, a heading and what comes with a device stay blank."""
    if not line.priced:
        return "", ""
    if line.net_price is None or line.extended is None:
        return "no price", ""
    return amount(line.net_price, currency), amount(line.extended, currency)


def _books(bom: Bom) -> tuple[Block, ...]:
    """Name the price books."""
    if not bom.books:
        return ()
    rows = tuple(
        (
            book.name,
            book.currency,
            " to ".join(map(str, book.days)) or "undated",
            f"{book.used:,} of {book.items:,}",
            book.source,
        )
        for book in bom.books
    )
    grid = Grid(("Price book", "Currency", "Date", "Prices used", "Source"), rows, "lllrl")
    return (Fold(Table(f"Price books: {len(rows)}", grid)),)
