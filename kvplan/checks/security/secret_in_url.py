"""A password in an address.

Addresses are written into files that everybody on the machine reads, and into logs of every proxy on the way.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.inputs.loc import key_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context

SECRET = re.compile(r"://[^/\s]*@|[?&](?:token|key|password|passwd|secret|signature|sig)=", re.IGNORECASE)
"""A user before the host, or a query that names a secret."""


def run(context: Context) -> Iterator[Found]:
    """Look for a user or a token in every address."""
    for loc, text in context.site_texts:
        if SECRET.search(text):
            yield Found(key_path(loc), "carries a user, a password or a token", loc)


CHECK = Check(
    id="KV-SEC-005",
    severity="error",
    title="Addresses carry no password",
    expected="no `user:password@` and no token in an address",
    remedy="fetch the file once, and serve it from the media server",
    manual="grep -nE '://[^/]*@|[?&](token|key|password|signature)=' site.yaml",
    source="RFC 3986 section 3.2.1",
    run=run,
)
