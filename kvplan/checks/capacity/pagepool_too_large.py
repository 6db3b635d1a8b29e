"""A pagepool that takes all memory of a storage node.

The pagepool is pinned. What the system, the daemon's tables and the adapters need beside it must be left, or the node
kills the daemon when memory runs out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare the two."""
    storage = context.site.storage
    if storage.pagepool_gib >= storage.memory_gib:
        what = f"{storage.pagepool_gib} GiB of {storage.memory_gib} GiB of memory"
        yield Found("storage.pagepool_gib", what, ("storage", "pagepool_gib"))


CHECK = Check(
    id="KV-CAP-016",
    severity="error",
    title="The pagepool leaves memory",
    expected="`storage.pagepool_gib` below `storage.memory_gib`",
    remedy="lower the pagepool, or correct the memory",
    manual="mmdiag --memory; free -g",
    source="IBM Storage Scale documentation, pagepool",
    run=run,
)
