"""Another vLLM than the Plan counted for.

What a block takes depends on the release: whether windows are stored in full, and whether the hybrid manager stays on
with a connector. Capacity and bandwidth of the Plan hold for its own release.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import same_release

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare releases."""
    planned, chosen = context.plan.request.vllm_version, context.site.versions.vllm
    if planned and not same_release(planned, chosen):
        yield Found("versions.vllm", f"is {chosen}, the Plan counts for {planned}", ("versions", "vllm"))


CHECK = Check(
    id="KV-REL-009",
    severity="warning",
    title="vLLM is the Plan's",
    expected="`versions.vllm` as the Plan's request has it",
    remedy="size the Plan again with --vllm-version, or run the Plan's release",
    manual="kvplan explain plan.json kv",
    source="the Plan's request: vllm_version",
    run=run,
)
