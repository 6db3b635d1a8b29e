"""What every record of kvplan shares: frozen, strict about unknown keys, and explained number by number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

Confidence = Literal["measured", "vendor", "derived", "assumed"]
"""How well a value is known, best first; `assumed` surfaces in a Plan as an open point."""


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
