"""Spares: a share of what is installed of each part, at least so many."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING

from kvplan.bom.draft import Draft
from kvplan.schema.bom import SpareRate

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


def spare_lines(lines: Sequence[Numbered], rows: Sequence[SpareRow]) -> Iterator[Draft]:
    """Make the spares kit: one minor line for each part that a row covers.

    Parameters
    ----------
    lines
        The lines of everything that is installed.
    rows
        The rates.

    Yields
    ------
    Draft
        The kit, unless nothing is spared.
    """
    minors = tuple(spare for row in rows for spare in _spares_of(lines, row))
    if any(minor.quantity for minor in minors):
        yield Draft(
            key="spares",
            group="spares",
            description="Spares kit",
            quantity=1,
            basis="rates below",
            source="catalogue: spares",
            confidence="derived",
            kind="lot",
            unit="lot",
            minors=minors,
        )


def rates_of(rows: Sequence[SpareRow]) -> tuple[SpareRate, ...]:
    """List the rates, for whoever changes them in a sheet."""
    return tuple(SpareRate(id=row.id, title=row.title, rate=row.rate, minimum=row.minimum) for row in rows)


def _spares_of(lines: Sequence[Numbered], row: SpareRow) -> Iterator[Draft]:
    """Yield the spares that one row asks for, a line a part."""
    parts: dict[str, list[Numbered]] = {}
    for item in lines:
        if item.draft.kind in row.covers and not item.line.optional:
            parts.setdefault(item.line.key, []).append(item)
    for key, items in parts.items():
        installed = sum(item.line.quantity for item in items)
        if installed >= row.from_installed:
            yield _spare(key, items, installed, row)


def _spare(key: str, items: Sequence[Numbered], installed: int, row: SpareRow) -> Draft:
    """Make the spare line of one part, which shares its key and so its price."""
    line = items[0].line
    share = f"max({row.minimum}, {(100 * row.rate).normalize():f} % of {installed:,})"
    return Draft(
        key=key,
        group="spares",
        description=f"{row.title}: {line.description}",
        quantity=spare_quantity(installed, row.rate, row.minimum),
        basis=share if row.rate else f"{row.minimum} of each type",
        source=row.source,
        confidence=row.confidence,
        kind="spare",
        vendor=line.vendor,
        part_number=line.part_number,
        note=row.note,
        spare_of=tuple(item.line.line for item in items),
        spare_rate_id=row.id,
        spare_minimum=row.minimum,
    )
