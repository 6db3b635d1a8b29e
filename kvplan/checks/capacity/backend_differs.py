"""Another cache back end than the Plan counted for.

Back ends write different bytes for the same tokens, in files of different sizes, and evict in different ways.
Capacity, bandwidth and the files' number are those of the Plan's back end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare the two."""
    planned, chosen = context.plan.request.cache_backend, context.site.inference.cache_backend
    if planned != chosen:
        yield Found(
            "inference.cache_backend", f"is {chosen}, the Plan counts for {planned}", ("inference", "cache_backend")
        )


CHECK = Check(
    id="KV-CAP-007",
    severity="error",
    title="The cache back end is the Plan's",
    expected="`inference.cache_backend` as the Plan's request has it",
    remedy="size the Plan again with --cache-backend, or choose the Plan's",
    manual="kvplan explain plan.json kv",
    source="the Plan's request: cache_backend",
    run=run,
)
