"""More resolvers than a system asks.

The C library reads the first three and drops the rest without a word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context

MOST_RESOLVERS = 3
"""MAXNS of the C library: resolv.conf(5)."""


def run(context: Context) -> Iterator[Found]:
    """Count them."""
    dns = context.site.network.dns
    if len(dns) > MOST_RESOLVERS or len(set(dns)) < len(dns):
        yield Found("network.dns", f"{len(dns)} entries, {len(set(dns))} of them different", ("network", "dns"))


CHECK = Check(
    id="KV-NET-014",
    severity="warning",
    title="No resolver is passed over",
    expected="at most three entries in `network.dns`, each once",
    remedy="take the resolvers out that are not to be asked",
    manual="grep -c nameserver /etc/resolv.conf",
    source="resolv.conf(5), MAXNS",
    run=run,
)
