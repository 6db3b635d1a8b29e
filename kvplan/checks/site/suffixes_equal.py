"""Admin and daemon names that are the same.

The daemon's name must lead to the fabric and the admin's name to the management network. One name cannot do both, so
that Storage Scale's traffic would run over the management network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare the two."""
    names = context.site.names
    if names.admin_suffix == names.daemon_suffix:
        yield Found("names", f"both end in {names.admin_suffix!r}", ("names", "daemon_suffix"))


CHECK = Check(
    id="KV-SIT-020",
    severity="error",
    title="Admin and daemon suffixes differ",
    expected="`names.admin_suffix` and `names.daemon_suffix` differ",
    remedy="give one of them another suffix",
    manual="getent hosts storage-001-adm storage-001-kv",
    source="IBM Storage Scale documentation, node names: admin and daemon interface",
    run=run,
)
