"""A prefix that is smaller than what is taken from it.

A machine's addresses follow from its number, so room is left beside each. Where the prefix ends first, the last
machines get addresses of somebody else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare reach and capacity."""
    for entry in context.design.addresses:
        if entry.reach > entry.capacity:
            what = f"{entry.prefix} has {entry.capacity:,} {entry.counts}, the design reaches place {entry.reach:,}"
            yield Found(entry.name, what, ("build", "addresses", entry.option))


CHECK = Check(
    id="KV-NET-008",
    severity="error",
    title="Prefixes hold what is taken from them",
    expected="the last place that is handed out within each prefix of `build.addresses`",
    remedy="a larger prefix, and its neighbours moved out of the way",
    manual="kvplan network plan.json --build build.yaml --table addresses",
    source="the Plan's design: addresses follow from a machine's number",
    run=run,
    blocks=True,
)
