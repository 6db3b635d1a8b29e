"""A host name that is longer than a kernel or the domain name system takes.

A label may have 63 characters, a whole name 253, and the name that a Linux kernel keeps 64. A longer one is cut, and
certificates, known hosts and Storage Scale no longer agree on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context

MOST_OF_A_LABEL = 63
"""Characters of a label: RFC 1035 section 2.3.4."""
MOST_OF_A_HOST = 64
"""Characters of a host name: HOST_NAME_MAX of Linux."""


def run(context: Context) -> Iterator[Found]:
    """Measure the longest name of each server."""
    for index, server in enumerate(context.site.servers):
        names = context.deployment.names_of(server.name)
        longest = max((names.admin_fqdn, names.daemon_fqdn), key=len)
        if len(longest) > MOST_OF_A_HOST or len(longest.partition(".")[0]) > MOST_OF_A_LABEL:
            yield Found(server.name, f"{longest} has {len(longest)} characters", ("servers", index, "name"))


CHECK = Check(
    id="KV-SIT-022",
    severity="error",
    title="Host names are short enough",
    expected="labels of at most 63 characters, names with the domain of at most 64",
    remedy="shorten `network.domain` or the suffixes",
    manual="hostnamectl hostname",
    source="RFC 1035 section 2.3.4; gethostname(2), HOST_NAME_MAX",
    run=run,
)
