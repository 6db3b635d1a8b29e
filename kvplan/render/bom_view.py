"""A bill of materials as sections for people, and as rows that a spreadsheet takes and gives back."""

from __future__ import annotations

from decimal import Decimal
from itertools import groupby
from typing import TYPE_CHECKING

from kvplan.render.data import marked
from kvplan.render.view import Grid, Section, View
from kvplan.schema.base import gravest_first
from kvplan.schema.hardware import UNSURE
from kvplan.schema.kit import GROUP_TITLES
from kvplan.schema.money import minor_units, percent_text, price_text
from kvplan.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kvplan.schema.bom import Bom, BomGroup, BomLine, UsedBook
    from kvplan.schema.design import Finding

COLUMNS = (
    "line", "parent", "group", "key", "vendor", "part_number", "part_number_known", "description",
    "quantity_per_parent", "quantity", "unit", "list_price", "currency", "discount", "discount_applied", "net_price",
    "extended", "term_months", "optional", "priced", "lead_time_days", "price_book", "price_source", "price_date",
    "valid_until", "basis", "note", "source", "confidence",
)  # fmt: skip
"""Columns of the exported sheet; `discount` is the part's own, and only that is read back."""
_TEXTS = {"key", "vendor", "part_number", "description", "price_book", "price_source"}
"""Columns that are read back as texts even where they look like numbers; a line's own number is not read."""
_YES = {True: "yes", False: "no"}
_MISSING, _INCLUDED = "missing", "incl."


def bom_view(bom: Bom, *, title: str, design: Sequence[Finding] = ()) -> View:
    """Arrange a bill of materials: what it comes to, the lines by group, and what is open.

    Parameters
    ----------
    bom
        The bill of materials.
    title
        What is built.
    design
        What the rules of the design found; of these, errors and warnings are shown.

    Returns
    -------
    View
        Totals first, then each device with what is in it.
    """
    return (*_head(bom, title), *_lines(bom), *_tail(bom, design))


def bom_summary_view(bom: Bom, *, title: str, follow_up: str, design: Sequence[Finding] = ()) -> View:
    """Arrange what a bill of materials comes to and what is open, without its lines, and say what happened to them."""
    return (*_head(bom, title), *_tail(bom, design), Section("Saved", (follow_up,)))


def bom_rows(bom: Bom) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the lines as rows; `kvplan bom --prices` takes them back with prices filled in."""
    return COLUMNS, [_row(line, bom.currency) for line in bom.lines]


def amount(value: Decimal, currency: str) -> str:
    """Write an amount with the decimals of its currency.

    >>> from decimal import Decimal
    >>> amount(Decimal("1234.5"), "EUR"), amount(Decimal(1234), "JPY")
    ('1,234.50', '1,234')
    """
    return f"{value:,.{minor_units(currency)}f}"


def _head(bom: Bom, title: str) -> View:
    """Say what everything comes to, as a whole and by group."""
    grid = Grid(
        ("Group", "Lines", "Missing", "Discount", bom.currency),
        tuple(
            (
                group.title,
                f"{group.lines:,}",
                f"{group.missing:,}" if group.missing else "-",
                _discount(group),
                amount(group.total, bom.currency) if group.priced else "-",
            )
            for group in bom.groups
        ),
        "lrrrr",
    )
    dates = f"quote of {bom.date}, valid to {bom.valid_until}"
    books = tuple(_book(book) for book in bom.books) or ("no price book: quantities only",)
    return (Section(f"Bill of materials: {title}", (_total(bom), dates), grid, books),)


def _total(bom: Bom) -> str:
    """Say what the quote comes to, or how much of it has no price."""
    lines = counted(sum(group.lines for group in bom.groups), "line")
    total = f"{bom.currency} {amount(bom.total, bom.currency)}"
    if bom.complete:
        return f"total {total}, without taxes"
    if not bom.priced:
        return f"incomplete: no price for any of {lines}"
    return f"incomplete: {bom.missing:,} of {lines} without a price; the others come to {total}"


def _book(book: UsedBook) -> str:
    """Describe a price book."""
    days = " of " + " to ".join(map(str, book.days)) if book.days else ", undated"
    valid = f", valid to {book.valid_until}" if book.valid_until else ""
    rate = f", {book.rate:f} each" if book.rate is not None else ""
    terms = f"; {book.terms}" if book.terms else ""
    return f"{book.name}{days}: {book.used} of {counted(book.items, 'price')} used, {book.currency}{rate}{valid}{terms}"


def _discount(group: BomGroup) -> str:
    """Write the discount of a group; spares take that of what they cover, unless they have one of their own."""
    return "of parts" if group.id == "spares" and not group.discount_given else _percent(group.discount)


def _lines(bom: Bom) -> Iterator[Section]:
    """Yield the lines: each device with what is in it under its own heading, other lines of a group together."""
    parents = {line.parent for line in bom.lines if line.parent}
    for (_, heading), run in groupby(bom.lines, key=lambda line: (line.group, _heading_of(line, parents))):
        lines = tuple(run)
        if heading:
            yield Section(_device_title(lines[0]), grid=_grid(lines[1:], bom))
        else:
            yield Section(GROUP_TITLES[lines[0].group], grid=_grid(lines, bom))


def _heading_of(line: BomLine, parents: set[str]) -> str:
    """Return the number of the heading that a line stands under, or nothing where it stands by itself."""
    return line.parent or (line.line if line.line in parents else "")


def _device_title(line: BomLine) -> str:
    """Write a device as a heading."""
    quantity = "" if line.unit == "lot" else f"{line.quantity:,} x "
    return f"{line.line} {quantity}{line.description}"


def _grid(lines: Sequence[BomLine], bom: Bom) -> Grid:
    """Build the table of lines: with money where any line of the quote has a price."""
    if any(line.extended is not None for line in bom.lines):
        headers = ("Line", "What", "Qty", f"Net {bom.currency}", f"Extended {bom.currency}")
        return Grid(headers, tuple((*_what(line, part=True), *_money(line, bom)) for line in lines), "llrrr")
    each = any(line.quantity_per_parent != line.quantity for line in lines)
    headers = ("Line", "What", *(("Each",) if each else ()), "Qty", "Part number")
    rows = tuple(_unpriced(line, each=each) for line in lines)
    return Grid(headers, rows, "llrrl" if each else "llrl")


def _unpriced(line: BomLine, *, each: bool) -> tuple[str, ...]:
    """Build the row of a line without money."""
    number, what, quantity = _what(line, part=False)
    per_parent = (f"{line.quantity_per_parent:,}",) if each else ()
    return (number, what, *per_parent, quantity, _part_number(line) or ("-" if line.priced else _INCLUDED))


def _part_number(line: BomLine) -> str:
    """Write the part number of a line, and if it is not confirmed, how it is known."""
    unsure = line.part_number_known in UNSURE
    return f"{line.part_number} ({line.part_number_known})" if unsure else line.part_number


def _what(line: BomLine, *, part: bool) -> tuple[str, str, str]:
    """Write number, description and quantity of a line."""
    number = f", {_part_number(line)}" if part and line.part_number else ""
    term = f", {line.term_months} months" if line.term_months else ""
    unit = f" {line.unit}" if line.unit not in {"each", "lot"} else ""
    option = "option: " if line.optional else ""
    return line.line, f"{option}{line.description}{number}{term}", f"{line.quantity:,}{unit}"


def _money(line: BomLine, bom: Bom) -> tuple[str, str]:
    """Write net and extended price."""
    if not line.priced:
        return _INCLUDED, ""
    if line.net_price is None or line.extended is None:
        return _MISSING, ""
    return amount(line.net_price, bom.currency), amount(line.extended, bom.currency)


def _tail(bom: Bom, design: Sequence[Finding]) -> View:
    """List what was found, warnings first; what the design only notes is left to the verbs that show it."""
    found = gravest_first((*(item for item in design if item.severity != "info"), *bom.findings))
    return (Section(f"What to know ({len(found)})", tuple(map(_finding, found)) or ("nothing",)),)


def _finding(item: Finding) -> str:
    """Write what was found, and where."""
    place = f"{item.where}: " if item.where else ""
    remedy = f"; {item.remedy}" if item.remedy else ""
    return f"{item.severity}: {place}{item.text} [{item.id}]{remedy}"


def _percent(share: Decimal) -> str:
    """Write a discount, with as many decimals as it has."""
    return percent_text(share) if share else "-"


def _row(line: BomLine, currency: str) -> tuple[str, ...]:
    """Build the row of a line; the currency stands wherever a price may, so that only prices need filling in."""
    own_discount = line.discount if line.discount_from == "book" else None
    values: dict[str, object] = {
        **line.model_dump(mode="python", include=set(COLUMNS)),
        "list_price": None if line.list_price is None else price_text(line.list_price),
        "currency": currency if line.priced else "",
        # In percent, as a share of 1 could be read two ways.
        "discount": None if own_discount is None else percent_text(own_discount).replace(" ", ""),
        "discount_applied": line.discount if line.priced else None,
        "optional": _YES[line.optional],
        "priced": _YES[line.priced],
    }
    return tuple(marked(_text(values[column])) if column in _TEXTS else _text(values[column]) for column in COLUMNS)


def _text(value: object) -> str:
    """Write a value, decimals without an exponent, and nothing where there is none."""
    if value is None:
        return ""
    return format(value, "f") if isinstance(value, Decimal) else str(value)
