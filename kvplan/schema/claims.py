"""Published claims: rows of their table, and what comes out when each is computed anew."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kvplan.schema.base import Confidence, Record
from kvplan.schema.hardware import Row

Verdict = Literal["agrees", "contradicts", "depends"]
"""Whether a claim holds, is excluded by what was published beside it, or holds under a condition that it leaves out."""


class Claim(Row):
    """Something that was published of the reference system; `title` is what is said.

    `id` names the check that settles it. `figures` are the ids of the published figures that the check takes.
    """

    title: str = Field(min_length=1)
    figures: tuple[str, ...] = ()


class SettledClaim(Record):
    """A claim with what it says, what comes out, and why.

    `published` and `computed` are for reading; `computed_value` is the same as a number in `unit`.
    """

    id: str
    claim: str
    published: str
    computed: str
    computed_value: float
    unit: str
    verdict: Verdict
    why: str
    source: str
    confidence: Confidence


class ClaimsReport(Record):
    """What `kvplan reference` finds."""

    format_version: str
    model: str
    gpu: str
    catalogue_version: str
    claims: tuple[SettledClaim, ...]
