"""One resolver only.

When it is down, names no longer resolve. Machines know each other from a list of names, so the cluster runs on;
downloads, mail and logins do not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Count them."""
    if len(set(context.site.network.dns)) == 1:
        yield Found("network.dns", f"{context.site.network.dns[0]} alone", ("network", "dns"))


CHECK = Check(
    id="KV-NET-013",
    severity="info",
    title="There are two resolvers",
    expected="two entries in `network.dns` or more",
    remedy="add a second resolver",
    manual="resolvectl status",
    source="RFC 2182 section 5: at least two servers",
    run=run,
)
