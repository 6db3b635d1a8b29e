"""A day of acceptance that does not exist, or a licence accepted twice.

An acceptance is a statement about one day. A day that the calendar does not have is no such statement, and of two
nobody knows which counts.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import Entry, repeated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Read each day, and look for products that repeat."""
    for index, licence in enumerate(context.site.licences):
        if not _is_day(licence.date):
            yield Found(licence.what, f"{licence.date} is no day of the calendar", ("licences", index, "date"))
    yield from repeated(
        (
            Entry(licence.what, f"licence {index + 1}", ("licences", index))
            for index, licence in enumerate(context.site.licences)
        ),
        "the acceptance of",
    )


def _is_day(text: str) -> bool:
    """Tell whether a day exists."""
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


CHECK = Check(
    id="KV-SIT-030",
    severity="warning",
    title="Each licence is accepted once, on a day of the calendar",
    expected="one entry a product, with a real day",
    remedy="correct `date`, or take one entry out",
    manual="grep -n -A3 licences site.yaml",
    source="ISO 8601",
    run=run,
)
