"""Lines before they have a number and a price, and the numbers they get."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from kvplan.schema.bom import BomLine

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kvplan.schema.base import Confidence
    from kvplan.schema.kit import GroupId, Per


@dataclass(frozen=True, slots=True)
class Draft:
    """A line to be: `quantity` counts in its parent, or in all where it is a major line; `kind` is what spares go by.

    What is `included` comes with its parent and takes no price.
    """

    key: str
    group: GroupId
    description: str
    quantity: int
    basis: str
    source: str
    confidence: Confidence
    kind: str = ""
    vendor: str = ""
    part_number: str = ""
    unit: str = "each"
    term_months: int | None = None
    optional: bool = False
    included: bool = False
    note: str = ""
    spare_of: tuple[str, ...] = ()
    spare_rate_id: str = ""
    spare_minimum: int = 0
    counted_by: tuple[Per, ...] = ()
    minors: tuple[Draft, ...] = ()


class Numbered(NamedTuple):
    """A draft and its line, not priced yet."""

    draft: Draft
    line: BomLine


def numbered(majors: Iterable[Draft], *, first: int) -> Iterator[Numbered]:
    """Yield major lines, numbered from `first` on, each with its minor lines; lines of quantity 0 fall away."""
    for number, major in enumerate((major for major in majors if major.quantity), first):
        yield Numbered(major, _line(major, f"{number}.0"))
        minors = (minor for minor in major.minors if minor.quantity)
        for position, minor in enumerate(minors, 1):
            yield Numbered(minor, _line(minor, f"{number}.{position}", f"{number}.0", major.quantity))


def _line(draft: Draft, line: str, parent: str = "", parents: int = 1) -> BomLine:
    """Turn a draft into a line without a price."""
    return BomLine(
        line=line,
        parent=parent,
        key=draft.key,
        group=draft.group,
        vendor=draft.vendor,
        part_number=draft.part_number,
        description=draft.description,
        quantity_per_parent=draft.quantity,
        quantity=draft.quantity * parents,
        unit=draft.unit,
        basis=draft.basis,
        counted_by=draft.counted_by,
        spare_of=draft.spare_of,
        spare_rate_id=draft.spare_rate_id,
        spare_minimum=draft.spare_minimum,
        term_months=draft.term_months,
        optional=draft.optional,
        priced=not draft.minors and not draft.included,
        note=draft.note,
        source=draft.source,
        confidence=draft.confidence,
    )
