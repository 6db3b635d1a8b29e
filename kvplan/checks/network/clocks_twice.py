"""A clock that is named twice.

The second entry adds nothing, and hides that there is one clock less than it seems.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import Entry, repeated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Look for clocks that repeat."""
    yield from repeated(
        (
            Entry(host, f"clock {index + 1}", ("network", "ntp", index))
            for index, host in enumerate(context.site.network.ntp)
        ),
        "the host",
    )


CHECK = Check(
    id="KV-NET-016",
    severity="warning",
    title="Clocks are named once",
    expected="each entry of `network.ntp` once",
    remedy="take one entry out, or name another clock",
    manual="chronyc sources -v",
    source="chrony.conf(5), server",
    run=run,
)
