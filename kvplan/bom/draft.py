"""Lines before they have a number and a price, and the numbers they get."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from kvplan.schema.bom import BomLine
from kvplan.schema.hardware import ANY_VENDOR

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kvplan.schema.base import Confidence
    from kvplan.schema.bom import LinePartNumberKnown
    from kvplan.schema.hardware import Row
    from kvplan.schema.kit import GroupId, PartKind, Per, Topic


@dataclass(frozen=True, slots=True)
class Draft:
    """A line to be: `quantity` counts in its parent, or in all where it is a major line.

    Spares go by `kind`, those of a kit row by its `row_id`. What is `included` comes with its parent and takes no
    price.
    """

    key: str
    group: GroupId
    description: str
    quantity: int
    basis: str
    source: str
    confidence: Confidence
    kind: PartKind
    row_id: str = ""
    vendor: str = ""
    part_number: str = ""
    part_number_known: LinePartNumberKnown = ""
    unit: str = "each"
    term_months: int | None = None
    optional: bool = False
    included: bool = False
    note: str = ""
    topic: Topic = ""
    spare_of: tuple[str, ...] = ()
    spare_rate_id: str = ""
    spare_minimum: int = 0
    discount_group: GroupId | None = None
    counted_by: tuple[Per, ...] = ()
    minors: tuple[Draft, ...] = ()

    @classmethod
    def of(cls, row: Row, *, key: str, group: GroupId, quantity: int, basis: str, kind: PartKind, **more: Any) -> Draft:
        """Make the line of a catalogue row.

        Parameters
        ----------
        row
            Says title, maker, part number, source, confidence and note, as far as rows of its table have them.
        key
            Names the part.
        group
            The group in which it is quoted.
        quantity
            How many there are, in the parent or in all.
        basis
            How the quantity came about.
        kind
            What it is.
        **more
            Other fields, which come before what the row says.

        Returns
        -------
        Draft
            The line; a part number is as well known as the row has it.
        """
        vendor = getattr(row, "vendor", "")
        values: dict[str, Any] = {
            "description": row.title or row.id,
            "vendor": "" if vendor == ANY_VENDOR else vendor,
            "part_number": getattr(row, "part_number", ""),
            "note": row.note,
            "source": row.source,
            "confidence": row.confidence,
            **more,
        }
        known = getattr(row, "part_number_known", "confirmed") if values["part_number"] else ""
        values.setdefault("part_number_known", known)
        return cls(key=key, group=group, quantity=quantity, basis=basis, kind=kind, **values)


class Numbered(NamedTuple):
    """A draft and its line, not priced yet; the term of the draft is the kit's own, that of the line the quote's."""

    draft: Draft
    line: BomLine


def numbered(majors: Iterable[Draft], *, first: int, months: int | None) -> Iterator[Numbered]:
    """Yield major lines, numbered from `first` on, each with its minor lines; lines of quantity 0 fall away.

    Parameters
    ----------
    majors
        The drafts of the major lines.
    first
        The first number.
    months
        The term of whatever has one, where the quote asks for another than the kit's own.

    Yields
    ------
    Numbered
        Each line after its parent.
    """
    for number, major in enumerate((major for major in majors if major.quantity), first):
        yield Numbered(major, _line(major, f"{number}.0", months))
        minors = (minor for minor in major.minors if minor.quantity)
        for position, minor in enumerate(minors, 1):
            yield Numbered(minor, _line(minor, f"{number}.{position}", months, f"{number}.0", major.quantity))


def _line(draft: Draft, line: str, months: int | None, parent: str = "", parents: int = 1) -> BomLine:
    """Turn a draft into a line without a price."""
    return BomLine(
        line=line,
        parent=parent,
        key=draft.key,
        group=draft.group,
        vendor=draft.vendor,
        part_number=draft.part_number,
        part_number_known=draft.part_number_known,
        description=draft.description,
        quantity_per_parent=draft.quantity,
        quantity=draft.quantity * parents,
        unit=draft.unit,
        basis=draft.basis,
        counted_by=draft.counted_by,
        spare_of=draft.spare_of,
        spare_rate_id=draft.spare_rate_id,
        spare_minimum=draft.spare_minimum,
        discount_group=draft.discount_group or draft.group,
        term_months=(months or draft.term_months) if draft.term_months else None,
        optional=draft.optional,
        priced=not draft.minors and not draft.included,
        note=draft.note,
        topic=draft.topic,
        source=draft.source,
        confidence=draft.confidence,
    )
