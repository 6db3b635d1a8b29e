"""Too few clocks to tell a wrong one.

Of two clocks that differ nobody can say which is right. Nodes of a cluster that disagree on the time fence each
other, and evict the wrong files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context

TWO = 2
"""Clocks that can disagree with no third to decide."""


def run(context: Context) -> Iterator[Found]:
    """Count them."""
    different = len(set(context.site.network.ntp))
    if different == TWO:
        yield Found("network.ntp", "two clocks: a wrong one cannot be told from the right one", ("network", "ntp"))


CHECK = Check(
    id="KV-NET-015",
    severity="info",
    title="A wrong clock can be told",
    expected="three entries in `network.ntp` or more, or one that is trusted",
    remedy="add a clock, or keep one only",
    manual="chronyc sources -v",
    source="RFC 8633 section 3.2: four or more sources",
    run=run,
)
