"""Kit rows as lines: minor lines of the devices they go with, or lines of their own in a group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvplan.bom.draft import Draft
from kvplan.bom.scope import counted_as
from kvplan.core.arithmetic import ceil_div
from kvplan.units import TB

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from kvplan.bom.scope import Host
    from kvplan.schema.kit import Adds, GroupId, KitRow, Per, Times, When

_INLETS: Mapping[str, When] = {"C14": "c14-inlet", "C20": "c20-inlet"}
_TIMES_TEXT: Mapping[Times, str] = {
    "sockets": "one a socket",
    "supplies": "one a power supply",
    "supplies-a": "one a power supply on feed A",
    "supplies-b": "one a power supply on feed B",
    "empty-bays": "bays less drives",
    "gpus": "one a GPU",
    "atx-adapters": "one an adapter that needs it",
    "low-profile-adapters": "one a half-height adapter",
}
_OF_ADAPTERS: Collection[Times] = {"atx-adapters", "low-profile-adapters"}


def kit_of_device(rows: Sequence[KitRow], host: Host, conditions: frozenset[When]) -> Iterator[Draft]:
    """Make the minor lines of a device.

    Parameters
    ----------
    rows
        The kit table.
    host
        The device; where only its adapters are quoted, only what goes with adapters is.
    conditions
        Names of the conditions that hold for the whole build.

    Yields
    ------
    Draft
        One line a row that applies, with its number in one device.
    """
    holding = conditions | {_INLETS[host.inlet]} if host.inlet in _INLETS else conditions
    asked = [row for row in rows if not host.adapters_only or row.times in _OF_ADAPTERS]
    for row in _applying(asked, lambda row: _goes_with(row, host.per, holding, host.model)):
        yield _minor(row, host)


def kit_of_group(
    rows: Sequence[KitRow],
    group: GroupId,
    counts: Mapping[Per, int],
    conditions: frozenset[When],
    extra: Mapping[Adds, str],
) -> Iterator[Draft]:
    """Make the lines of a group that stand by themselves.

    Parameters
    ----------
    rows
        The kit table.
    group
        The group.
    counts
        How many there are of everything that a row may go by.
    conditions
        Names of the conditions that hold.
    extra
        What to print behind a title, by what a row `adds`.

    Yields
    ------
    Draft
        One line a row that applies; its number is 0 where nothing is counted.
    """
    for row in _applying(rows, lambda row: row.group == group and row.when in conditions):
        present = tuple(per for per in row.per if counts[per])
        quantity = row.quantity * ceil_div(sum(counts[per] for per in present), row.each)
        basis = _basis(row, " + ".join(counted_as(counts[per], per) for per in present))
        yield _draft(row, group, quantity, basis, extra=extra.get(row.adds, ""), counted_by=present)


def kit_of_rack(rows: Sequence[KitRow], conditions: frozenset[When], extra: Mapping[Adds, str]) -> Iterator[Draft]:
    """Make the minor lines of a rack."""
    for row in _applying(rows, lambda row: _goes_with(row, "rack", conditions)):
        yield _draft(row, "racks", row.quantity, f"{row.quantity} a rack", extra=extra.get(row.adds, ""))


def capacity_text(raw_bytes: int, usable_bytes: int) -> str:
    """Print the capacities that a licence covers.

    >>> capacity_text(983_040_000_000_000, 744_253_000_000_000)
    ': 983.04 TB raw, 744.25 TB usable'
    """
    return f": {raw_bytes / TB:,.2f} TB raw, {usable_bytes / TB:,.2f} TB usable"


def _applying(rows: Sequence[KitRow], applies: Callable[[KitRow], bool]) -> Iterator[KitRow]:
    """Yield the rows that apply, but those that another of them replaces."""
    applying = [row for row in rows if applies(row)]
    replaced = {row.replaces for row in applying}
    return (row for row in applying if row.id not in replaced)


def _goes_with(row: KitRow, per: Per, conditions: frozenset[When], model: str = "") -> bool:
    """Tell whether a row makes a minor line of a device or rack; a rack has no model of the catalogue."""
    of_model = not row.models or model in row.models
    return row.group is None and per in row.per and of_model and row.when in conditions


def _minor(row: KitRow, host: Host) -> Draft:
    """Make the line of a row in a device."""
    number = row.quantity * host.times(row.times)
    why = f": {_TIMES_TEXT[row.times]}" if row.times in _TIMES_TEXT else ""
    model = host.model if row.per_model else ""
    return _draft(row, host.group, number, f"{number} a {host.noun}{why}", model=model)


def _draft(
    row: KitRow, group: GroupId, quantity: int, basis: str, *, extra: str = "", model: str = "", **more: Any
) -> Draft:
    """Make a line of a row."""
    return Draft.of(
        row,
        key=f"kit/{row.id}/{model}" if model else f"kit/{row.id}",
        group=group,
        quantity=quantity,
        basis=basis,
        kind="kit",
        row_id=row.id,
        description=f"{row.title or row.id}{extra}{f', for {model}' if model else ''}",
        unit=row.unit,
        term_months=row.term_months,
        optional=row.optional,
        included=row.included,
        topic=row.topic,
        **more,
    )


def _basis(row: KitRow, counts: str) -> str:
    """Say how a quantity came about, such as `2 x 8 racks`, or `1 for each 20 of 158 cables`."""
    if row.each > 1:
        return f"{row.quantity} for each {row.each} of {counts}"
    return counts if row.quantity == 1 else f"{row.quantity} x {counts}"
