"""Spares: a share of what is installed of each part, at least so many."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING

from kvplan.bom.draft import Draft
from kvplan.schema.bom import SpareRate
from kvplan.schema.money import percent_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kvplan.bom.draft import Numbered
    from kvplan.schema.kit import SpareRow


def spare_quantity(installed: int, rate: Decimal, minimum: int) -> int:
    """Count the spares of a part.

    >>> spare_quantity(128, Decimal("0.04"), 1), spare_quantity(8, Decimal("0.04"), 1), spare_quantity(3, Decimal(0), 0)
    (6, 1, 0)
    """
    return max(minimum, int((rate * installed).to_integral_value(rounding=ROUND_CEILING)))


def spare_lines(lines: Sequence[Numbered], rows: Sequence[SpareRow], *, own_discount: bool) -> Iterator[Draft]:
    """Make the spares kit: one minor line for each part that a row covers.

    Parameters
    ----------
    lines
        The lines of everything that is installed.
    rows
        The rates.
    own_discount
        Whether the quote gives the spares a discount; else each takes that of what it covers.

    Yields
    ------
    Draft
        The kit, unless nothing is spared.
    """
    minors = tuple(spare for row in rows for spare in _spares_of(lines, row, own_discount=own_discount))
    if any(minor.quantity for minor in minors):
        yield Draft(
            key="spares",
            group="spares",
            description="Spares kit",
            quantity=1,
            basis="rates below",
            source="catalogue: spares",
            confidence="derived",
            kind="heading",
            unit="lot",
            minors=minors,
        )


def rates_of(rows: Sequence[SpareRow]) -> tuple[SpareRate, ...]:
    """List the rates, for whoever changes them in a sheet."""
    return tuple(SpareRate(id=row.id, title=row.title, rate=row.rate, minimum=row.minimum) for row in rows)


def _spares_of(lines: Sequence[Numbered], row: SpareRow, *, own_discount: bool) -> Iterator[Draft]:
    """Yield the spares that one row asks for, a line a part."""
    parts: dict[str, list[Numbered]] = {}
    for item in lines:
        if {item.draft.kind, item.draft.row_id} & set(row.covers) and not item.line.optional:
            parts.setdefault(item.line.key, []).append(item)
    for items in parts.values():
        installed = sum(item.line.quantity for item in items)
        if installed >= row.from_installed:
            yield _spare(items, installed, row, own_discount=own_discount)


def _spare(items: Sequence[Numbered], installed: int, row: SpareRow, *, own_discount: bool) -> Draft:
    """Make the spare line of one part, which shares its key and so its price."""
    line = items[0].line
    share = f"max({row.minimum}, {percent_text(row.rate)} of {installed:,})"
    return Draft.of(
        row,
        key=line.key,
        group="spares",
        quantity=spare_quantity(installed, row.rate, row.minimum),
        basis=share if row.rate else f"{row.minimum} of each type",
        kind="spare",
        description=f"{row.title}: {line.description}",
        vendor=line.vendor,
        part_number=line.part_number,
        part_number_known=line.part_number_known,
        spare_of=tuple(item.line.line for item in items),
        spare_rate_id=row.id,
        spare_minimum=row.minimum,
        discount_group=None if own_discount else line.group,
    )
