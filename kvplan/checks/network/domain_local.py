"""A domain that belongs to multicast name services.

Names below `.local` are asked for by multicast on the link. Resolvers of both systems follow that, and find no
machine that only a server knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Look at the last label."""
    domain = context.site.network.domain
    if domain.rpartition(".")[2] == "local":
        yield Found("network.domain", f"{domain} is asked for by multicast", ("network", "domain"))


CHECK = Check(
    id="KV-NET-019",
    severity="warning",
    title="The domain is asked for at a server",
    expected="a `network.domain` that does not end in `.local`",
    remedy="use another domain, such as one below `home.arpa` or your own",
    manual="resolvectl query NAME",
    source="RFC 6762 section 3",
    run=run,
)
