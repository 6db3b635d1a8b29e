"""What every record of kvplan shares: frozen, strict about unknown keys, and explained number by number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, get_args

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pydantic.fields import FieldInfo

Confidence = Literal["measured", "vendor", "derived", "assumed"]
"""How well a value is known, best first; `assumed` surfaces in a Plan as an open point."""
Severity = Literal["error", "warning", "info"]
"""How grave something is that was found, the gravest first."""
SEVERITIES: tuple[Severity, ...] = get_args(Severity)


class Record(BaseModel):
    """A frozen record that refuses keys it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, protected_namespaces=())


class Sourced(Record):
    """A record that says where it comes from and how well it is known."""

    source: str
    confidence: Confidence


class Constant(Sourced):
    """One number with its unit, source and confidence: the only form in which a constant enters a formula."""

    value: float
    unit: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Explained:
    """How a number of the Plan came about; sits in the field's annotation, so no number can go without.

    `inputs` are paths of other Plan fields, or `constants.<id>`; `[]` stands for each element of a list.
    """

    unit: str
    formula: str
    inputs: tuple[str, ...] = ()
    source: str = ""
    confidence: Confidence = "derived"


class HasSeverity(Protocol):
    """Anything that was found and is more or less grave."""

    @property
    def severity(self) -> Severity:
        """How grave it is."""


FoundT = TypeVar("FoundT", bound=HasSeverity)


def gravest_first(found: Iterable[FoundT]) -> tuple[FoundT, ...]:
    """Put errors before warnings before information, each in the order given.

    >>> gravest_first(())
    ()
    """
    return tuple(sorted(found, key=lambda entry: SEVERITIES.index(entry.severity)))


def explained_of(field: FieldInfo) -> Explained | None:
    """Return what a field's annotation says of how its number came about, if it says anything.

    >>> explained_of(Constant.model_fields["value"]) is None
    True
    """
    return next((item for item in field.metadata if isinstance(item, Explained)), None)


def records_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """Find the record classes inside a type expression such as `tuple[A | B, ...]`.

    >>> [record.__name__ for record in records_in(tuple[Constant | None, ...])]
    ['Constant']
    """
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from records_in(inner)
